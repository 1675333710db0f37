"""Encryption of connection keys at rest."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


class KeyLost(Exception):
    """A stored key cannot be read with the present encryption key."""


def _fernet() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(settings.ENCRYPTION_KEY.encode()).digest()))


def encrypt(text: str) -> str:
    return _fernet().encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    try:
        return _fernet().decrypt(text.encode()).decode()
    except InvalidToken:
        raise KeyLost("This key was stored under another encryption key. Type it in again.") from None
