"""What evaluators may use besides the sample: a chat model and the JavaScript sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from evalstudio.calls.replies import Chat

if TYPE_CHECKING:
    from evalstudio.calls.javascript import Sandbox


@dataclass(frozen=True, slots=True)
class Tools:
    """None stands for what is not at hand in this lane."""

    chat: Chat | None = None
    javascript: Sandbox | None = None


@cache
def javascript() -> Sandbox:
    """The sandbox of this process. Nothing heavy is loaded before it first compiles."""
    from django.conf import settings

    from evalstudio.calls.javascript import Sandbox

    return Sandbox(settings.DATA_DIR / "cache")
