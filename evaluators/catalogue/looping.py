"""Whether an answer goes round in circles: repeated sentences, repeated passages, and how well it compresses."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import Found
from evaluators.catalogue.registry import entry
from evaluators.catalogue.sentences import sentences
from evaluators.core import Measure

LEAST_SENTENCE = 10  # characters


@entry(
    "Looping",
    family=RULES,
    measures=(
        Measure("unique_sentences", "Unique sentences", "higher", 0.75),
        Measure("longest_repeated_substring", "Longest repetition", "lower", 0.75),
        Measure("compression_ratio", "Compressed to", "higher", 0.75),
    ),
    tags="VR OM",
)
def looping_detection(output: str) -> Found:
    """Tells how much of an answer is repetition: the share of distinct sentences, and two measures beside it."""
    said = [sentence for sentence in sentences(output) if len(sentence) >= LEAST_SENTENCE]
    passage, times = longest_repetition(output)
    data = output.encode(errors="replace")
    measures = {
        "unique_sentences": len(set(said)) / len(said) if said else 1.0,
        "longest_repeated_substring": len(passage) * times / len(output) if times else 0.0,
        "compression_ratio": min(1.0, len(zlib.compress(data, 9)) / len(data)) if data else 1.0,
    }
    return Found(measures, f"{times} times: “{passage[:200]}”" if times and len(passage) >= LEAST_SENTENCE else "")


def longest_repetition(text: str) -> tuple[str, int]:
    """The longest passage that occurs twice without overlap, with how often; of several the most frequent.

    ("", 0) where nothing repeats. A repetition of length L holds one of L - 1, so the greatest L is found by halving.
    """
    names = [ord(letter) for letter in text]  # of the passages of length `size` that begin at each place
    size = 1
    if not _repeats(names, 1):
        return "", 0
    while longer := _joined(names, size, 2 * size):
        if not _repeats(longer, 2 * size):
            break
        names, size = longer, 2 * size
    least, beyond = size, 2 * size
    while beyond - least > 1:
        middle = (least + beyond) // 2
        least, beyond = (middle, beyond) if _repeats(_joined(names, size, middle), middle) else (least, middle)
    return _most_frequent(text, _joined(names, size, least), least)


def _joined(names: list[int], size: int, length: int) -> list[int]:
    """Names for the passages of `length`, between `size` and twice that: equal passages have equal names."""
    numbers: dict[tuple[int, int], int] = {}
    return [numbers.setdefault(pair, len(numbers)) for pair in zip(names, names[length - size :], strict=False)]


def _repeats(names: list[int], length: int) -> bool:
    first: dict[int, int] = {}
    return any(place - first.setdefault(name, place) >= length for place, name in enumerate(names))


def _most_frequent(text: str, names: list[int], length: int) -> tuple[str, int]:
    times: dict[int, int] = {}
    for name, _ in _without_overlap(names, length):
        times[name] = times.get(name, 0) + 1
    most = max(times, key=times.__getitem__)
    at = names.index(most)
    return text[at : at + length], times[most]


def _without_overlap(names: list[int], length: int) -> Iterator[tuple[int, int]]:
    """(name, place) of the passages, from left to right, each name not before its last passage has ended."""
    ends: dict[int, int] = {}
    for place, name in enumerate(names):
        if place >= ends.get(name, 0):
            ends[name] = place + length
            yield name, place
