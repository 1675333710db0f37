"""Labels and their scores as cases and outputs hold them.

A label is a plain value, or `{"key": "animal", "value": "dog"}` where several things are told of one output; several of
the latter may stand in a list. Scores are a number for each label, under the keys of labels where labels have any:
`{"dog": 0.9}`, `{"animal": {"dog": 0.9}}`, `[{"key": "animal", "value": "dog", "score": 0.9}]`, or one lone number.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from evaluators.stringified import stringified

BESIDE: Final = " › "  # between the key of a label and its value, where both are one text
SCORES = "a number for each label"


class BadLabel(ValueError):
    """The value is no label, or no scores; the message says what it should be."""


def label_of(value: Any, key: str = "") -> str:
    """A label as text. `key` says which of several is meant, whose values then stand alone. Raises BadLabel."""
    found = value if isinstance(value, list) and value and all(map(_has_key, value)) else [value]
    if not all(map(_has_key, found)):
        return stringified(value)
    if key:
        found = [each for each in found if stringified(each["key"]) == key]
    if len(found) != 1:
        raise BadLabel(f"one label of the key “{key}”" if key else "one label, or the evaluator must say which key")
    return stringified(found[0]["value"]) if key else _joined(found[0]["key"], found[0]["value"])


def key_of(label: str) -> str:
    """The key of a label that has one, otherwise an empty text."""
    key, beside, _ = label.partition(BESIDE)
    return key if beside else ""


def scores_of(value: Any, key: str = "") -> dict[str, float]:
    """The score of each label by its text, in the order in which they come. Raises BadLabel."""
    found: dict[str, float] = {}
    for of, label, score in _scored(value):
        if key and of is not None and stringified(of) != key:
            continue
        text = stringified(label) if key or of is None else _joined(of, label)
        found[text] = max(number_of(score), found.get(text, -math.inf))
    if not found:
        raise BadLabel(SCORES)
    return found


def number_of(value: Any) -> float:
    """A score. Raises BadLabel for anything that is no finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadLabel(SCORES)
    try:
        number = float(value)
    except OverflowError:
        raise BadLabel(SCORES) from None
    if not math.isfinite(number):
        raise BadLabel(SCORES)
    return number


def merged_scores(scores: Mapping[str, float], merged: Mapping[str, str]) -> dict[str, float]:
    """Of labels that are merged into one the highest score: it is called where any of them is."""
    found: dict[str, float] = {}
    for label, score in scores.items():
        into = merged.get(label, label)
        found[into] = max(score, found.get(into, -math.inf))
    return found


def _scored(value: Any) -> Iterable[tuple[Any, Any, Any]]:
    """(key or None, label, score) of every score."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if isinstance(inner, Mapping):
                yield from ((name, label, score) for label, score in inner.items())
            else:
                yield None, name, inner
    elif isinstance(value, list) and all(isinstance(each, Mapping) and "score" in each for each in value):
        for each in value:
            yield each.get("key"), each.get("value", each.get("label")), each["score"]
    else:
        raise BadLabel(SCORES)


def _has_key(value: Any) -> bool:
    return isinstance(value, Mapping) and set(value) == {"key", "value"}


def _joined(key: Any, value: Any) -> str:
    return f"{stringified(key)}{BESIDE}{stringified(value)}"
