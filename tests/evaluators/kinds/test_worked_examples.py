"""Judges and heuristics of people's own against worked examples: what a reply or a returned value is worth."""

import json

import pytest

from evaluators.core import Sample, Status, Why
from evaluators.kinds import get_kind
from evaluators.scoring import read as scoring_of
from evaluators.tools import Tools, javascript
from evaluators.verdicts import ReplyForm, Unreadable, read

HEURISTIC = get_kind("heuristic")
LEVELS = {"LOW": 0, "MEDIUM": 50, "HIGH": 100}


def options(**percentages):
    rows = [{"label": label, "percentage": share} for label, share in percentages.items()]
    return scoring_of({"type": "enum", "options": rows})


@pytest.mark.parametrize(
    ("scoring", "reply", "score", "choice"),
    [
        (options(A=100, B=30), "because…\n(B)", 0.3, "B"),
        (scoring_of({"type": "percentage"}), "I think\n85%", 0.85, None),
        (options(A=40, B=60, C=100, D=0, E=100), "reasoning\n(B)", 0.6, "B"),
        (options(A=100, B=50, C=0), "r\nB", 0.5, "B"),
        (options(A=100, B=50, C=0), "r\nA.", 1.0, "A"),
        (options(A=100, B=75, C=75, D=50, E=0), "x\nD", 0.5, "D"),
    ],
)
def test_a_judge_that_ends_with_its_choice(scoring, reply, score, choice):
    verdict = read(reply, scoring, ReplyForm.LAST_LINE, getattr(scoring, "letters", {}))
    assert (verdict.value, verdict.label) == (pytest.approx(score, abs=1e-6), choice)


@pytest.mark.parametrize(
    ("scoring", "said", "score", "label"),
    [
        (options(**LEVELS), "It is MEDIUM", 0.5, "MEDIUM"),
        (options(**LEVELS), "HIGH", 1.0, "HIGH"),
        (options(SATISFIED=100, UNSATISFIED=0), "UNSATISFIED", 0.0, "UNSATISFIED"),
    ],
)
def test_a_judge_that_gives_a_label(scoring, said, score, label):
    verdict = read(json.dumps({"label": said, "justification": "x"}), scoring, ReplyForm.JSON)
    assert (verdict.value, verdict.label, verdict.reason) == (score, label, "x")


def test_a_label_that_names_two_options_is_no_verdict():
    with pytest.raises(Unreadable) as unread:
        read(json.dumps({"label": "LOW or HIGH", "justification": "x"}), options(**LEVELS), ReplyForm.JSON)
    assert unread.value.why in (Why.OFF_SCALE, Why.UNPARSED)


@pytest.mark.parametrize(("returned", "score"), [("0.25", 0.25), ("true", 1.0), ("false", 0.0)])
def test_a_heuristic_that_returns_a_score(returned, score):
    code = f"function evaluate() {{ return {returned}; }}"
    config = HEURISTIC.load(HEURISTIC.blank() | {"code": code}, HEURISTIC.schema)
    (found,) = HEURISTIC.prepare(config, Tools(javascript=javascript()))([Sample()])
    assert (found.status, found.value) == (Status.SCORED, score)
