"""What two experiments came to against one another: worked out once, then kept as long as what it was made from.

The figures are kept as JSON and the arrays packed, each under a name of its own, so that a page reads but the few that
it shows. Without numpy nothing but the figures can be read, which is all that a page without cases needs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import transaction
from django.db.models import Count, Max

from evalstudio.projects.models import Project
from evaluators.stats.paired import BETTER, WORSE
from experiments.analysis.comparing.figures import Figure
from experiments.analysis.comparing.judges import Subject
from experiments.analysis.comparing.names import CHANGED, FIGURES, OUTPUTS, SHAPES, kind_of
from experiments.analysis.comparing.working import work_out
from experiments.models import Experiment, Output, PairColumn, Source

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 2  # of what is kept: raised whenever the code writes it otherwise
MOST = 200  # comparisons that are kept, the latest


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
    def has_attempts(self) -> bool:
        """Whether pairs are more than cases, since both sides answered some case several times."""
        return bool(self.facts["cases"] < self.facts["outputs"])

    @property
    def changed(self) -> NDArray[Any] | None:
        """The compared result's outputs whose texts differ, where they are known."""
        return self.array(CHANGED) if CHANGED in self.kept else None

    def array(self, name: str) -> NDArray[Any]:
        """A column over the pairs, by its name; KeyError for one that was not asked for."""
        import numpy

        return numpy.frombuffer(self.kept[name], dtype=SHAPES[kind_of(name)])


def comparison(
    experiment: Experiment, baseline: Experiment, subjects: list[Subject], wanted: Collection[str] = ()
) -> Comparison:
    """The comparison with the wanted columns. One query where it is kept, one more for each side that is still open.

    `wanted` may be names of columns that there are not: those are left out.
    """
    return comparisons([experiment], baseline, [subjects], wanted)[0]


def comparisons(
    experiments: Sequence[Experiment],
    baseline: Experiment,
    subjects: Sequence[list[Subject]],
    wanted: Collection[str] = (),
) -> list[Comparison]:
    """Several experiments against one baseline, likewise in one query."""
    rows = PairColumn.objects.filter(
        experiment__in=experiments, baseline=baseline, name__in={FIGURES, CHANGED, *wanted}
    ).values_list("experiment", "name", "made_from", "data")
    of_baseline = _outputs_of(baseline)
    kept: dict[int, dict[str, tuple[str, bytes]]] = {experiment.pk: {} for experiment in experiments}
    for pk, name, made_from, data in rows:
        kept[pk][name] = (made_from, bytes(data))
    return [
        _comparison(experiment, baseline, of, kept[experiment.pk], f"{_outputs_of(experiment)}|{of_baseline}", wanted)
        for experiment, of in zip(experiments, subjects, strict=True)
    ]


def _comparison(
    experiment: Experiment,
    baseline: Experiment,
    subjects: list[Subject],
    rows: Mapping[str, tuple[str, bytes]],
    of_outputs: str,
    wanted: Collection[str],
) -> Comparison:
    """From what is kept, as far as that still holds."""
    stamps = {CHANGED: digest(of_outputs)}
    made_from = _stamp(of_outputs, subjects)
    kept = {name: data for name, (made, data) in rows.items() if made == stamps.get(name, made_from)}
    if FIGURES not in kept or (wanted and OUTPUTS not in kept):
        made = work_out(experiment, baseline, subjects)
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
    return digest("|".join((str(FORMAT), of_outputs, *runs)))


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
