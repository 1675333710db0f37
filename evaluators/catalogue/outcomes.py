"""What a catalogue entry says about one sample, and how it says that it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evaluators.core import Measure


@dataclass(frozen=True, slots=True)
class Found:
    """An entry's measures by name, its primary measure among them, and the detail behind them."""

    measures: Mapping[str, float]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ForJudge:
    """What only a model can decide: a prompt (in the language of prompts) over data, by criteria; pass or fail."""

    prompt: str
    criteria: str
    data: Mapping[str, object] = field(default_factory=dict)


class Lacking(LookupError):
    """The sample lacks what the entry reads, or has something else in its place: unscored. The message names it."""


class NoVerdict(Exception):
    """The sample cannot be read as the entry must read it: unscored. The message says what was found."""


class BadCase(Exception):
    """What the case brings along for the evaluation (a schema, a condition) is wrong: the evaluation fails."""


PASS = Measure("pass_rate", "Passed", "higher", 0.5)
FAIL = Measure("failure_rate", "Failed", "lower", 0.5)
UNREAD = Measure("parse_failure_rate", "Could not be parsed", "lower", 0.5)
PASS_FAIL = (PASS, FAIL)
PASS_FAIL_UNREAD = (PASS, FAIL, UNREAD)
PASSED = Found({PASS.name: 1.0, FAIL.name: 0.0})


def failed(reason: str) -> Found:
    return Found({PASS.name: 0.0, FAIL.name: 1.0}, reason)


def passes(ok: bool, why_not: str) -> Found:
    """Passed, or failed because of `why_not`."""
    return PASSED if ok else failed(why_not)


def retrieval_measures(
    passed: str, failed: str, retrieval: str, generation: str, unread: str = ""
) -> tuple[Measure, ...]:
    """The measures of a check that is made of the output and of the retrieved contexts, under these titles."""
    measures = (
        Measure(PASS.name, passed, "higher", 0.5),
        Measure(FAIL.name, failed, "lower", 0.5),
        Measure("retrieval_failure_rate", retrieval, "lower", 0.5),
        Measure("generation_failure_rate", generation, "lower", 0.5),
    )
    return (*measures, Measure(UNREAD.name, unread, "lower", 0.5)) if unread else measures


def with_retrieval(ok: bool, retrieval_ok: bool | None, reason: str) -> Found:
    """The same check of the output and of the contexts, which is None where it was not made."""
    fails = 0.0 if ok else 1.0
    measures = {PASS.name: 1.0 - fails, FAIL.name: fails, "generation_failure_rate": fails, UNREAD.name: 0.0}
    if retrieval_ok is not None:
        measures["retrieval_failure_rate"] = 0.0 if retrieval_ok else 1.0
    return Found(measures, reason)
