"""Probabilities for what the rehearsal says: made up, as its verdicts are, so that weighing by them can be tried."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from evalstudio.calls.rehearsal import offered
from evalstudio.calls.replies import Token

CHOSEN = 0.8  # of the verdict that was given; the other options share the rest


def odds(text: str, messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> tuple[Token, ...]:
    """The reply as tokens: what comes before its verdict, the verdict with its alternatives, and the rest."""
    spelled = [json.dumps(name, ensure_ascii=False)[1:-1] for name in offered(messages, schema)]
    places = {name: text.rfind(name) for name in spelled}
    chosen = max(places, key=lambda name: (places[name] + len(name), len(name)), default="")
    if not chosen or places[chosen] < 0:
        return (Token(text, 0.0),)
    begin, end = places[chosen], places[chosen] + len(chosen)
    # Letters stand for labels: the alternatives to one are the other letters.
    others = [name for name in spelled if name != chosen and (len(name) == 1) == (len(chosen) == 1)]
    share = math.log((1 - CHOSEN) / max(len(others), 1))
    likeliest = ((chosen, math.log(CHOSEN)), *((name, share) for name in others))
    pieces = (Token(text[:begin], 0.0), Token(chosen, math.log(CHOSEN), likeliest), Token(text[end:], 0.0))
    return tuple(piece for piece in pieces if piece.text)
