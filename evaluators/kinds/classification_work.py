"""What a classification says of one case: the label given, the one expected, and the scores of all labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evaluators import paths
from evaluators.core import Score, Status, Why
from evaluators.kinds.classification import BINARY, MOST_LABELS, TRUTHS, UNRECOGNISED, ClassificationConfig
from evaluators.labels import BadLabel, label_of, merged_scores, number_of, scores_of
from evaluators.paths import MissingPath
from evaluators.stringified import UNDEFINED

FALSEY = frozenset(("false", "False", "f", "F", "0", UNDEFINED, "null", ""))  # of a binary label; all else is true
HALF = 0.5  # from which a lone score means true, where nothing else says what an output was called
Roots = Mapping[str, Any]


class Unsaid(Exception):
    """A case about which nothing can be said; it carries the score."""

    def __init__(self, why: Why, reason: str, expected: str | None = None) -> None:
        super().__init__(reason)
        self.score = Score.unscored(why, reason, expected=expected)


def scorer(config: ClassificationConfig) -> Callable[[Roots], Score]:
    """A function from the roots of a sample to its score."""
    read = _Reading(config)
    judged = _binary if config.mode == BINARY else _several

    def score(roots: Roots) -> Score:
        try:
            return judged(config, read, roots)
        except Unsaid as unsaid:
            return unsaid.score

    return score


class _Reading:
    """The places of a case, with labels merged."""

    def __init__(self, config: ClassificationConfig) -> None:
        self._config = config
        self._merged = dict(config.merged)

    def label(self, roots: Roots, path: str) -> str | None:
        """None where the case has none."""
        found = self._at(roots, path) if path else None
        if found is None:
            return None
        try:
            text = label_of(found[0], self._config.label_key)
        except BadLabel as error:
            raise Unsaid(Why.MISSING, f"{path} should be {error}.") from None
        return self._merged.get(text, text)

    def scores(self, roots: Roots) -> dict[str, float] | float | None:
        """The score of each label; a lone number, which is that of true; None where the output has none."""
        path = self._config.scores
        found = self._at(roots, path) if path else None
        if found is None or found[0] is None:
            return None
        is_lone = self._config.mode == BINARY and not isinstance(found[0], dict | list)
        try:
            scores = number_of(found[0]) if is_lone else scores_of(found[0], self._config.label_key)
        except BadLabel as error:
            raise Unsaid(Why.MISSING, f"{path} should be {error}{', or one for true' if is_lone else ''}.") from None
        if isinstance(scores, dict) and len(scores) > MOST_LABELS:
            raise Unsaid(Why.OFF_SCALE, f"{path} has scores of {len(scores):,} labels; {MOST_LABELS} are the most.")
        return merged_scores(scores, self._merged) if isinstance(scores, dict) else scores

    @staticmethod
    def _at(roots: Roots, path: str) -> tuple[Any] | None:
        try:
            return (paths.resolve(roots, path),)
        except MissingPath:
            return None


# True or false


def _binary(config: ClassificationConfig, read: _Reading, roots: Roots) -> Score:
    expected = _truth(read.label(roots, config.expected))
    found = read.scores(roots)
    scores = _truths(found) if isinstance(found, dict) else {} if found is None else {"true": found}
    if config.predicted:
        return _agreement(_truth(read.label(roots, config.predicted)), expected, scores)
    if not scores:
        raise Unsaid(Why.MISSING, f"The case has no {config.scores}.", expected)
    rest = scores.get("false", HALF if len(scores) == 1 and "true" in scores else 0.0)
    return _agreement("true" if scores.get("true", 0.0) >= rest else "false", expected, scores)


def _truths(scores: Mapping[str, float]) -> dict[str, float]:
    return merged_scores(scores, {label: _truth(label) for label in scores})


def _truth(text: str | None) -> str:
    return TRUTHS[(UNDEFINED if text is None else text) in FALSEY]


# Several labels


def _several(config: ClassificationConfig, read: _Reading, roots: Roots) -> Score:
    expected = read.label(roots, config.expected)
    if expected is None:
        raise Unsaid(Why.MISSING, f"The case has no {config.expected}, so no label is expected.")
    if config.labels and expected not in config.labels:
        raise Unsaid(Why.OFF_SCALE, f"The expected label “{short(expected)}” is none of the declared ones.")
    found = read.scores(roots)
    predicted = read.label(roots, config.predicted)
    if predicted is None and not isinstance(found, dict):
        raise Unsaid(Why.MISSING, f"The case has no {config.predicted or config.scores}.", expected)
    scores = _in_order(config.labels, found) if isinstance(found, dict) else {}
    if predicted is None:
        return _agreement(max(scores, key=lambda label: scores[label]), expected, scores)
    if config.labels and predicted not in config.labels:
        reason = f"“{short(predicted)}” is none of the declared labels."
        return _agreement(UNRECOGNISED, expected, scores, reason)
    return _agreement(predicted, expected, scores)


def _in_order(labels: tuple[str, ...], scores: Mapping[str, float]) -> dict[str, float]:
    """The scores as labels are listed, so that of equal ones the first wins; those of no declared label are one."""
    if not labels:
        return dict(sorted(scores.items()))
    kept = {label: scores[label] for label in labels if label in scores}
    strange = [score for label, score in scores.items() if label not in kept]
    return kept | ({UNRECOGNISED: max(strange)} if strange else {})


def _agreement(predicted: str, expected: str, scores: Mapping[str, float], reason: str = "") -> Score:
    is_right = predicted == expected
    return Score(
        Status.SCORED,
        value=float(is_right),
        label=predicted,
        expected=expected,
        label_scores=scores,
        passed=is_right,
        reason=reason,
    )


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"
