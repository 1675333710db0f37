"""Getting in: the first account of an installation, and links that sign a person in once."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.core import signing
from django.db import IntegrityError, transaction
from django.utils import timezone

from evalstudio.projects.models import Project, User

_SALT = "evalstudio.enter"
_LINK_LIFE_S = 24 * 3600


def needs_first_account() -> bool:
    return not get_user_model().objects.exists()


@transaction.atomic
def make_first_account(username: str, password: str, project_name: str) -> tuple[User, Project]:
    """The owner of a fresh installation and their first project. Raises ValueError when somebody was first."""
    if not needs_first_account():
        raise ValueError("This installation has an account already. Sign in instead.")
    try:
        user = User.objects.create_superuser(username=username, password=password)
    except IntegrityError:
        raise ValueError("Somebody made this account a moment ago. Sign in instead.") from None
    return user, Project.start(project_name, user)


def one_time_token(user: User) -> str:
    """A token that signs this user in once within a day: any later sign-in of theirs makes it void."""
    return signing.dumps({"user": user.pk, "seen": _last_seen(user)}, salt=_SALT, compress=True)


@transaction.atomic
def user_of_token(token: str) -> User | None:
    """The user of a valid token, which is used up by this call; None when it is old, used or forged."""
    try:
        said = signing.loads(token, salt=_SALT, max_age=_LINK_LIFE_S)
    except signing.BadSignature:
        return None
    user = User.objects.select_for_update().filter(pk=said["user"], is_active=True).first()
    if user is None or _last_seen(user) != said["seen"]:
        return None
    user.last_login = timezone.now()
    user.save(update_fields=["last_login"])
    return user


def _last_seen(user: User) -> str:
    return user.last_login.isoformat() if user.last_login else ""
