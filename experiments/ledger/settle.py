"""Settling: writing scores, each once. The fence is the row's state, not the lease: the first score that comes is kept.

One short transaction holds everything that belongs together: replies, rows, their words, the run's count of changes. A
kill inside it leaves nothing; a late worker whose row has been settled by another writes nothing about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db import DataError, IntegrityError, connection, transaction
from django.db.models import Max

from evalstudio.calls.replies import Reply
from evaluators.core import Score, Status, Why
from experiments.ledger.keeping import keep_replies, keep_words, now_sql, storable
from experiments.models import Experiment, Run, RunLabel
from experiments.outputs.answering import Answer, keep_answers

MOST_ROWS = 500  # a transaction
LABEL_LENGTH = RunLabel._meta.get_field("label").max_length

Scored = tuple[int, Score]  # an evaluation's id and what it came to


@dataclass
class Book:
    """What a worker remembers of a run while it settles rows of it."""

    run_id: int
    keeps_details: bool = True
    answers_of: int | None = None  # the experiment that gets its answers as outputs
    labels: dict[str, int] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)


def settle(book: Book, scored: Sequence[Scored]) -> set[int]:
    """Store scores of one run; the ids of the rows that were still pending and are settled now.

    A score that the database refuses is stored as failed, so that it holds up no other.
    """
    settled: set[int] = set()
    for start in range(0, len(scored), MOST_ROWS):
        settled |= _settle_some(book, scored[start : start + MOST_ROWS])
    return settled


def _settle_some(book: Book, scored: Sequence[Scored]) -> set[int]:
    try:
        return _settle_together(book, scored)
    except (IntegrityError, DataError) as error:
        if len(scored) > 1:
            return set().union(*(_settle_some(book, [one]) for one in scored))
        row_id, _ = scored[0]
        refused = Score.failed(Why.BROKEN, f"The score could not be stored: {storable(str(error))[:300]}")
        return _settle_together(book, [(row_id, refused)])


def _settle_together(book: Book, scored: Sequence[Scored]) -> set[int]:
    labels = _label_ids(book, {label for _, score in scored for label in _labels(score)})
    with transaction.atomic():
        replies = [reply for _, score in scored for reply in score.replies]
        if book.keeps_details:
            keep_replies(replies)
        settled = _update_rows(scored, labels)
        kept = ((row_id, score) for row_id, score in scored if row_id in settled)
        said = kept if book.keeps_details else ((row_id, _bare(score)) for row_id, score in kept)
        keep_words(said, partial(_id_in, labels))
        answers = {row_id: score for row_id, score in scored if row_id in settled and isinstance(score, Answer)}
        if book.answers_of and answers:
            keep_answers(book.answers_of, answers)
        _count(book, replies)
        if book.answers_of and answers:  # under the run's lock, which who closes the experiment takes as well
            Experiment.objects.filter(pk=book.answers_of, is_open=False).update(is_open=True)
    return settled


def _labels(score: Score) -> Iterator[str]:
    """The labels that a score names."""
    yield from (label for label in (score.label, score.expected) if label is not None)
    yield from score.label_scores


def _bare(score: Score) -> Score:
    """A score with its numbers alone."""
    return replace(score, reason="", replies=(), logs=())


def _update_rows(scored: Sequence[Scored], labels: Mapping[str, int]) -> set[int]:
    """Settle those rows that are still pending, in one statement; their ids."""
    values = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s, %s)"] * len(scored))
    parameters: list[Any] = []
    for row_id, score in scored:
        label_id, expected_id = _id_in(labels, score.label), _id_in(labels, score.expected)
        value = score.value if score.status is Status.SCORED else None
        parameters += (
            *(row_id, int(score.status), value, label_id, expected_id, score.passed),
            *(score.why or "", score.latency_ms, score.cost_usd),
        )
    # The casts tell PostgreSQL the types of columns that hold nothing but NULL.
    with connection.cursor() as cursor:
        cursor.execute(
            f"""UPDATE experiments_evaluation SET
                  state = CAST(fresh.column2 AS smallint),
                  score = CAST(fresh.column3 AS double precision),
                  label_id = CAST(fresh.column4 AS integer),
                  expected_id = CAST(fresh.column5 AS integer),
                  passed = CAST(fresh.column6 AS boolean),
                  why = CAST(fresh.column7 AS varchar),
                  latency_ms = CAST(fresh.column8 AS double precision),
                  cost_usd = CAST(fresh.column9 AS double precision),
                  settled_at = {now_sql()}
                FROM (VALUES {values}) AS fresh
                WHERE experiments_evaluation.id = fresh.column1
                  AND experiments_evaluation.state <= {int(Status.AWAITING)}
                RETURNING experiments_evaluation.id""",  # noqa: S608 - no outside text in it
            parameters,
        )
        return {row_id for (row_id,) in cursor.fetchall()}


def _id_in(labels: Mapping[str, int], label: str | None) -> int | None:
    return None if label is None else labels.get(_label(label))


def _count(book: Book, replies: Sequence[Reply]) -> None:
    """The run has changed: its revision, what it has spent, what the endpoint would not take."""
    _note_left_out(book, {name for reply in replies for name in reply.left_out})
    paid = [reply.cost_usd for reply in replies if not reply.from_cache and reply.cost_usd is not None]
    spent = sum(paid) if paid else None
    with connection.cursor() as cursor:
        cursor.execute(
            """UPDATE experiments_run SET
                 revision = revision + 1,
                 spent_usd = COALESCE(spent_usd + CAST(%s AS double precision), spent_usd, CAST(%s AS double precision))
               WHERE id = %s""",
            [spent, spent, book.run_id],
        )


def _note_left_out(book: Book, left_out: set[str]) -> None:
    if left_out - book.left_out:
        run = Run.objects.select_for_update().get(pk=book.run_id)
        book.left_out = left_out | set(run.left_out)
        Run.objects.filter(pk=book.run_id).update(left_out=sorted(book.left_out))


def _label_ids(book: Book, labels: Iterable[str]) -> Mapping[str, int]:
    """The ids of labels by text; new ones are numbered under the run's lock and remembered."""
    missing = sorted({_label(label) for label in labels} - book.labels.keys())
    if missing:
        with transaction.atomic():
            Run.objects.select_for_update().get(pk=book.run_id)
            stored = RunLabel.objects.filter(run=book.run_id)
            book.labels = dict(stored.values_list("label", "label_id"))
            last = stored.aggregate(last=Max("label_id"))["last"] or 0
            fresh = [label for label in missing if label not in book.labels]
            numbered = {label: last + number for number, label in enumerate(fresh, 1)}
            RunLabel.objects.bulk_create(
                RunLabel(run_id=book.run_id, label_id=label_id, label=label) for label, label_id in numbered.items()
            )
        book.labels |= numbered
    return book.labels


def _label(label: str) -> str:
    return storable(label)[:LABEL_LENGTH]
