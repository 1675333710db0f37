"""The noise floor of an evaluator: some outputs judged again and again, and what that says of its figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.cache import cache
from django.db.models import Max

from evalstudio.web.numbers import NBSP, points
from evaluators.core import FLIPPED
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.stats.estimate import Estimate
from evaluators.stats.noise import Judgement, Noise, noise
from experiments.analysis.pairing import outputs_of
from experiments.analysis.sampling import sample_ids
from experiments.analysis.summary import summaries
from experiments.analysis.versus import winner
from experiments.ledger.progress import OVER
from experiments.ledger.start import CannotStart, start_sample
from experiments.models import Evaluation, Experiment, Purpose, Run, RunState

MOST_MEASURED = 6  # measurements that the history of an evaluator shows
MOST_FLIPS = 3  # comparisons whose flip rates are shown
SCALES = (0.05, 0.25, 1.0)  # the mark of a floor reaches so far to either side of zero, the least that holds it


@dataclass(frozen=True)
class Measured:
    """One measurement: `run` judged each of its outputs several times; `over` outputs are in its experiment."""

    run: Run
    noise: Noise
    over: int

    @property
    def floor(self) -> float | None:
        """The smallest difference worth believing between two runs over the whole experiment, a share."""
        return self.noise.floor(self.over) if self.over else None

    @property
    def floor_interval(self) -> tuple[float, float] | None:
        return self.noise.floor_interval(self.over) if self.over else None

    @property
    def floor_points(self) -> str | None:
        """The floor in words: "1.8 pts"."""
        return None if self.floor is None else _points(self.floor)

    @property
    def interval_points(self) -> str | None:
        """Its interval in words: "1.2 to 2.3 pts". None where nothing differed: the agreement says how sure."""
        ends = None if self.always_same else self.floor_interval
        return f"{ends[0] * 100:.1f} to {_points(ends[1])}" if ends else None

    @property
    def spoken(self) -> str:
        """The mark as a sentence."""
        interval = f", 95{NBSP}% interval {self.interval_points}" if self.interval_points else ""
        return f"Noise floor {self.floor_points}{interval}"

    @property
    def always_same(self) -> bool:
        """Whether no two judgements of an output differed at all."""
        return self.noise.deviation == 0 and self.noise.agreement.value == 1

    @cached_property
    def scale(self) -> float:
        """How far the mark of the floor reaches to either side of zero."""
        most = self.floor_interval[1] if self.floor_interval else self.floor or 0.0
        return next((scale for scale in SCALES if most <= scale), SCALES[-1])

    @property
    def ends(self) -> tuple[str, str]:
        """The two ends of that mark, in points."""
        return points(-self.scale, 0), points(self.scale, 0)

    @cached_property
    def places(self) -> dict[str, str]:
        """The floor and its interval as places on a track whose middle is zero, in per cent."""
        low, high = self.floor_interval or (self.floor or 0.0, self.floor or 0.0)
        known = {"floor": self.floor or 0.0, "low": low, "high": high}
        shares = {name: min(1.0, share / self.scale) * 50 for name, share in known.items()}
        place = {name: f"{50 + share:.1f}%" for name, share in shares.items()}
        return place | {"from": f"{50 - shares['floor']:.1f}%", "width": f"{2 * shares['floor']:.1f}%"}


def _points(share: float) -> str:
    return f"{share * 100:.1f}{NBSP}pts"


def measure(
    version: EvaluatorVersion,
    experiment: Experiment,
    started_by: Any,
    *,
    outputs: int,
    repeats: int,
    baseline: Experiment | None = None,
) -> Run:
    """Judge some outputs `repeats` times each, never from a reply that is kept. Raises CannotStart."""
    if measuring(version):
        raise CannotStart(f"{version} is being measured already. Wait until that is done, or stop it.")
    ids = sample_ids(experiment, outputs, baseline)
    if not ids:
        raise CannotStart("There are no outputs to judge.")
    return start_sample(
        version,
        experiment,
        started_by,
        purpose=Purpose.NOISE,
        output_ids=ids,
        baseline=baseline,
        first_repeat=_unused_repeat(version, ids),
        repeats=repeats,
    )


def measuring(version: EvaluatorVersion) -> Run | None:
    """The measurement of this version that is under way."""
    going = Run.objects.filter(version=version, purpose=Purpose.NOISE).exclude(state__in=OVER)
    return going.select_related("version__evaluator", "experiment__system", "experiment__project").last()


def _unused_repeat(version: EvaluatorVersion, output_ids: Sequence[int]) -> int:
    """The first repeat that no judgement of these outputs had. Replies are kept by repeat; 0 is that of all results."""
    used = Evaluation.objects.filter(run__version=version, output__in=output_ids).aggregate(most=Max("repeat"))["most"]
    return (used or 0) + 1


def measurements(evaluator: Evaluator) -> list[Measured]:
    """The latest measurements of an evaluator that are over, the newest first. Two queries, and one for each."""
    over = Run.objects.filter(version__evaluator=evaluator, purpose=Purpose.NOISE, state__in=OVER)
    related = over.select_related(
        "version__evaluator", "experiment__system", "experiment__project", "baseline__system", "connection"
    )
    runs = list(related.order_by("-pk")[:MOST_MEASURED])
    judged = _judged(runs)
    return [
        Measured(run, noise(judged[run.pk], run.repeats), outputs_of(run.experiment, run.baseline).count())
        for run in runs
    ]


def noises_of(versions: Iterable[EvaluatorVersion]) -> dict[int | None, Noise]:
    """The latest measurement of each version that is over, by the version's id.

    One query; one more for those that nobody has looked at since they changed.
    """
    over = Run.objects.filter(version__in=list(versions), purpose=Purpose.NOISE, state__in=OVER).order_by("pk")
    latest = {run.version_id: run for run in over.only("version", "repeats", "revision")}
    keys = {run.pk: f"noise-of-run:{run.pk}:{run.revision}" for run in latest.values()}
    known = cache.get_many(keys.values())
    judged = _judged([run for run in latest.values() if keys[run.pk] not in known])
    for run in latest.values():
        if run.pk in judged:
            known[keys[run.pk]] = noise(judged[run.pk], run.repeats)
            cache.set(keys[run.pk], known[keys[run.pk]], timeout=None)
    return {version: known[keys[run.pk]] for version, run in latest.items()}


def with_floor(advice: str, noise: Noise | None, n: int) -> str:
    """What is said where nothing can be told, with the noise floor over n outputs where it was measured."""
    floor = noise.floor(n) if noise and n else None
    if floor is None or not advice:
        return advice
    end = "." if advice.endswith(".") else ""
    return f"{advice.removesuffix('.')}; the evaluator's own noise floor is {_points(floor)}{end}"


def _judged(runs: Sequence[Run]) -> dict[int, dict[int, list[Judgement]]]:
    """For each run its scored judgements by output; an output without any has an empty list. One query.

    Of a comparison the verdict is who won, since its label tells but one of its orders.
    """
    found: dict[int, dict[int, list[Judgement]]] = {run.pk: {} for run in runs}
    if not found:
        return {}
    columns = ("run", "output", "baseline_output", "score", "label_id", "passed")
    for run, output, baseline, score, label, passed in Evaluation.objects.filter(run__in=runs).values_list(*columns):
        scored = found[run].setdefault(output, [])
        if score is not None:
            name = winner(score) if baseline else None if label is None else str(label)
            scored.append(Judgement(score, name, passed))
    return found


@dataclass(frozen=True, slots=True)
class Flips:
    """How often the two orders of a comparison named different winners, in one run."""

    run: Run
    rate: Estimate


def flips(version: EvaluatorVersion) -> list[Flips]:
    """The flip rates of the latest comparisons that a version made, the newest first."""
    runs = Run.objects.filter(version=version, purpose=Purpose.RESULTS, baseline__isnull=False, state=RunState.FINISHED)
    latest = list(
        runs.select_related("version__evaluator", "experiment__system", "baseline__system").order_by("-pk")[:MOST_FLIPS]
    )
    known = summaries(latest)
    return [
        Flips(run, known[run.pk].measures[FLIPPED.name]) for run in latest if FLIPPED.name in known[run.pk].measures
    ]


def cost_of_one(version: EvaluatorVersion) -> float | None:
    """What one judgement of a version has cost so far, in US dollars, by its latest run that knows; else None."""
    runs = Run.objects.filter(version=version, spent_usd__isnull=False, state__in=OVER).select_related(
        "version__evaluator"
    )
    latest = list(runs.order_by("-pk")[:1])
    return summaries(latest)[latest[0].pk].mean_cost_usd if latest else None
