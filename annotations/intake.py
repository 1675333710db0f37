"""Queues by rule: what has come since the queue was made is pulled into it, again and again.

A rule reads experiments one by one and remembers of each a mark that changes when there may be more to read. So asking
too often costs next to nothing, asking late loses nothing, and what was brought in once is never brought in again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Abs

from annotations.models import Pulled, Queue
from annotations.queueing import fill
from evaluators.models import Evaluator
from experiments.models import Evaluation, Experiment, Output, Purpose, Run

LATEST = 200  # experiments that a rule looks at
FAR = 0.5  # scores that are further apart disagree, where no thresholds decide
FINEST = 10**6  # steps of a share

Found = Iterator[tuple[Experiment, str, QuerySet[Output]]]  # an experiment, its mark, what the rule keeps of it


def pull(queue: Queue) -> int:
    """Bring in what its rule finds; how many items are new. Raises CannotStart, BadConfig as `fill` does."""
    if queue.intake is None or queue.closed_at is not None:
        return 0
    marks = dict(Pulled.objects.filter(queue=queue).values_list("experiment", "mark"))
    total = 0
    for experiment, mark, outputs in RULES[queue.intake["rule"]](queue, queue.intake):
        if marks.get(experiment.pk) == mark:
            continue
        if outputs.exists():
            total += fill(queue, experiment, None, outputs, queue.author)
        Pulled.objects.update_or_create(queue=queue, experiment=experiment, defaults={"mark": mark})
    return total


def told(queue: Queue) -> str:
    """The rule in words; empty for a queue without one."""
    asked = queue.intake or {}
    ids = [asked.get("evaluator") or 0, asked.get("other") or 0]
    known = dict(Evaluator.objects.filter(project=queue.project_id, pk__in=ids).values_list("pk", "name"))
    one, other = (known.get(pk, "?") for pk in ids)
    match asked.get("rule"):
        case "failed":
            return f"whatever does not pass {one}"
        case "disagreement":
            return f"what {one} and {other} decide differently"
        case "share":
            return f"{asked['share'] * 100:g} % of new outputs"
    return ""


# --- Rules ------------------------------------------------------------------------------------------------------------
def _failed(queue: Queue, asked: dict[str, Any]) -> Found:
    for experiment, runs in _runs_by_experiment(queue, asked["evaluator"]):
        rows = Evaluation.objects.filter(run__in=runs, passed=False, settled_at__gte=queue.created_at)
        yield experiment, _mark(runs), _outputs(experiment, rows)


def _disagreement(queue: Queue, asked: dict[str, Any]) -> Found:
    for experiment, runs in _runs_by_experiment(queue, asked["evaluator"], asked["other"]):
        mine = [run for run in runs if run.version.evaluator_id == asked["evaluator"]]
        theirs = [run for run in runs if run.version.evaluator_id == asked["other"]]
        other = Evaluation.objects.filter(run__in=theirs, output=OuterRef("output"), score__isnull=False).order_by("pk")
        rows = Evaluation.objects.filter(run__in=mine, score__isnull=False).annotate(
            other_score=Subquery(other.values("score")[:1]), other_passed=Subquery(other.values("passed")[:1])
        )
        decided = Q(passed__isnull=False, other_passed__isnull=False)
        differ = decided & (Q(passed=True, other_passed=False) | Q(passed=False, other_passed=True))
        apart = rows.annotate(apart=Abs(F("score") - F("other_score")))
        kept = apart.filter(differ | (~decided & Q(apart__gt=FAR)))
        yield experiment, _mark(runs), _outputs(experiment, kept)


def _share(queue: Queue, asked: dict[str, Any]) -> Found:
    """Which outputs are taken follows from their ids, so that looking again finds the same ones."""
    latest = Experiment.objects.filter(project=queue.project_id, created_at__gte=queue.created_at).order_by("-pk")
    recent = {each.pk: each for each in latest.select_related("system")[:LATEST]}
    counted = Output.objects.filter(experiment__in=recent).order_by().values("experiment")
    for pk, n, last in counted.annotate(n=Count("pk"), last=Max("pk")).values_list("experiment", "n", "last"):
        ids = Output.objects.filter(experiment=pk).values_list("pk", flat=True)
        taken = [each for each in ids if _is_drawn(queue.pk, each, asked["share"])]
        yield recent[pk], f"{n} to {last}", Output.objects.filter(pk__in=taken)


def _is_drawn(queue_id: int, output_id: int, share: float) -> bool:
    digest = hashlib.sha256(f"{queue_id}:{output_id}".encode()).digest()
    return int.from_bytes(digest[:8]) % FINEST < share * FINEST


RULES = {"failed": _failed, "disagreement": _disagreement, "share": _share}


def _runs_by_experiment(queue: Queue, *evaluators: int) -> Iterator[tuple[Experiment, list[Run]]]:
    """The current runs of these evaluators that changed since the queue was made, by experiment."""
    runs = Run.objects.filter(
        version__evaluator__in=evaluators,
        experiment__project=queue.project_id,
        baseline=None,
        is_current=True,
        purpose=Purpose.RESULTS,
    ).filter(Q(finished_at=None) | Q(finished_at__gte=queue.created_at))
    found: dict[int, list[Run]] = {}
    for run in runs.select_related("experiment__system", "version").order_by("-pk")[: LATEST * len(evaluators)]:
        found.setdefault(run.experiment_id, []).append(run)
    for together in found.values():
        yield together[0].experiment, together


def _mark(runs: list[Run]) -> str:
    return " ".join(f"{run.pk}.{run.revision}" for run in sorted(runs, key=lambda run: run.pk))[:200]


def _outputs(experiment: Experiment, rows: QuerySet[Evaluation]) -> QuerySet[Output]:
    return Output.objects.filter(experiment=experiment, pk__in=rows.values("output"))
