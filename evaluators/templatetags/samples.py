"""Parts of a sample as people read them: {% load samples %}{% for name, text in sample.outputs|pieces %}."""

import json
from typing import Any

from django import template

register = template.Library()


@register.filter
def pieces(value: Any) -> list[tuple[str, str]]:
    """The named texts of a value, what is no text as JSON; a lone "value", and what is no object, has no name."""
    if not isinstance(value, dict):
        return [("", _text(value))]
    return [("" if name == "value" and len(value) == 1 else name, _text(part)) for name, part in value.items()]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
