from django.contrib.auth import views as auth
from django.urls import path, reverse_lazy

from evalstudio.projects.views import entry, projects

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
    path("p/<slug:project>/settings/tokens/", projects.token_list, name="token-list"),
    path("p/<slug:project>/settings/tokens/<int:pk>/revoke/", projects.token_revoke, name="token-revoke"),
]
