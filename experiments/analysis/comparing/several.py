"""Three results or more: one evaluator's scores of the cases that all of them answered, against one baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.analysis.comparing.arrays import EQUAL
from experiments.analysis.comparing.figures import Figure, corrected
from experiments.analysis.comparing.judges import Judges, Subject
from experiments.analysis.comparing.kept import comparisons
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.names import KEY, OUTPUTS, PARTNERS
from experiments.models import Experiment

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray

SHOWS = ("all", "regressed", "improved", "disagree", "errors")


@dataclass(frozen=True, slots=True)
class Entrant:
    """One compared result. `subject` and `figure` are None where the version did not judge it and the baseline."""

    experiment: Experiment
    subject: Subject | None
    figure: Figure | None


@dataclass(frozen=True)
class Several:
    """`outputs` are those of the first entrant for the cases that all entrants answered, `keys` each one's gains."""

    entrants: list[Entrant]
    outputs: NDArray[int64]
    keys: list[NDArray[float32]]

    def kept(self) -> dict[str, NDArray[Any]]:
        """What each filter keeps."""
        import numpy

        ups = [(keys > EQUAL) & (keys <= 1) for keys in self.keys]
        downs = [keys < -EQUAL for keys in self.keys]
        nothing = numpy.zeros(len(self.outputs), bool)
        regressed, improved = (numpy.logical_or.reduce([nothing, *some]) for some in (downs, ups))
        return {
            "all": ~nothing,
            "regressed": regressed,
            "improved": improved,
            "disagree": regressed & improved,
            "errors": numpy.logical_or.reduce([nothing, *((keys == 2) | (keys == 3) for keys in self.keys)]),
        }

    def listing(self, show: str, sort: str, on: int | None = None) -> Listing:
        """By the worst gain of any entrant, or by that of the entrant whose number is `on`."""
        import numpy

        kept = self.kept()[show]
        chosen = self.keys if on is None else [self.keys[on]]
        if sort == "case" or not chosen:
            order = numpy.argsort(self.outputs, kind="stable")
            order = order[kept[order]]
            return Listing(self.outputs[order], numpy.zeros(len(order), "f4"))
        if sort == "high":
            chosen = [numpy.where(keys <= 1, -keys, keys) for keys in chosen]
        return Listing(self.outputs[kept], numpy.minimum.reduce(chosen)[kept])


def several(
    experiments: Sequence[Experiment], baseline: Experiment, judges: Sequence[Judges], version_id: int | None
) -> Several:
    """The experiments against a baseline by one version. One query where the comparisons are kept."""
    import numpy

    chosen = [_by(version_id, each.subjects) for each in judges]
    names = {OUTPUTS, PARTNERS, *(f"{KEY}{subject.run.pk}" for subject in chosen if subject)}
    found = comparisons(experiments, baseline, [each.subjects for each in judges], names)
    entrants, columns = [], []
    for subject, each in zip(chosen, found, strict=True):
        figure = next((figure for one, figure in each.judged if one == subject), None)
        entrants.append(Entrant(each.experiment, subject, figure))
        keys = each.array(f"{KEY}{subject.run.pk}") if subject else None
        columns.append((each.array(PARTNERS), each.array(OUTPUTS), keys))
    common = columns[0][0]
    for partners, *_ in columns[1:]:
        common = numpy.intersect1d(common, partners, assume_unique=True)
    gains = [_at(common, partners, column) for partners, _, column in columns if column is not None]
    return Several(_corrected(entrants), _at(common, columns[0][0], columns[0][1]), gains)


def _by(version_id: int | None, subjects: Sequence[Subject]) -> Subject | None:
    both = (each for each in subjects if not each.is_comparative)
    return next((each for each in both if each.version.pk == version_id), None)


def _at(common: NDArray[int64], partners: NDArray[int64], column: NDArray[Any]) -> NDArray[Any]:
    """A column's entries for some partners, all of which are there."""
    import numpy

    if numpy.array_equal(common, partners):
        return column
    order = numpy.argsort(partners, kind="stable")
    return column[order[numpy.searchsorted(partners, common, sorter=order)]]


def _corrected(entrants: list[Entrant]) -> list[Entrant]:
    """With verdicts that hold for as many comparisons with the baseline as there are."""
    figures = iter(corrected([each.figure for each in entrants if each.figure]))
    return [Entrant(each.experiment, each.subject, next(figures) if each.figure else None) for each in entrants]
