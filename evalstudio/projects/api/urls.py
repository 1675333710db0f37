from django.urls import path

from evalstudio.projects.api.members import InvitationList, MemberDetail, MemberList

urlpatterns = [
    path("members/", MemberList.as_view(), name="api-members"),
    path("members/<int:pk>/", MemberDetail.as_view(), name="api-member"),
    path("invitations/", InvitationList.as_view(), name="api-invitations"),
]
