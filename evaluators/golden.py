"""Golden cases: what each asks of an evaluator, and whether a verdict is what was asked for."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction

from evalstudio.web.foreign import is_storable
from evaluators.core import Comparand, Sample, Status
from evaluators.engine import Work
from evaluators.models import Evaluator, GoldenCase
from evaluators.scoring import EnumScoring, OffScale, Passing

MOST_CASES = 1000  # of one evaluator: a person looks at them, and every version is judged on all of them
MOST_CHARACTERS = 1_000_000  # of a sample as JSON
CLOSE = 0.05  # a number agrees with the one that must come if it is this near
SIDES = {0.0: "the baseline is better", 0.5: "they are equal", 1.0: "the compared one is better"}

Must = dict[str, Any]  # {"label": str}, {"passed": bool} or {"value": share}


class NotKept(ValueError):
    """The case cannot be kept; the message says why, `field` where: "sample", "must" or ""."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


# --- Samples ----------------------------------------------------------------------------------------------------------
def stored_sample(sample: Sample) -> dict[str, Any]:
    """The sample as it is stored; what it lacks is left out. Raises NotKept."""
    parts = _known(replace(sample, processed=None).roots())  # what a processor makes is made again, and newer
    if sample.comparison:
        parts["comparison"] = _known(replace(sample.comparison, processed=None).roots())
    text = json.dumps(parts, ensure_ascii=False)
    if not parts:
        raise NotKept("This sample is empty. Give at least its outputs.", "sample")
    if len(text) > MOST_CHARACTERS:
        raise NotKept(f"A sample may have {MOST_CHARACTERS:,} characters; this one has {len(text):,}.", "sample")
    if not is_storable(text) or "\\u0000" in text:
        raise NotKept("Leave out the characters that cannot be stored: NUL and halves of characters.", "sample")
    return parts


def _known(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parts.items() if value is not None}


def sample_in(stored: Mapping[str, Any]) -> Sample:
    """The sample that was stored."""
    compared = stored.get("comparison")
    return Sample(
        inputs=stored.get("inputs"),
        expected_outputs=stored.get("expectedOutputs"),
        outputs=stored.get("outputs"),
        steps=stored.get("steps"),
        metadata=stored.get("metadata"),
        comparison=Comparand(compared.get("outputs"), compared.get("steps")) if isinstance(compared, dict) else None,
    )


def digest_of(stored: Mapping[str, Any]) -> str:
    """The same for the same sample, whatever the order of its names."""
    text = json.dumps(stored, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# --- What must come ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Demand:
    """One thing that may be asked for: `key` in forms, `words` on pages."""

    key: str
    must: Must
    words: str


def demands(work: Work) -> list[Demand]:
    """What a case may ask of this configuration besides a number of its own: options, sides, passing."""
    scoring, passing = _scale(work)
    offered: list[Must] = []
    if isinstance(scoring, EnumScoring):
        offered += [{"label": label} for label in scoring.labels]
    elif work.needs.compares:
        offered += [{"value": side} for side in SIDES]
    if passing.threshold is not None:
        offered += [{"passed": True}, {"passed": False}]
    return [Demand(key_of(must), must, in_words(must, compares=work.needs.compares)) for must in offered]


def asks_for_numbers(work: Work) -> bool:
    """Whether a case may ask for any number of the scale."""
    return not isinstance(_scale(work)[0], EnumScoring) and not work.needs.compares


def key_of(must: Must) -> str:
    """What must come as one word of a form."""
    (name, wanted), *_ = must.items()
    return f"{name}:{'yes' if wanted is True else 'no' if wanted is False else wanted}"


def in_words(must: Must, *, compares: bool = False) -> str:
    """What must come, as people say it: HIGH, passes, 60 %."""
    if "label" in must:
        return str(must["label"])
    if "passed" in must:
        return "passes" if must["passed"] else "does not pass"
    return SIDES.get(must["value"], "") if compares else f"{must['value'] * 100:g}\u00a0%"


def is_must(must: Any) -> bool:
    """Whether this says what must come in one of the three ways."""
    match must:
        case {"label": str(label), **rest} if not rest:
            return bool(label.strip()) and len(label) <= 200
        case {"passed": bool(), **rest} if not rest:
            return True
        case {"value": float() | int() as value, **rest} if not rest:
            return not isinstance(value, bool) and 0 <= value <= 1
    return False


def checked_must(must: Any, work: Work) -> Must:
    """What must come, as it is stored. Raises NotKept where this configuration cannot say it."""
    if not is_must(must):
        raise NotKept('Say what must come as one of {"label": …}, {"passed": true or false} or {"value": 0.6}.', "must")
    scoring, passing = _scale(work)
    if "label" in must:
        if not isinstance(scoring, EnumScoring):
            raise NotKept("This evaluator has no options; say whether it passes, or a number.", "must")
        try:
            return {"label": scoring.option(must["label"]).label}
        except OffScale as error:
            raise NotKept(str(error), "must") from None
    if "passed" in must and passing.threshold is None:
        raise NotKept("Without a threshold nothing passes. Give the evaluator one, or say another verdict.", "must")
    return {"value": float(must["value"])} if "value" in must else {"passed": must["passed"]}


def given(label: str | None, passed: bool | None, value: float | None) -> Must | None:
    """The verdict that was given, as what must come; None where there was none."""
    if label is not None:
        return {"label": label}
    if passed is not None:
        return {"passed": passed}
    return None if value is None else {"value": value}


def agrees(must: Must, verdict: Any) -> bool:
    """Whether a verdict (with state, label, passed, value) is the one that must come. No score never is."""
    if verdict.state != Status.SCORED:
        return False
    if "label" in must:
        return _plain(verdict.label) == _plain(must["label"])
    if "passed" in must:
        return verdict.passed is must["passed"]
    return verdict.value is not None and abs(verdict.value - must["value"]) <= CLOSE + 1e-9


def must_pass(must: Must, work: Work) -> bool | None:
    """Whether a verdict as it must come passes; None where the configuration has no threshold or no such option."""
    scoring, passing = _scale(work)
    if "passed" in must:
        return bool(must["passed"])
    if "value" in must:
        return passing.passed(must["value"])
    try:
        return passing.passed(scoring.option(must["label"]).value) if isinstance(scoring, EnumScoring) else None
    except OffScale:
        return None


def _scale(work: Work) -> tuple[Any, Passing]:
    return getattr(work.config, "scoring", None), getattr(work.config, "passing", None) or Passing()


def _plain(label: Any) -> str:
    return " ".join(str(label or "").split()).casefold()


# --- Keeping ----------------------------------------------------------------------------------------------------------
@transaction.atomic
def keep(
    evaluator: Evaluator, stored: dict[str, Any], must: Must, *, title: str, author: Any, note: str = ""
) -> tuple[GoldenCase, bool]:
    """The case of this sample, and whether it is new. Kept again, it is the same case, with what must come now.

    Raises NotKept where the evaluator has as many as it may.
    """
    Evaluator.objects.select_for_update().get(pk=evaluator.pk)  # nobody else keeps the last one meanwhile
    digest = digest_of(stored)
    known = GoldenCase.objects.filter(evaluator=evaluator, digest=digest).first()
    if known:
        if known.must != must:
            known.must = must
            known.save(update_fields=["must"])
        return known, False
    if evaluator.golden_cases.count() >= MOST_CASES:
        raise NotKept(f"An evaluator has at most {MOST_CASES:,} golden cases. Delete one that teaches nothing.")
    made = GoldenCase.objects.create(
        evaluator=evaluator,
        title=_title(title, stored),
        sample=stored,
        digest=digest,
        must=must,
        note=note[:300],
        author=author,
    )
    return made, True


def _title(typed: str, stored: Mapping[str, Any]) -> str:
    """The title as typed, or the beginning of the first text in the sample."""
    text = " ".join(typed.split()) or _first_text(stored) or "Golden case"
    return text if len(text) <= 80 else text[:79].rstrip() + "…"


def _first_text(data: Any) -> str:
    if isinstance(data, str):
        return " ".join(data.split())
    inner = data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ()
    return next((text for text in map(_first_text, inner) if text), "")
