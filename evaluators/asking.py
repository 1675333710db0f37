"""Asking a judge: a question is sent, its reply read, and asked again when the reply could not be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evalstudio.calls.replies import (
    Ask,
    Chat,
    ChatError,
    EndpointFailing,
    Rejected,
    Reply,
    Unreachable,
    WrongKey,
)
from evaluators.core import Score, Status, Why
from evaluators.framing import Manner, rules
from evaluators.scoring import Passing
from evaluators.verdicts import Unreadable, Verdict
from evaluators.weighing import PLAIN, WEIGHED, weigh

MOST_REPAIRS = 1  # how often a reply that could not be read is asked for again
MOST_QUOTED = 8_000  # characters of an unreadable reply that are sent back

_WHY: Mapping[type[ChatError], Why] = {
    Unreachable: Why.UNREACHABLE,
    WrongKey: Why.WRONG_KEY,
    Rejected: Why.REJECTED,
    EndpointFailing: Why.ENDPOINT,
}


async def judge(ask: Ask, manner: Manner, passing: Passing, chat: Chat) -> Score:
    """The score of what is asked. A reply that cannot be read is asked for once more, with what was wrong with it.

    Every reply is kept in the score; only the one that could be read is marked reusable. Where probabilities of tokens
    are asked for, they weigh the options. NotNow passes through.
    """
    replies: list[Reply] = []
    while True:
        try:
            reply = await chat.ask(ask)
        except ChatError as error:
            return Score.failed(why_of(error), str(error), replies=tuple(replies), latency_ms=_latency(replies))
        try:
            verdict = manner.read(reply)
        except Unreadable as error:
            replies.append(reply)
            if len(replies) > MOST_REPAIRS:
                return _unscored(error, replies)
            ask = replace(ask, messages=(*ask.messages, *_repair(reply, error, manner)))
        else:
            replies.append(replace(reply, reusable=True))
            score = _scored(verdict, passing, replies)
            return _weighed(score, verdict, passing, manner) if ask.top_logprobs else score


def _scored(verdict: Verdict, passing: Passing, replies: list[Reply]) -> Score:
    return Score(
        Status.SCORED,
        value=verdict.value,
        label=verdict.label,
        passed=passing.passed(verdict.value),
        reason=verdict.reason,
        replies=tuple(replies),
        latency_ms=_latency(replies),
    )


def _weighed(score: Score, verdict: Verdict, passing: Passing, manner: Manner) -> Score:
    value = weigh(verdict, score.replies[-1].tokens, manner.scoring, manner.letters)
    if value is None:
        return replace(score, reason=f"{score.reason}\n\n{PLAIN}".lstrip(), measures={WEIGHED.name: 0.0})
    return replace(score, value=value, passed=passing.passed(value), measures={WEIGHED.name: 1.0})


def _unscored(error: Unreadable, replies: list[Reply]) -> Score:
    times = "twice" if len(replies) == 2 else f"{len(replies)} times"
    reason = f"{error} It was asked {times}."
    return Score.unscored(error.why, reason, replies=tuple(replies), latency_ms=_latency(replies))


def _repair(reply: Reply, error: Unreadable, manner: Manner) -> tuple[Mapping[str, str], ...]:
    again = f"That reply could not be read: {error} Judge the same case again. {rules(manner.scoring, manner.form)}"
    return (
        {"role": "assistant", "content": reply.text[:MOST_QUOTED].strip() or "(no text)"},
        {"role": "user", "content": again},
    )


def why_of(error: ChatError) -> Why:
    """Why a row has failed whose question got no reply."""
    return next((why for kind, why in _WHY.items() if isinstance(error, kind)), Why.ENDPOINT)


def _latency(replies: list[Reply]) -> float | None:
    return sum(reply.latency_ms for reply in replies) if replies else None
