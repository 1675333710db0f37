"""Comparisons judged over the wire: both orders, what they add up to, and what happens when one of them fails."""

from dataclasses import replace

import pytest

from evaluators.core import Comparand, Sample, Status, Why
from evaluators.kinds import get_kind
from evaluators.orders import winner
from evaluators.tools import Tools
from tests.calls.talking import store_for, with_client
from tests.local_chat_server import broken, says

JUDGE = get_kind("judge")
PROMPT = """First: {{ outputs.value }}
Second: {{ comparison.outputs.value }}
(A) The second is better.
(B) The first is better.
(C) They are about the same.
Explain, then write the letter alone on the last line.
"""
OPTIONS = [("Comparison", 100), ("Baseline", 0), ("Same", 50)]
PAIR = Sample(outputs={"value": "OLD"}, comparison=Comparand({"value": "NEW"}))


def config(**more):
    stored = JUDGE.blank() | {
        "prompt": PROMPT,
        "connection_id": 1,
        "model": "tiny",
        "scoring": {"type": "enum", "options": [{"label": label, "percentage": at} for label, at in OPTIONS]},
        "threshold": 0.5,
        "runs_on": "comparison",
    }
    return JUDGE.load(stored | more, JUDGE.schema)


def judged(server, *replies, sample=PAIR, **more):
    server.then(*(says(reply) if isinstance(reply, str) else reply for reply in replies))

    async def act(chat):
        return await JUDGE.one(config(**more), sample, Tools(chat=chat))

    return with_client(store_for(server), act)


@pytest.mark.parametrize(
    ("replies", "more", "value", "label", "measures"),
    [
        (["r\nA"], {"both_orders": False}, 1.0, "Comparison", {}),
        (["r\nA", "r\nA"], {}, 0.5, "Comparison", {"flipped": 1.0, "as_given": 1.0}),
        (["r\nA", "r\nB"], {}, 1.0, "Comparison", {"flipped": 0.0, "as_given": 1.0}),
        (["r\nB", "r\nA"], {}, 0.0, "Baseline", {"flipped": 0.0, "as_given": 0.0}),
        (["r\nC", "r\nC"], {}, 0.5, "Same", {"flipped": 0.0, "as_given": 0.5}),
        (["r\nC", "r\nB"], {}, 0.75, "Same", {"flipped": 1.0, "as_given": 0.5}),
        (["r\nB", "r\nC"], {}, 0.25, "Baseline", {"flipped": 1.0, "as_given": 0.0}),
    ],
)
def test_the_value_is_the_mean_of_both_orders(chat_server, replies, more, value, label, measures):
    score = judged(chat_server, *replies, **more)
    assert (score.status, score.value, score.label, score.measures) == (Status.SCORED, value, label, measures)
    assert score.passed is (value >= 0.5)
    assert [reply.text for reply in score.replies] == replies
    assert chat_server.calls == len(replies)


def test_the_second_question_has_the_outputs_in_each_others_place(chat_server):
    judged(chat_server, "r\nA", "r\nB")
    first, second = (body["messages"][1]["content"] for body in chat_server.bodies)
    assert (first.index("OLD") < first.index("NEW"), second.index("NEW") < second.index("OLD")) == (True, True)
    assert first.replace("OLD", "@").replace("NEW", "OLD").replace("@", "NEW") == second
    assert chat_server.bodies[0]["messages"][0] == chat_server.bodies[1]["messages"][0]


def test_numbers_are_turned_too(chat_server):
    scale = {"scoring": {"type": "percentage"}, "prompt": "{{ outputs }} or {{ comparison.outputs }}?"}
    score = judged(chat_server, '{"reason": "", "score": 0.75}', '{"reason": "", "score": 0.5}', **scale)
    assert (score.value, score.label, score.measures) == (0.625, None, {"flipped": 1.0, "as_given": 0.75})
    system = chat_server.bodies[0]["messages"][0]["content"]
    assert "A number from 0 (the baseline is better) to 1 (the other output is better)." in system


def test_the_reason_tells_what_each_order_said_and_who_is_meant(chat_server):
    score = judged(chat_server, "NEW is shorter.\nA", "The first is short.\nB")
    assert score.reason == (
        "In the order given, the compared output is better.\nNEW is shorter.\n\n"
        "Exchanged, the compared output is better; here “baseline” means the compared output.\nThe first is short."
    )


@pytest.mark.parametrize("replies", [["Hm."] * 2, ["r\nA", "Hm.", "Hm."]])
def test_one_order_without_a_verdict_leaves_the_row_unscored(chat_server, replies):
    score = judged(chat_server, *replies)
    assert (score.status, score.why, score.value, score.label, score.measures) == (
        Status.UNSCORED, Why.UNPARSED, None, None, {},
    )  # fmt: skip
    assert [reply.text for reply in score.replies] == replies
    assert score.reason.startswith("With the two outputs exchanged: ") is (replies[0] != "Hm.")


def test_one_order_that_fails_fails_the_row_and_keeps_what_was_said(chat_server):
    score = judged(chat_server, "r\nA", *[broken()] * 9)
    assert (score.status, score.why, score.value) == (Status.FAILED, Why.ENDPOINT, None)
    assert [reply.text for reply in score.replies] == ["r\nA"]
    assert score.latency_ms > 0


def test_a_reply_that_was_asked_again_counts_in_its_order(chat_server):
    score = judged(chat_server, "Hm.", "r\nA", "r\nB")
    assert (score.value, score.measures) == (1.0, {"flipped": 0.0, "as_given": 1.0})
    assert [reply.reusable for reply in score.replies] == [False, True, True]


def test_two_equal_outputs_are_asked_about_once_and_are_equal(chat_server):
    score = judged(chat_server, "r\nA", sample=replace(PAIR, comparison=Comparand(PAIR.outputs)))
    assert (score.value, chat_server.calls, len(score.replies)) == (0.5, 1, 1)


@pytest.mark.parametrize(
    ("sample", "path"),
    [
        (replace(PAIR, comparison=None), "comparison"),
        (replace(PAIR, comparison=Comparand({"text": "NEW"})), "comparison.outputs.value"),
        (replace(PAIR, outputs=None), "outputs.value"),
    ],
)
def test_a_pair_that_lacks_an_output_is_unscored_and_nothing_is_asked(chat_server, sample, path):
    score = judged(chat_server, sample=sample)
    assert (score.status, score.why) == (Status.UNSCORED, Why.MISSING)
    assert f"reads {path}, which" in score.reason
    assert chat_server.calls == 0


def test_people_see_both_messages_and_whose_each_output_is():
    question = JUDGE.message(config(), PAIR)
    shown = [
        [(part.text, part.origin, part.path) for part in each.parts if part.path]
        for each in (question, question.exchanged)
    ]
    assert shown == [
        [("OLD", "baseline", "outputs.value"), ("NEW", "comparison", "comparison.outputs.value")],
        [("NEW", "comparison", "outputs.value"), ("OLD", "baseline", "comparison.outputs.value")],
    ]
    assert JUDGE.message(config(both_orders=False), PAIR).exchanged is None
    assert JUDGE.message(config(), replace(PAIR, comparison=None)) is None


def test_the_winner_is_told_by_the_side_of_a_half():
    assert [winner(value) for value in (0.0, 0.49, 0.5, 0.51, 1.0)] == [-1, -1, 0, 1, 1]


def test_the_rehearsal_prefers_the_better_answer_and_rarely_flips():
    from evalstudio.calls.chat import Endpoint
    from tests.calls.talking import MemoryStore

    good, bad = "Refunds take 7 days after cancellation.", "Refunds take 90 days after cancellation."

    async def act(chat):
        samples = [
            Sample(
                inputs={"n": number},
                expected_outputs={"value": good},
                outputs={"value": bad},
                comparison=Comparand({"value": good}),
            )
            for number in range(40)
        ]
        settings = config(prompt="{{ inputs.n }} {{ expectedOutputs.value }}\n" + PROMPT, weighted=True)
        return [await JUDGE.one(settings, sample, Tools(chat=chat)) for sample in samples]

    scores = with_client(MemoryStore({1: Endpoint(base_url="rehearsal:")}), act)
    assert {score.status for score in scores} == {Status.SCORED}
    assert all(score.measures["weighed"] == 1 for score in scores)
    assert sum(score.value > 0.5 for score in scores) > 30
    assert 0 < sum(score.measures["flipped"] for score in scores) < 15
