from django.contrib.auth import views as auth
from django.urls import path, reverse_lazy

from evalstudio.projects.views import entry, members, projects

urlpatterns = [
    path("", entry.home_root, name="home-root"),
    path("setup/", entry.setup, name="setup"),
    path("sign-in/", entry.SignIn.as_view(), name="sign-in"),
    path("sign-out/", auth.LogoutView.as_view(), name="sign-out"),
    path("enter/<str:token>/", entry.enter, name="enter"),
    path(
        "password/",
        auth.PasswordChangeView.as_view(
            template_name="projects/password.html", success_url=reverse_lazy("password-changed")
        ),
        name="password",
    ),
    path(
        "password/changed/",
        auth.PasswordChangeDoneView.as_view(template_name="projects/password_changed.html"),
        name="password-changed",
    ),
    path("projects/", projects.project_list, name="project-list"),
    path("p/<slug:project>/", projects.project_home, name="project-home"),
    path("join/<str:token>/", members.join, name="join"),
    path("p/<slug:project>/settings/members/", members.member_list, name="member-list"),
    path("p/<slug:project>/settings/members/invite/", members.member_invite, name="member-invite"),
    path("p/<slug:project>/settings/members/<int:pk>/role/", members.member_role, name="member-role"),
    path("p/<slug:project>/settings/members/<int:pk>/remove/", members.member_remove, name="member-remove"),
    path("p/<slug:project>/settings/invitations/<int:pk>/revoke/", members.invitation_revoke, name="invitation-revoke"),
    path("p/<slug:project>/settings/audit/", members.audit_list, name="audit-list"),
    path("p/<slug:project>/settings/tokens/", projects.token_list, name="token-list"),
    path("p/<slug:project>/settings/tokens/<int:pk>/revoke/", projects.token_revoke, name="token-revoke"),
]
