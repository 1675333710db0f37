"""Who is a member, and with which rights: invitations, changes of role, goodbyes. A project always keeps an owner."""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Invitation, Membership, Project, Role, User, digest_of

INVITATION_DAYS = 7


class LastOwner(Exception):
    """The change would leave a project that nobody owns. Its text is a sentence for people."""

    def __init__(self) -> None:
        super().__init__("This is the only owner. Make somebody else an owner first.")


def invite(project: Project, by: User, role: Role, note: str) -> tuple[Invitation, str]:
    """An invitation for one person, valid for `INVITATION_DAYS`, and its secret, which exists nowhere else."""
    secret = secrets.token_urlsafe(32)
    invitation = Invitation.objects.create(
        project=project,
        role=role,
        note=note,
        digest=digest_of(secret),
        invited_by=by,
        expires_at=timezone.now() + timedelta(days=INVITATION_DAYS),
    )
    AuditEntry.note(project, by, "invited", str(invitation))
    return invitation, secret


def open_invitations(project: Project):
    """Those that can still be accepted, the latest first."""
    return Invitation.objects.filter(
        project=project, accepted_by=None, revoked_at=None, expires_at__gt=timezone.now()
    ).order_by("-id")


def invitation_of(secret: str) -> Invitation | None:
    """The invitation behind a link; None when it was accepted, revoked, has expired or never was."""
    found = Invitation.objects.filter(digest=digest_of(secret)).select_related("project", "invited_by").first()
    return found if found and open_invitations(found.project).filter(pk=found.pk).exists() else None


@transaction.atomic
def accept(invitation: Invitation, user: User) -> bool:
    """Make the user a member; one who is keeps the higher role. False when somebody else was quicker."""
    mine = open_invitations(invitation.project).filter(pk=invitation.pk).update(accepted_by=user)
    if not mine:
        return False
    member, is_new = Membership.objects.get_or_create(
        project=invitation.project, user=user, defaults={"role": invitation.role}
    )
    if not is_new and member.role < invitation.role:
        member.role = invitation.role
        member.save(update_fields=["role"])
    AuditEntry.note(invitation.project, user, "joined as", Role(member.role).title)
    return True


@transaction.atomic
def change_role(member: Membership, role: Role, by: User) -> None:
    """Raises LastOwner."""
    if role is not Role.OWNER:
        _keep_an_owner(member)
    member.role = role
    member.save(update_fields=["role"])
    AuditEntry.note(member.project, by, "changed role of", f"{member.user.username} to {role.title}")


@transaction.atomic
def remove(member: Membership, by: User) -> None:
    """End a membership, with the tokens that act for it. What the person made stays. Raises LastOwner."""
    _keep_an_owner(member)
    member.project.apitoken_set.filter(user=member.user, revoked_at=None).update(revoked_at=timezone.now())
    AuditEntry.note(member.project, by, "removed" if by != member.user else "left:", member.user.username)
    member.delete()


def _keep_an_owner(member: Membership) -> None:
    # All owners are locked, so that two of them cannot leave each other behind at the same time.
    owners = Membership.objects.select_for_update().filter(project=member.project, role=Role.OWNER)
    if [owner.pk for owner in owners] == [member.pk]:
        raise LastOwner
