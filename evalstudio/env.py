"""Readers of environment variables that refuse nonsense instead of guessing."""

import os
import secrets
from pathlib import Path


class BadSetting(Exception):
    """An environment variable holds a value that its reader cannot accept."""


def read_text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def read_bool(name: str, default: bool) -> bool:
    """`1/true/yes/on` or `0/false/no/off`; unset or empty gives the default."""
    text = read_text(name).lower()
    if not text:
        return default
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    raise BadSetting(f"{name} must be true or false, not {text!r}.")


def read_int(name: str, default: int, *, least: int = 0) -> int:
    text = read_text(name)
    if not text:
        return default
    try:
        number = int(text)
    except ValueError:
        raise BadSetting(f"{name} must be a whole number, not {text!r}.") from None
    if number < least:
        raise BadSetting(f"{name} must be at least {least}, not {number}.")
    return number


def read_list(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Comma-separated values; unset or empty gives the default."""
    text = read_text(name)
    return [part.strip() for part in text.split(",") if part.strip()] if text else list(default)


def read_secret(name: str, kept_in: Path) -> str:
    """The variable, or a secret made once and kept in a file that only its owner can read."""
    if text := read_text(name):
        return text
    try:
        return kept_in.read_text().strip()
    except FileNotFoundError:
        pass
    kept_in.parent.mkdir(parents=True, exist_ok=True)
    made = secrets.token_urlsafe(48)
    try:
        handle = os.open(kept_in, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was first
        return kept_in.read_text().strip()
    with os.fdopen(handle, "w") as file:
        file.write(made)
    return made
