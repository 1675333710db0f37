from django.urls import path

from annotations.api import views

urlpatterns = [
    path("queues/", views.QueueList.as_view(), name="api-queues"),
    path("queues/<int:pk>/", views.QueueDetail.as_view(), name="api-queue"),
    path("queues/<int:pk>/next/", views.QueueNext.as_view(), name="api-queue-next"),
    path("items/<int:pk>/grade/", views.ItemGrade.as_view(), name="api-item-grade"),
    path("grades/", views.GradeList.as_view(), name="api-grades"),
]
