"""What every evaluator said about one output, in words; and on demand what it was shown and what came back."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from django.core.exceptions import ObjectDoesNotExist

from evalstudio.calls.models import Call
from evaluators.core import FLIPPED, Sample
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.processing import processor_of
from evaluators.scoring import Passing
from experiments.analysis.grid import label
from experiments.analysis.repeats import Cell, passing_of, together
from experiments.ledger.blocked import Waiting, why_row_waits
from experiments.ledger.progress import NOT_HERE
from experiments.models import Evaluation, EvaluationBody, Output, Run
from experiments.samples import sample_of

if TYPE_CHECKING:
    from evaluators.framing import Question

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True)
class Judgement:
    """One evaluation of an output, with the words behind it and, while it is not settled, why it waits."""

    evaluation: Evaluation
    body: EvaluationBody
    waiting: Waiting | None

    @property
    def cell(self) -> Cell:
        row = self.evaluation
        return Cell(row.state, row.score, row.label, row.passed, row.why)  # type: ignore[attr-defined]  # annotated

    @property
    def calls(self) -> int:
        return len(self.body.call_keys or [])

    @property
    def logs(self) -> str:
        return "\n".join(self.body.logs or [])


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run says of an output: one judgement, or several and the mean of their scores."""

    run: Run
    passing: Passing
    told: Cell
    judgements: list[Judgement]
    tokens_in: int | None
    tokens_out: int | None

    @property
    def version(self) -> EvaluatorVersion:
        return self.run.version

    @property
    def is_judged_here(self) -> bool:
        """Whether its evaluator can be asked again."""
        return self.run.lane not in NOT_HERE

    @property
    def first(self) -> Judgement:
        return self.judgements[0]

    @property
    def evaluation(self) -> Evaluation:
        """The judgement, the first of several."""
        return self.first.evaluation

    @property
    def label(self) -> str | None:
        return self.told.label

    @property
    def cost_usd(self) -> float | None:
        """Of all its judgements."""
        return _total(each.evaluation.cost_usd for each in self.judgements)

    @property
    def latency_ms(self) -> float | None:
        """Of one judgement, the mean."""
        known = [each.evaluation.latency_ms for each in self.judgements if each.evaluation.latency_ms is not None]
        return sum(known) / len(known) if known else None

    @property
    def is_flip(self) -> bool:
        """Whether a comparison was judged otherwise in the other order."""
        return any((each.body.measures or {}).get(FLIPPED.name) for each in self.judgements)


def judgement_of(row: Evaluation) -> Judgement:
    """An evaluation, which comes with its `label`, as a judgement."""
    return Judgement(row, _body(row), why_row_waits(row))


def verdicts(outputs: Iterable[Output], judges: Iterable[Run]) -> list[Verdict]:
    """What runs say of outputs, of which each judges one. Two queries, and a few for each row that still waits."""
    runs = {run.pk: run for run in judges}
    rows = (
        Evaluation.objects.filter(output__in=[output.pk for output in outputs], run__in=runs)
        .order_by("repeat")
        .annotate(label=label())
    )
    found: dict[int, list[Judgement]] = {}
    for row in rows.select_related("body"):
        row.run = runs[row.run_id]
        found.setdefault(row.run_id, []).append(judgement_of(row))
    counts = _tokens(each.body for judgements in found.values() for each in judgements)
    return [_verdict(run, found[pk], counts) for pk, run in runs.items() if pk in found]


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


def _verdict(run: Run, judgements: list[Judgement], counts: dict[str, tuple]) -> Verdict:
    made = [counts[key] for each in judgements for key in each.body.call_keys or [] if key in counts]
    return Verdict(
        run,
        passing_of(run.version),
        together([each.cell for each in judgements], run.version),
        judgements,
        _total(tokens_in for tokens_in, _ in made),
        _total(tokens_out for _, tokens_out in made),
    )


def _total(counts: Iterable[N | None]) -> N | None:
    known = [count for count in counts if count is not None]
    return sum(known[1:], known[0]) if known else None


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
    sample = _seen(evaluation.run, sample_of(evaluation.output, evaluation.baseline_output))
    question = work.kind.message(work.config, sample) if sample else None
    questions = (question, question.exchanged) if question else ()
    return [pieces for each in questions if each and (pieces := _pieces(each))]


def _seen(run: Run, sample: Sample) -> Sample | None:
    """The sample as the run's evaluator saw it; None where the processor fails on it."""
    processor = processor_of(run.experiment.project_id, run.processor) if run.processor else None
    made = processor.applied([sample])[0] if processor else sample
    return made if isinstance(made, Sample) else None


def _pieces(question: Question) -> list[tuple[str, Any, str]]:
    pieces = [(part.title, part, part.text.strip("\r\n")) for part in question.parts]
    return [piece for piece in pieces if piece[2].strip() or piece[1].path]
