"""From best to worst: how the rehearsal reads the options of a scale. By words alone, as everything it does."""

from __future__ import annotations

import re
from collections.abc import Sequence

# "Nothing contradicts" and "breaks no rule" are good news.
RELIEF = re.compile(
    r"\b(?:nothing|no|none|never|without|free of)\b(?:\W+\w+){0,4}?\W+(?:contradict\w*|mistakes?|wrong|errors?)"
    r"|\bbreaks? (?:no|none)\b",
    re.I,
)
SAME = re.compile(r"\bsame\b", re.I)
WHOLE = re.compile(r"\b(?:every|all|fully)\b", re.I)
GOOD = re.compile(
    r"\b(?:agrees?|consistent|correct|right|keeps to|meets|complete|positive|satisfied|high|matches|helpful|true|yes"
    r"|good|excellent|not matter)\b",
    re.I,
)
BAD = re.compile(
    r"\b(?:contradict\w*|wrong|serious|significant|breaks?|violat\w*|negative|unsatisfied|dissatisf\w*|low|disagree\w*"
    r"|incorrect|unhelpful|false|poor|bad|fails?|misses)\b|\bnot (?:helpful|consistent|correct)\b",
    re.I,
)
LESS = re.compile(
    r"\b(?:leaves?|adds?|more|less|partly|partial\w*|minor|slightly|close|neutral|medium|some|open)\b", re.I
)


def best_first(texts: Sequence[str]) -> list[int]:
    """The places of the options, the best first; where words do not tell two apart, they keep their order."""
    return sorted(range(len(texts)), key=lambda place: -_worth(texts[place]))


def _worth(text: str) -> float:
    """From -3 to 3. What stands before a colon counts alone, unless it says nothing."""
    name, colon, meaning = text.partition(":")
    return _told(name) or (_told(meaning) if colon else 0)


def _told(text: str) -> float:
    relieved, good_news = RELIEF.subn(" ", text)
    if BAD.search(relieved):
        return -3
    if SAME.search(relieved):
        return 3
    less = 1 if LESS.search(relieved) else 0
    if WHOLE.search(relieved):
        return 3 - less * 1.5
    return (2 if GOOD.search(relieved) or good_news else 0) - less
