"""Pages of the people of a project: members and invitations, the way in for invited people, and what everybody did."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.auth import login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalstudio.projects import membership
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.forms import ROLES, AccountForm, InvitationForm, RoleForm
from evalstudio.projects.models import AuditEntry, Invitation, Membership, Role, User
from evalstudio.projects.views.entry import BACKEND
from evalstudio.web.pagination import Order, page_of


def _page(request: ProjectRequest, form: InvitationForm, status: int = 200, **more: Any) -> HttpResponse:
    members = Membership.objects.filter(project=request.project).select_related("user")
    context = {
        "members": members.order_by("-role", "user__username"),
        "roles": list(ROLES),
        "invitations": membership.open_invitations(request.project).select_related("invited_by"),
        "form": form,
        "may_change": request.role.may(Role.OWNER),
        **more,
    }
    return render(request, "projects/member_list.html", context, status=status)


@require_safe
@project_page(Role.VIEWER)
def member_list(request: ProjectRequest) -> HttpResponse:
    """Decides who works here, and with which rights."""
    return _page(request, InvitationForm())


@require_POST
@project_page(Role.OWNER)
def member_invite(request: ProjectRequest) -> HttpResponse:
    """Makes an invitation; the page that follows shows its link once."""
    form = InvitationForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    said = form.cleaned_data
    invitation, secret = membership.invite(request.project, request.user, said["role"], said["note"])
    return _page(request, InvitationForm(), invited=invitation, secret=secret)


@require_POST
@project_page(Role.OWNER)
def invitation_revoke(request: ProjectRequest, pk: int) -> HttpResponse:
    """Takes an invitation back: its link no longer works."""
    invitation = get_object_or_404(membership.open_invitations(request.project), pk=pk)
    Invitation.objects.filter(pk=pk, accepted_by=None).update(revoked_at=timezone.now())
    AuditEntry.note(request.project, request.user, "took back the invitation of", str(invitation))
    messages.success(request, "The link no longer works.")
    return redirect("member-list", request.project.slug)


@require_POST
@project_page(Role.OWNER)
def member_role(request: ProjectRequest, pk: int) -> HttpResponse:
    """Gives a member another role."""
    member = get_object_or_404(Membership.objects.select_related("user", "project"), pk=pk, project=request.project)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _page(request, InvitationForm(), status=422, trouble="There is no such role.")
    try:
        membership.change_role(member, form.cleaned_data["role"], request.user)
    except membership.LastOwner as error:
        return _page(request, InvitationForm(), status=422, trouble=str(error))
    messages.success(request, f"{member.user} is {form.cleaned_data['role'].title} now.")
    return redirect("member-list", request.project.slug)


@require_POST
@project_page(Role.VIEWER, reviewers=True)
def member_remove(request: ProjectRequest, pk: int) -> HttpResponse:
    """Removes a member, which an owner may, or leaves the project, which everybody may."""
    member = get_object_or_404(Membership.objects.select_related("user", "project"), pk=pk, project=request.project)
    is_leaving = member.user_id == request.user.pk
    if not is_leaving and not request.role.may(Role.OWNER):
        raise PermissionDenied("This needs the role owner.")
    try:
        membership.remove(member, request.user)
    except membership.LastOwner as error:
        return _page(request, InvitationForm(), status=422, trouble=str(error))
    messages.success(request, f"You left {request.project}." if is_leaving else f"{member.user} is no longer a member.")
    return redirect("home-root") if is_leaving else redirect("member-list", request.project.slug)


@require_http_methods(["GET", "POST"])
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Decides whether to become a member: who has an account joins with it, everybody else makes one here."""
    invitation = membership.invitation_of(token)
    if invitation is None:
        return render(request, "projects/join_gone.html", status=404)
    form = None if request.user.is_authenticated else AccountForm(request.POST or None)
    if request.method == "POST" and (form is None or form.is_valid()):
        if form is not None:
            said = form.cleaned_data
            login(request, User.objects.create_user(said["username"], password=said["password"]), backend=BACKEND)
        if not membership.accept(invitation, cast(User, request.user)):
            return render(request, "projects/join_gone.html", status=404)
        return redirect(invitation.project)
    context = {"invitation": invitation, "role": Role(invitation.role), "form": form}
    return render(request, "projects/join.html", context, status=422 if request.method == "POST" else 200)


@require_safe
@project_page(Role.OWNER)
def audit_list(request: ProjectRequest) -> HttpResponse:
    """Decides whether something was done that should not have been: every important act, the latest first."""
    entries = AuditEntry.objects.filter(project=request.project).select_related("actor")
    page = page_of(entries, Order("id", descending=True), request.GET, 50)
    return render(request, "projects/audit_list.html", {"page": page})
