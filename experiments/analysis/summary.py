"""What a run says as a whole: its figure with interval, and the count of every state.

A summary is stored with the revision of the run that it was made from and holds as long as that revision does; every
change of a row raises the revision, so no hook anywhere has to remember to throw it away.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.db.models import Count, F, Max, Min, Q, Sum

from evaluators.core import FLIPPED, Measure, Status
from evaluators.stats.estimate import Estimate, Moments, estimate
from experiments.analysis.distribution import Steps, distributions
from experiments.analysis.measured import measured
from experiments.analysis.versus import EVEN, Outcomes
from experiments.analysis.wholes import whole_figure, wholes
from experiments.ledger.progress import is_under_way
from experiments.models import Evaluation, Output, Run

WON = {
    "wins": Count("pk", filter=Q(score__gt=EVEN)),
    "ties": Count("pk", filter=Q(score=EVEN)),
    "losses": Count("pk", filter=Q(score__lt=EVEN)),
}


@dataclass(frozen=True, slots=True)
class Summary:
    """`counts` has every state by name; `below` are the rows on the bad side of the threshold; `steps` their spread.

    `measures` is what else was measured, by name: means, and of a classifier what is told of all cases together.
    `outcomes` is None unless two results were compared.
    """

    estimate: Estimate
    counts: dict[str, int]
    below: int
    mean_cost_usd: float | None
    mean_latency_ms: float | None
    steps: Steps = field(default_factory=list)
    measures: dict[str, Estimate] = field(default_factory=dict)
    outcomes: Outcomes | None = None

    @property
    def asked(self) -> int:
        return sum(self.counts.values())

    @property
    def flips(self) -> int:
        """How many comparisons were judged otherwise in the other order."""
        flipped = self.measures.get(FLIPPED.name)
        return round((flipped.value or 0.0) * flipped.n) if flipped else 0

    @classmethod
    def stored(cls, kept: dict[str, Any]) -> Summary:
        measures = {name: Estimate(**figure) for name, figure in kept.get("measures", {}).items()}
        outcomes = Outcomes(**kept["outcomes"]) if kept.get("outcomes") else None
        return cls(**{**kept, "estimate": Estimate(**kept["estimate"]), "measures": measures, "outcomes": outcomes})


def summaries(runs: list[Run]) -> dict[int, Summary]:
    """The summary of each run: as stored where it still holds, else worked out now. At most five queries.

    What is worked out for a run that is over is stored, so that the next reader finds it: one more query for each.
    """
    known = {run.pk: Summary.stored(run.summary) for run in runs if run.summary is not None and _holds(run)}
    fresh = _work_out([run for run in runs if run.pk not in known])
    for run in runs:
        if run.pk in fresh and not is_under_way(run):
            _store(run, fresh[run.pk])
    return known | fresh


def _store(run: Run, summary: Summary) -> None:
    Run.objects.filter(pk=run.pk, revision=run.revision).update(summary=asdict(summary), summary_revision=run.revision)


def _holds(run: Run) -> bool:
    return run.summary_revision == run.revision


def _work_out(runs: list[Run]) -> dict[int, Summary]:
    if not runs:
        return {}
    by_run: dict[int, dict[int, dict[str, Any]]] = {run.pk: {} for run in runs}
    for row in _sums(runs):
        by_run[row["run"]][row["state"]] = row
    clustered, steps, more = _clustered(runs), distributions(runs), measured(runs)
    found = {
        run.pk: _summary(run, by_run[run.pk], clustered.get(run.pk), steps[run.pk], more.get(run.pk, {}))
        for run in runs
    }
    for run in runs:
        if not run.version_id:
            continue
        summary = found[run.pk]
        figure = whole_figure(run, summary.asked) or summary.estimate
        has_several = summary.estimate.n != summary.estimate.clusters
        measures = summary.measures | wholes(run, summary.asked, has_several=has_several)
        found[run.pk] = replace(summary, estimate=figure, measures=measures)
    return found


def _sums(runs: list[Run]) -> Any:
    return (
        Evaluation.objects.filter(run__in=runs)
        .order_by()
        .values("run", "state")
        .annotate(
            n=Count("pk"),
            total=Sum("score"),
            squares=Sum(F("score") * F("score")),
            least=Min("score"),
            most=Max("score"),
            binary=Count("pk", filter=Q(score=0) | Q(score=1)),
            below=Count("pk", filter=Q(passed=False)),
            cost=Sum("cost_usd"),
            priced=Count("cost_usd"),
            latency=Sum("latency_ms"),
            timed=Count("latency_ms"),
            **(WON if any(run.baseline_id for run in runs) else {}),
        )
    )


def _clustered(runs: list[Run]) -> dict[int, Moments]:
    """Moments by case, for the runs in which a case has several rows; the others need no second query."""
    several = {run.pk for run in runs if run.repeats > 1} | set(
        Output.objects.filter(experiment__runs__in=runs, attempt__gt=0)
        .values_list("experiment__runs", flat=True)
        .distinct()
    )
    if not several:
        return {}
    found: dict[int, list[tuple[Any, Any]]] = {pk: [] for pk in several}
    scored = Evaluation.objects.filter(run__in=several, state=Status.SCORED)
    for run, case, score in scored.values_list("run", "output__case", "score"):
        found[run].append((case, score))
    return {pk: Moments.of(pairs) for pk, pairs in found.items() if pk in {run.pk for run in runs}}


def _summary(
    run: Run,
    rows: dict[int, dict[str, Any]],
    clustered: Moments | None,
    steps: Steps,
    more: dict[Measure, Moments],
) -> Summary:
    counts = {status.name.lower(): rows.get(status, {}).get("n", 0) for status in Status}
    asked, scored = sum(counts.values()), rows.get(Status.SCORED)
    return Summary(
        estimate(clustered or _moments(scored), asked),
        counts,
        sum(row["below"] for row in rows.values()),
        _mean(rows, "cost", "priced"),
        _mean(rows, "latency", "timed"),
        steps,
        {measure.name: estimate(sums, asked, is_share=measure.unit == "share") for measure, sums in more.items()},
        _outcomes(scored) if run.baseline_id else None,
    )


def _outcomes(scored: dict[str, Any] | None) -> Outcomes:
    return Outcomes(scored["wins"], scored["ties"], scored["losses"]) if scored else Outcomes(0, 0, 0)


def _moments(scored: dict[str, Any] | None) -> Moments:
    """Every row is a cluster of its own, so sums over rows are sums over clusters."""
    if scored is None:
        return Moments()
    return Moments(
        n=scored["n"],
        clusters=scored["n"],
        total=scored["total"],
        squares=scored["squares"],
        products=scored["total"],
        sizes=scored["n"],
        least=scored["least"],
        most=scored["most"],
        is_binary=scored["binary"] == scored["n"],
    )


def _mean(rows: dict[int, dict[str, Any]], total: str, count: str) -> float | None:
    n = sum(row[count] for row in rows.values())
    return sum(row[total] or 0.0 for row in rows.values()) / n if n else None
