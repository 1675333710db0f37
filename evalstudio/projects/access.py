"""Who may open what: guards for views. A stranger gets 404, a member without the right 403, the signed-out sign in."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404

from evalstudio.projects.models import Membership, Project, Role, User
from evalstudio.web.pages import HtmxRequest

View = Callable[..., HttpResponseBase]


class SignedInRequest(HtmxRequest):
    """A request to a page that nobody sees who is not signed in."""

    user: User


class ProjectRequest(SignedInRequest):
    """A request to a page of a project, as the guarded view sees it."""

    project: Project
    role: Role


def project_page(least: Role, *, reviewers: bool = False) -> Callable[[View], View]:
    """Guard a view whose URL has `<slug:project>`: sets `request.project` and `request.role`, drops the argument.

    `reviewers` lets them through a door for viewers.
    """

    def guard(view: View) -> View:
        @login_required
        @wraps(view)
        def guarded(request: Any, project: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
            mine = Membership.objects.select_related("project").filter(user=request.user)
            membership = get_object_or_404(mine, project__slug=project)
            request.project, request.role = membership.project, Role(membership.role)
            if not request.role.may(least, reviewers=reviewers):
                raise PermissionDenied(f"This needs the role {least.title}.")
            return view(request, *args, **kwargs)

        return guarded

    return guard
