"""What every evaluator said about one output, in words; and on demand what it was shown and what came back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ObjectDoesNotExist

from evalstudio.calls.models import Call
from evaluators.core import FLIPPED
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.scoring import Passing
from experiments.analysis.columns import Column
from experiments.analysis.grid import label
from experiments.models import Evaluation, EvaluationBody, Output, Run
from experiments.samples import sample_of

if TYPE_CHECKING:
    from evaluators.framing import Question


@dataclass(frozen=True, slots=True)
class Verdict:
    """One evaluation of an output, with the words behind it."""

    evaluation: Evaluation
    run: Run
    passing: Passing
    body: EvaluationBody
    tokens_in: int | None
    tokens_out: int | None

    @property
    def version(self) -> EvaluatorVersion:
        return self.run.version

    @property
    def label(self) -> str | None:
        return self.evaluation.label  # type: ignore[attr-defined]  # annotated by `verdicts`

    @property
    def calls(self) -> int:
        return len(self.body.call_keys or [])

    @property
    def is_flip(self) -> bool:
        """Whether a comparison was judged otherwise in the other order."""
        return bool((self.body.measures or {}).get(FLIPPED.name))

    @property
    def logs(self) -> str:
        return "\n".join(self.body.logs or [])


def verdicts(output: Output, columns: list[Column]) -> list[Verdict]:
    """The output's evaluations in the order of the columns. Two queries."""
    rows = Evaluation.objects.filter(output=output, run__in=[column.run for column in columns], repeat=0)
    found = {row.run_id: row for row in rows.select_related("body").annotate(label=label())}
    bodies = {run_id: _body(row) for run_id, row in found.items()}
    counts = _tokens(bodies.values())
    return [
        _verdict(found[column.run.pk], column, bodies[column.run.pk], counts)
        for column in columns
        if column.run.pk in found
    ]


def _body(evaluation: Evaluation) -> EvaluationBody:
    try:
        return evaluation.body
    except ObjectDoesNotExist:  # nothing was said
        return EvaluationBody(evaluation=evaluation)


def _tokens(bodies: Iterable[EvaluationBody]) -> dict[str, tuple[int | None, int | None]]:
    """Tokens in and out by the key of their call."""
    keys = {key for body in bodies for key in body.call_keys or []}
    rows = Call.objects.filter(pk__in=keys).values_list("pk", "tokens_in", "tokens_out")
    return {key: (tokens_in, tokens_out) for key, tokens_in, tokens_out in rows}


def _verdict(evaluation: Evaluation, column: Column, body: EvaluationBody, counts: dict[str, tuple]) -> Verdict:
    made = [counts[key] for key in body.call_keys or [] if key in counts]
    return Verdict(
        evaluation,
        column.run,
        column.passing,
        body,
        _total(tokens_in for tokens_in, _ in made),
        _total(tokens_out for _, tokens_out in made),
    )


def _total(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class Exchange:
    """What an evaluator was shown and what came back."""

    messages: list[list[tuple[str, Any, str]]]  # pieces of each: where the piece comes from, the piece, its text
    replies: list[Call]
    missing: int  # replies that are no longer kept


def exchange(evaluation: Evaluation) -> Exchange:
    """The messages, rendered again from the version and the sample, and the replies that are kept.

    A judge that is asked in both orders gets two messages, the baseline's output first in the first of them.
    """
    keys = _body(evaluation).call_keys or []
    kept = Call.objects.in_bulk(keys)
    replies = [kept[key] for key in keys if key in kept]
    return Exchange(_messages(evaluation), replies, len(keys) - len(replies))


def _messages(evaluation: Evaluation) -> list[list[tuple[str, Any, str]]]:
    try:
        work = work_of(evaluation.run.version)
    except BadConfig:
        return []
    question = work.kind.message(work.config, sample_of(evaluation.output, evaluation.baseline_output))
    questions = (question, question.exchanged) if question else ()
    return [pieces for each in questions if each and (pieces := _pieces(each))]


def _pieces(question: Question) -> list[tuple[str, Any, str]]:
    pieces = [(part.title, part, part.text.strip("\r\n")) for part in question.parts]
    return [piece for piece in pieces if piece[2].strip() or piece[1].path]
