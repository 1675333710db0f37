"""Pages on the way in: first run, one-time link, the root."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_safe

from evalstudio.projects import entry
from evalstudio.projects.forms import FirstAccountForm, SignInForm
from evalstudio.projects.models import Project

BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_safe
@never_cache
def home_root(request: HttpRequest) -> HttpResponse:
    """Sends everyone on: to the first run, to sign in, to their latest project, or to the list of projects."""
    if not request.user.is_authenticated:
        return redirect("setup" if entry.needs_first_account() else "sign-in")
    projects = Project.objects.of(request.user)
    latest = projects.filter(slug=request.session.get("project", "")).first() or projects.first()
    return redirect(latest or "project-list")


@require_http_methods(["GET", "POST"])
def setup(request: HttpRequest) -> HttpResponse:
    """Decides who owns this fresh installation: makes the first account and its first project."""
    if not entry.needs_first_account():
        return redirect("home-root")
    form = FirstAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            user, project = entry.make_first_account(said["username"], said["password"], said["project"])
        except ValueError as error:
            messages.error(request, str(error))
            return redirect("sign-in")
        login(request, user, backend=BACKEND)
        return redirect(project)
    return render(request, "projects/setup.html", {"form": form}, status=422 if form.is_bound else 200)


class SignIn(LoginView):
    """Django's sign-in; an installation without an account goes to its first run instead."""

    template_name = "projects/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if entry.needs_first_account():
            return redirect("setup")
        return super().get(request, *args, **kwargs)


@require_GET
@never_cache
def enter(request: HttpRequest, token: str) -> HttpResponse:
    """Signs in the person whom the start-up message gave this link; a used or old link leads to the sign-in page."""
    user = entry.user_of_token(token)
    if user is None:
        messages.error(
            request,
            "This link was used already or is older than a day. Sign in, or start EvalStudio again for a new one.",
        )
        return redirect("home-root" if request.user.is_authenticated else "sign-in")
    login(request, user, backend=BACKEND)
    return redirect("home-root")
