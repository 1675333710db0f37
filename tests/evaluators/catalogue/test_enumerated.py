"""The enumerated family: prompts that ask as their options say, and the catalogue's worked examples over the wire."""

import pytest

from evaluators.catalogue.enumerated import ENUMERATED, PROMPTS
from evaluators.core import Comparand, Sample, Status
from evaluators.kinds import get_kind
from evaluators.starters import STARTERS
from evaluators.tools import Tools
from tests.calls.talking import store_for, with_client
from tests.local_chat_server import says

JUDGE = get_kind("judge")
SAMPLE = Sample(
    {"question": "Why?"}, {"value": "So."}, {"value": "Because."}, comparison=Comparand({"value": "Just so."})
)


def config(key, **more):
    return JUDGE.load(STARTERS[key].config | {"connection_id": 1, "model": "tiny"} | more, JUDGE.schema)


def judged(server, settings, *replies):
    server.then(*map(says, replies))

    async def act(chat):
        return await JUDGE.one(settings, SAMPLE, Tools(chat=chat))

    return with_client(store_for(server), act)


@pytest.mark.parametrize(
    ("key", "reply", "value", "choice", "passed"),
    [
        ("factual_consistency", "reasoning\n(B)", 0.6, "B", True),
        ("company_safety_policy", "r\nB", 0.5, "B", True),
        ("sentiment", "r\nA.", 1.0, "A", True),
        ("grammar", "x\nD", 0.5, "D", True),
        ("logical_consistency", "r\nC", 0.0, "C", False),
        ("accuracy_label", '{"label": "HIGH", "justification": "x"}', 1.0, "HIGH", True),
        ("user_satisfaction", '{"label": "UNSATISFIED", "justification": "x"}', 0.0, "UNSATISFIED", False),
    ],
)
def test_the_worked_examples_come_out(chat_server, key, reply, value, choice, passed):
    score = judged(chat_server, config(key), reply)
    assert (score.status, score.value, score.label, score.passed) == (Status.SCORED, value, choice, passed)
    assert score.reason


@pytest.mark.parametrize(
    ("both_orders", "replies", "value", "flipped"),
    [
        (False, ["r\nA"], 1.0, None),
        (True, ["r\nA", "r\nA"], 0.5, 1),
        (True, ["r\nA", "r\nB"], 1.0, 0),
    ],
)
def test_the_worked_examples_of_two_answers_come_out(chat_server, both_orders, replies, value, flipped):
    score = judged(chat_server, config("comparative_judge", both_orders=both_orders), *replies)
    assert (score.status, score.value, score.label) == (Status.SCORED, value, "A")
    assert score.measures.get("flipped") == flipped


@pytest.mark.parametrize(
    ("key", "scores"),
    [
        ("factual_consistency", {"A": 0.4, "B": 0.6, "C": 1, "D": 0, "E": 1}),
        ("company_safety_policy", {"A": 1, "B": 0.5, "C": 0}),
        ("sentiment", {"A": 1, "B": 0.5, "C": 0}),
        ("grammar", {"A": 1, "B": 0.75, "C": 0.75, "D": 0.5, "E": 0}),
        ("logical_consistency", {"A": 1, "B": 0.5, "C": 0}),
        ("accuracy_label", {"LOW": 0, "MEDIUM": 0.5, "HIGH": 1}),
        ("user_satisfaction", {"UNSATISFIED": 0, "SATISFIED": 1}),
        ("comparative_judge", {"A": 1, "B": 0, "C": 0.5}),
    ],
)
def test_every_option_counts_as_the_catalogue_says(key, scores):
    assert {option.label: option.value for option in config(key).scoring.options} == scores


def test_every_prompt_is_of_an_entry_and_every_entry_is_a_starting_point():
    keys = {entry.key for entry in ENUMERATED}
    assert {path.stem for path in PROMPTS.glob("*.md")} >= keys
    assert set(STARTERS) >= keys


@pytest.mark.parametrize("entry", ENUMERATED, ids=lambda entry: entry.key)
def test_a_prompt_asks_for_reasons_before_the_verdict_and_keeps_values_between_delimiters(entry):
    settings = config(entry.key)
    system, user = (message["content"] for message in JUDGE.message(settings, SAMPLE).messages)
    assert '<data path="outputs.value">\nBecause.\n</data>' in user
    assert "# How to reason" in system
    is_lettered = len(entry.options[0].label) == 1
    if is_lettered:
        assert user.rstrip().endswith("alone, on the last line.")
        assert all(f"\n({option.label}) " in user for option in entry.options)
    else:
        assert "Write the reason first" in system
        assert all(f"\n{option.label}: " in user for option in entry.options)


def test_the_comment_that_asks_for_a_policy_is_not_sent():
    question = JUDGE.message(config("company_safety_policy"), SAMPLE)
    assert "Put the policy of your company here" in STARTERS["company_safety_policy"].config["prompt"]
    assert "Put the policy" not in question.messages[1]["content"]
