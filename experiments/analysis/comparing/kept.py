"""What two experiments came to against one another: worked out once, then kept as long as what it was made from.

The figures are kept as JSON and the arrays packed, each under a name of its own, so that a page reads but the few that
it shows. Without numpy nothing but the figures can be read, which is all that a page without cases needs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max, Q

from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in
from evaluators.core import FLIPPED
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.stats.paired import BETTER, WORSE
from experiments.analysis.comparing import apart
from experiments.analysis.comparing.arrays import EQUAL, KEYS, Rows, keys_of, pairs_of, rows_of_runs, told
from experiments.analysis.comparing.figures import Figure, corrected, of_two, of_verdicts
from experiments.analysis.repeats import passing_of
from experiments.analysis.vectors import MEASURE
from experiments.ledger.progress import is_under_way
from experiments.models import Experiment, Output, PairColumn, Purpose, Run, Source

if TYPE_CHECKING:
    from numpy import bool_, float32, float64
    from numpy.typing import NDArray

FIGURES, CHANGED, OUTPUTS, PARTNERS, FLAGS, WORST, BEST = (
    "figures",
    "changed",
    "outputs",
    "partners",
    "flags",
    "worst",
    "best",
)
KEY, FLIPS = "key:", "flips:"  # before the id of a run
SHAPES = {
    CHANGED: "<i8",
    OUTPUTS: "<i8",
    PARTNERS: "<i8",
    FLAGS: "<u1",
    WORST: "<f4",
    BEST: "<f4",
    KEY: "<f4",
    FLIPS: "<u1",
}
DISAGREES, HAS_ERROR, SYSTEM_ERROR = 1, 2, 4  # bits of FLAGS: of two evaluators, of any of them, of a system
FLIPPED_COLUMN = MEASURE + FLIPPED.name
MOST = 200  # comparisons that are kept, the latest


@dataclass(frozen=True)
class Subject:
    """What is compared by: a version that judged both sides (two runs), or a comparative one (a single run)."""

    run: Run
    baseline_run: Run | None

    @property
    def version(self) -> EvaluatorVersion:
        return self.run.version

    @property
    def evaluator(self) -> Evaluator:
        return self.run.version.evaluator

    @property
    def runs(self) -> list[Run]:
        return [self.run, self.baseline_run] if self.baseline_run else [self.run]

    @property
    def is_comparative(self) -> bool:
        return self.baseline_run is None

    @property
    def is_rehearsal(self) -> bool:
        return any(run.is_rehearsal for run in self.runs)

    @property
    def is_over(self) -> bool:
        return not any(map(is_under_way, self.runs))


class Judges(NamedTuple):
    """What two experiments can be compared by, in the order of evaluators, and the runs of one side alone."""

    subjects: list[Subject]
    alone: list[Run]
    mirrored: int  # runs of comparative evaluators that took the two the other way round


@dataclass(frozen=True)
class Comparison:
    """`figures` are those of `subjects`; `facts` count the pairs, and what has no partner."""

    experiment: Experiment
    baseline: Experiment
    subjects: list[Subject]
    figures: list[Figure]
    facts: dict[str, Any]
    kept: Mapping[str, bytes]

    @cached_property
    def judged(self) -> list[tuple[Subject, Figure]]:
        return list(zip(self.subjects, self.figures, strict=True))

    @property
    def changed(self) -> NDArray[Any] | None:
        """The compared result's outputs whose texts differ, where they are known."""
        return self.array(CHANGED) if CHANGED in self.kept else None

    def array(self, name: str) -> NDArray[Any]:
        """A column over the pairs, by its name; KeyError for one that was not asked for."""
        import numpy

        kind, colon, _ = name.partition(":")
        return numpy.frombuffer(self.kept[name], dtype=SHAPES[kind + colon])


def judges_of(experiment: Experiment, baseline: Experiment, by: str = "") -> Judges:
    """Who judged the two. One query.

    `by` may name a comparative run that was replaced by a later one, which is then shown beside the others.
    """
    own = Q(baseline=None, is_current=True, experiment__in=(experiment, baseline))
    between = Q(experiment=experiment, baseline=baseline) & (Q(is_current=True) | Q(pk=id_in(by) or 0))
    mirror = Q(experiment=baseline, baseline=experiment, is_current=True)
    runs = Run.objects.filter(own | between | mirror, purpose=Purpose.RESULTS).select_related(
        "version__evaluator__project", "version__publication", "connection", "experiment__project"
    )
    every = list(runs.order_by("version__evaluator", "version__number", "pk"))
    found = [run for run in every if run.baseline_id != experiment.pk]
    mine = {run.version_id: run for run in found if run.baseline_id is None and run.experiment_id == experiment.pk}
    theirs = {run.version_id: run for run in found if run.baseline_id is None and run.experiment_id == baseline.pk}
    both = [Subject(run, theirs[pk]) for pk, run in mine.items() if pk in theirs]
    comparative = [Subject(run, None) for run in found if run.baseline_id is not None]
    used = {run.pk for subject in (*both, *comparative) for run in subject.runs}
    return Judges([*both, *comparative], [run for run in found if run.pk not in used], len(every) - len(found))


def comparison(
    experiment: Experiment, baseline: Experiment, subjects: list[Subject], wanted: Collection[str] = ()
) -> Comparison:
    """The comparison with the wanted columns. One query where it is kept, one more for each side that is still open.

    `wanted` may be names of columns that there are not: those are left out.
    """
    of_outputs = outputs_stamp(experiment, baseline)
    made_from = _stamp(of_outputs, subjects)
    of_pair = PairColumn.objects.filter(experiment=experiment, baseline=baseline)
    rows = of_pair.filter(
        Q(name__in={FIGURES, *wanted}, made_from=made_from) | Q(name=CHANGED, made_from=digest(of_outputs))
    )
    kept: dict[str, bytes] = {name: bytes(data) for name, data in rows.values_list("name", "data")}
    if FIGURES not in kept:
        made = _work_out(experiment, baseline, subjects)
        if all(subject.is_over for subject in subjects):
            _keep(experiment, baseline, made_from, made)
        kept |= made
    said = json.loads(kept[FIGURES])
    figures = [Figure.stored(each) for each in said["figures"]]
    return Comparison(experiment, baseline, subjects, figures, said["facts"], kept)


class Recent(NamedTuple):
    """A comparison that somebody looked at: on how many evaluators the one was better than the other, and so on."""

    experiment: Experiment
    baseline: Experiment
    pairs: int
    better: int
    worse: int
    judged: int
    made_at: datetime


def recent(project: Project, n: int = 15) -> list[Recent]:
    """The comparisons that were worked out last. One query."""
    found = PairColumn.objects.filter(name=FIGURES, experiment__project=project).select_related(
        "experiment__system", "experiment__project", "experiment__dataset_version__dataset", "baseline__system"
    )
    return [_recent(each) for each in found.order_by("-made_at")[:n]]


def _recent(kept: PairColumn) -> Recent:
    said = json.loads(bytes(kept.data))
    verdicts = [Figure.stored(each).verdict for each in said["figures"]]
    counts = verdicts.count(BETTER), verdicts.count(WORSE), len(verdicts)
    return Recent(kept.experiment, kept.baseline, said["facts"]["outputs"], *counts, kept.made_at)


def outputs_stamp(experiment: Experiment, baseline: Experiment) -> str:
    """What says whether either side has other outputs than before. A query for each whose outputs may still change."""
    return "|".join(map(_outputs_of, (experiment, baseline)))


def _outputs_of(experiment: Experiment) -> str:
    if not experiment.is_open and experiment.source != Source.PROMPT:  # which a retry opens again
        return f"{experiment.pk}:{experiment.created_at.timestamp()}"
    counted = Output.objects.filter(experiment=experiment).aggregate(n=Count("pk"), last=Max("pk"))
    return f"{experiment.pk}:{counted['n']}:{counted['last']}"


def _stamp(of_outputs: str, subjects: list[Subject]) -> str:
    runs = [f"{run.pk}:{run.revision}" for subject in subjects for run in subject.runs]
    return digest("|".join((of_outputs, *runs)))


def digest(stamp: str) -> str:
    return hashlib.sha256(stamp.encode()).hexdigest()


def _keep(experiment: Experiment, baseline: Experiment, made_from: str, columns: Mapping[str, bytes]) -> None:
    of_pair = PairColumn.objects.filter(experiment=experiment, baseline=baseline)
    with transaction.atomic():
        of_pair.exclude(name=CHANGED).delete()
        PairColumn.objects.bulk_create(
            (
                PairColumn(experiment=experiment, baseline=baseline, name=name, made_from=made_from, data=data)
                for name, data in columns.items()
            ),
            ignore_conflicts=True,  # another request kept the same
        )
        late = PairColumn.objects.filter(name=FIGURES).order_by("-made_at").values_list("experiment", "baseline")
        for one, other in late[MOST : MOST + 20]:
            PairColumn.objects.filter(experiment=one, baseline=other).delete()


# --- The work ---------------------------------------------------------------------------------------------------------
def _work_out(experiment: Experiment, baseline: Experiment, subjects: list[Subject]) -> dict[str, bytes]:
    import numpy

    runs = [run for subject in subjects for run in subject.runs]
    more = [FLIPPED_COLUMN] if any(subject.is_comparative for subject in subjects) else []
    rows = rows_of_runs(runs, more)
    pairs = pairs_of(experiment, baseline, runs, rows)
    columns: dict[str, NDArray[Any]] = {OUTPUTS: pairs.outputs, PARTNERS: pairs.partners}
    figures, every = [], []
    for subject in subjects:
        if subject.is_comparative:
            figure, keys, flips = _verdicts(pairs, rows[subject.run.pk])
            if flips.any():
                columns[f"{FLIPS}{subject.run.pk}"] = flips
        else:
            figure, keys = _both(pairs, subject, rows)
        figures.append(figure)
        every.append(keys)
        columns[f"{KEY}{subject.run.pk}"] = keys
    columns[WORST], columns[BEST] = _over_all(every, len(pairs))
    columns[FLAGS] = _flags(columns[WORST], columns[BEST], every, pairs.has_error)
    facts = {
        "outputs": len(pairs),
        "alone": apart.sides(experiment, baseline, pairs.alone),
        "counts": _counts(columns, len(pairs)),
    }
    packed = {name: column.astype(SHAPES[_kind(name)]).tobytes() for name, column in columns.items()}
    said = {"figures": [each.as_json() for each in corrected(figures)], "facts": facts}
    return {FIGURES: json.dumps(said, default=numpy.ndarray.tolist).encode(), **packed}


def _kind(name: str) -> str:
    kind, colon, _ = name.partition(":")
    return kind + colon


def _both(pairs: Any, subject: Subject, rows: Mapping[int, Rows]) -> tuple[Figure, NDArray[float32]]:
    assert subject.baseline_run is not None
    direction = passing_of(subject.version).direction
    mine, theirs = told(pairs.outputs, rows[subject.run.pk]), told(pairs.partners, rows[subject.baseline_run.pk])
    sign = 1 if direction == "higher" else -1
    keys = keys_of(sign * (mine.scores - theirs.scores), mine, theirs)
    figure = of_two(pairs, mine, theirs, keys, direction)
    sides = {"only_experiment": rows[subject.run.pk], "only_baseline": rows[subject.baseline_run.pk]}
    lonely = {name: _scored(side) - figure.difference.n for name, side in sides.items()}
    return replace(figure, counts=figure.counts | lonely), keys


def _scored(rows: Rows) -> int:
    """How many outputs have a score."""
    import numpy

    return len(numpy.unique(rows["outputs"][~numpy.isnan(rows["scores"])]))


def _verdicts(pairs: Any, rows: Rows) -> tuple[Figure, NDArray[float32], NDArray[bool_]]:
    said = told(pairs.outputs, rows)
    gains: NDArray[float64] = 2 * said.scores - 1
    keys = keys_of(gains, said)
    flips = told(pairs.outputs, {**rows, "scores": rows[FLIPPED_COLUMN]}).scores > 0
    return of_verdicts(pairs, gains, keys, flips), keys, flips


def _over_all(every: list[NDArray[float32]], n: int) -> tuple[NDArray[float32], NDArray[float32]]:
    """Of each pair the worst and the best gain by any evaluator; without any gain the first of what is lacking."""
    import numpy

    if not every:
        return (numpy.full(n, KEYS[max(KEYS)], "f4"),) * 2
    worst = numpy.minimum.reduce(every)
    best = numpy.maximum.reduce([numpy.where(keys <= 1, keys, -keys) for keys in every])
    return worst, numpy.where(best < -1, -best, best)


def _flags(
    worst: NDArray[float32], best: NDArray[float32], every: list[NDArray[float32]], of_system: NDArray[bool_]
) -> NDArray[Any]:
    import numpy

    disagrees = (worst < -EQUAL) & (best > EQUAL) & (best <= 1)
    has_error = of_system.copy()
    for keys in every:
        has_error |= (keys == 2) | (keys == 3)
    return (disagrees * DISAGREES | has_error * HAS_ERROR | of_system * SYSTEM_ERROR).astype(numpy.uint8)


def _counts(columns: Mapping[str, NDArray[Any]], n: int) -> dict[str, int]:
    worst, best, flags = columns[WORST], columns[BEST], columns[FLAGS]
    return {
        "all": n,
        "regressed": int((worst < -EQUAL).sum()),
        "improved": int(((best > EQUAL) & (best <= 1)).sum()),
        "same": int(((worst >= -EQUAL) & (worst <= 1) & (best <= EQUAL)).sum()),
        "disagree": int((flags & DISAGREES > 0).sum()),
        "errors": int((flags & HAS_ERROR > 0).sum()),
        "system_errors": int((flags & SYSTEM_ERROR > 0).sum()),
    }
