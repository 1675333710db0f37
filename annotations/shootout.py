"""Several judges against the same grades: which agree with people, and which of those is the cheapest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.db.models import Avg, Count, Q

from annotations.beside import beside
from annotations.judging import closeness, kappa_of
from evaluators.core import Status
from evaluators.models import Evaluator
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import Difference, paired
from experiments.models import Evaluation, Purpose, Run

MARGIN = 0.05  # how much worse than the best a cheaper judge may be, a share
MOST_JUDGES = 50
LEAST_SHARE = 0.5  # of the graded outputs that another judge scored; with fewer, one would leave too few for all


@dataclass(frozen=True, slots=True)
class Contender:
    """A judge on the graded outputs that all of them have scored.

    `behind` is how much less it agrees than the best, from 0 down; None for the best itself. Costs are for 1,000
    outputs, None without prices.
    """

    run: Run
    agreement: Estimate
    kappa: Estimate | None
    cost_usd: float | None
    latency_ms: float | None
    scored: int
    asked: int
    behind: Difference | None = None
    is_good_enough: bool = False
    is_choice: bool = False


@dataclass(frozen=True, slots=True)
class Shootout:
    """Contenders, the best first. `n` outputs are graded and scored by all; `left_out` runs have too few of those."""

    contenders: list[Contender]
    n: int
    left_out: list[Run]


def graded_experiments(people: Evaluator) -> list[Run]:
    """The runs of these people in which something is graded, the latest first."""
    runs = Run.objects.filter(version__evaluator=people, purpose=Purpose.RESULTS, is_current=True)
    some = runs.annotate(graded=Count("evaluation", filter=Q(evaluation__state=Status.SCORED))).filter(graded__gt=0)
    return list(
        some.select_related("version__evaluator", "experiment__system", "baseline__system").order_by("-pk")[:50]
    )


def shootout(people: Run, margin: float) -> Shootout:
    """Every judge of the same outputs, on those that people graded and all of them scored."""
    judges = (
        Run.objects.filter(
            experiment=people.experiment_id, baseline=people.baseline_id, purpose=Purpose.RESULTS, is_current=True
        )
        .exclude(lane="people")
        .select_related("version__evaluator", "connection")
        .order_by("-pk")[:MOST_JUDGES]
    )
    pairs = {run: beside(run, people) for run in judges}
    told = {run: closeness(pair) for run, pair in pairs.items()}
    most = max(map(len, told.values()), default=0)
    taking_part = {run: said for run, said in told.items() if said and len(said) >= LEAST_SHARE * most}
    left_out = [run for run in judges if run not in taking_part]
    shared = set.intersection(*(set(said) for said in taking_part.values())) if taking_part else set()
    if not shared:
        return Shootout([], 0, list(judges))
    facts = _facts(list(taking_part))
    contenders = []
    for run, said in taking_part.items():
        kept = [said[output] for output in shared]
        cost, latency, scored, asked = facts[run.pk]
        agreement = estimate(Moments.of(kept), len(kept))
        contenders.append(Contender(run, agreement, kappa_of(pairs[run], shared), cost, latency, scored, asked))
    contenders.sort(key=lambda each: -(each.agreement.value or 0.0))
    best = told[contenders[0].run]
    ranked = [contenders[0], *(_behind(each, told[each.run], best, shared) for each in contenders[1:])]
    return Shootout(_chosen(ranked, margin), len(shared), left_out)


def _behind(
    contender: Contender, said: dict[int, tuple[int, float]], best: dict[int, tuple[int, float]], shared: set[int]
) -> Contender:
    differences = [(said[output][0], said[output][1] - best[output][1]) for output in shared]
    return replace(contender, behind=paired(differences, len(differences)))


def _chosen(ranked: list[Contender], margin: float) -> list[Contender]:
    """Marks who is surely not worse than the best by more than the margin, and of those the cheapest."""
    good = [
        replace(each, is_good_enough=each.behind is None or (each.behind.low is not None and each.behind.low > -margin))
        for each in ranked
    ]
    priced = [each for each in good if each.is_good_enough and each.cost_usd is not None]
    choice = min(priced, key=lambda each: each.cost_usd or 0.0, default=good[0])
    return [replace(each, is_choice=each is choice) for each in good]


def _facts(runs: list[Run]) -> dict[int, tuple[float | None, float | None, int, int]]:
    """Cost of 1,000 outputs, mean latency, scored rows and all rows, by the run's id. One query."""
    rows = (
        Evaluation.objects.filter(run__in=runs)
        .order_by()
        .values("run")
        .annotate(
            cost=Avg("cost_usd"),
            latency=Avg("latency_ms"),
            scored=Count("pk", filter=Q(state=Status.SCORED)),
            n=Count("pk"),
        )
    )
    return {
        row["run"]: (None if row["cost"] is None else row["cost"] * 1000, row["latency"], row["scored"], row["n"])
        for row in rows
    }
