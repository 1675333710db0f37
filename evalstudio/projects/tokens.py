"""API tokens as a DRF authentication: `Authorization: Bearer es_…`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from evalstudio.projects.models import ApiToken, digest_of


class TokenAuthentication(BaseAuthentication):
    """The token's user, with the token itself as `request.auth`."""

    keyword = "Bearer"

    def authenticate(self, request: Request) -> tuple[Any, ApiToken] | None:
        words = get_authorization_header(request).decode("latin-1").split()
        if len(words) != 2 or words[0].lower() != "bearer":
            return None
        token = (
            ApiToken.objects.select_related("user", "project")
            .filter(digest=digest_of(words[1]), revoked_at=None, user__is_active=True)
            .first()
        )
        if token is None:
            raise AuthenticationFailed("This token is unknown or was revoked.")
        now = timezone.now()
        if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return self.keyword
