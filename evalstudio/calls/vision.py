"""Which models look at pictures, as far as their names tell. No endpoint says so, and asking each would cost a call."""

from __future__ import annotations

import re

# Families that take image parts in chat messages, by their makers' model pages.
SEEING = re.compile(
    r"""vision | (?<![a-z])vl(?![a-z]) | multimodal
    | gpt-4o | gpt-4\.[1-9] | gpt-4-turbo | gpt-[5-9] | chatgpt-4o
    | (?<![a-z0-9])o[134](?![a-z0-9]|-preview)
    | claude-(?:3|[4-9]|opus|sonnet|haiku) | gemini | gemma-?[3-9] | llama-?[4-9] | llava | bakllava | pixtral
    | internvl | minicpm-[vo] | moondream | molmo | idefics | cogvlm | mistral-(?:small-3\.[1-9]|medium-3) | grok-[4-9]
    """,
    re.VERBOSE | re.IGNORECASE,
)
BLIND = re.compile(r"gpt-4o-(?:audio|realtime|transcribe|mini-tts)|embed|o1-mini|o3-mini|gemma-?3-1b", re.IGNORECASE)


def sees_images(model: str) -> bool:
    """Whether a model of this name is known to look at pictures; others may do so all the same."""
    return bool(SEEING.search(model)) and not BLIND.search(model)
