"""Three results or more against one baseline: what one evaluator, or any, says of the cases that all answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from experiments.analysis.comparing.arrays import EQUAL
from experiments.analysis.comparing.figures import Figure, corrected
from experiments.analysis.comparing.judges import Judges, Subject
from experiments.analysis.comparing.kept import Comparison, comparisons
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.names import BEST, FLAGS, HAS_ERROR, KEY, OUTPUTS, PARTNERS, WORST
from experiments.models import Experiment

if TYPE_CHECKING:
    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

SHOWS = ("all", "regressed", "improved", "disagree", "errors")


@dataclass(frozen=True, slots=True)
class Entrant:
    """One compared result with all that judged it and the baseline.

    `subject` and `figure` are those of the version that counts; None where that did not, or where any counts.
    """

    experiment: Experiment
    judged: list[tuple[Subject, Figure]]
    subject: Subject | None
    figure: Figure | None

    @property
    def subjects(self) -> list[Subject]:
        """What its gains are by."""
        return [self.subject] if self.subject else [subject for subject, _ in self.judged]


@dataclass(frozen=True, slots=True)
class Gains:
    """What one entrant gained on the cases that all answered: by the worst and by the best of what counts."""

    low: NDArray[float32]
    high: NDArray[float32]
    has_error: NDArray[bool_]

    @property
    def regressed(self) -> NDArray[bool_]:
        return self.low < -EQUAL

    @property
    def improved(self) -> NDArray[bool_]:
        return (self.high > EQUAL) & (self.high <= 1)


@dataclass(frozen=True)
class Several:
    """`outputs` are those of the first entrant for the cases that all answered; `gains` of the `ranked` entrants."""

    first: Comparison  # of the first entrant and the baseline
    entrants: list[Entrant]
    outputs: NDArray[int64]
    ranked: list[Entrant]
    gains: list[Gains]

    def kept(self) -> dict[str, NDArray[Any]]:
        """What each filter keeps."""
        import numpy

        nothing = numpy.zeros(len(self.outputs), bool)
        regressed, improved, errors = (
            numpy.logical_or.reduce([nothing, *(getattr(each, name) for each in self.gains)])
            for name in ("regressed", "improved", "has_error")
        )
        return {
            "all": ~nothing,
            "regressed": regressed,
            "improved": improved,
            "disagree": regressed & improved,
            "errors": errors,
        }

    def listing(self, show: str, sort: str, on: int | None = None) -> Listing:
        """By the worst gain of any entrant, or by that of the ranked entrant whose number is `on`."""
        import numpy

        kept = self.kept()[show]
        chosen = self.gains if on is None else [self.gains[on]]
        if sort == "case" or not chosen:
            order = numpy.argsort(self.outputs, kind="stable")
            order = order[kept[order]]
            return Listing(self.outputs[order], numpy.zeros(len(order), "f4"))
        keys = [numpy.where(each.high <= 1, -each.high, each.high) if sort == "high" else each.low for each in chosen]
        return Listing(self.outputs[kept], numpy.minimum.reduce(keys)[kept])


def several(
    experiments: Sequence[Experiment], baseline: Experiment, judges: Sequence[Judges], version_id: int | None
) -> Several:
    """The experiments against a baseline by one version, by any without. One query where the comparisons are kept."""
    import numpy

    chosen = [_by(version_id, each.subjects) for each in judges]
    keys = [f"{KEY}{subject.run.pk}" for subject in chosen if subject] if version_id else [WORST, BEST]
    found = comparisons(experiments, baseline, [each.subjects for each in judges], {OUTPUTS, PARTNERS, FLAGS, *keys})
    entrants = _corrected(
        Entrant(each.experiment, each.judged, subject, dict(each.judged).get(subject) if subject else None)
        for subject, each in zip(chosen, found, strict=True)
    )
    common = found[0].array(PARTNERS)
    for each in found[1:]:
        common = numpy.intersect1d(common, each.array(PARTNERS), assume_unique=True)
    ranked = [
        (entrant, each)
        for entrant, each in zip(entrants, found, strict=True)
        if entrant.subject or (version_id is None and entrant.judged)
    ]
    outputs = _at(common, found[0].array(PARTNERS), found[0].array(OUTPUTS))
    gains = [_gains(common, entrant, each) for entrant, each in ranked]
    return Several(found[0], entrants, outputs, [entrant for entrant, _ in ranked], gains)


def _by(version_id: int | None, subjects: Sequence[Subject]) -> Subject | None:
    return next((each for each in subjects if each.version.pk == version_id), None)


def _gains(common: NDArray[int64], entrant: Entrant, found: Comparison) -> Gains:
    partners = found.array(PARTNERS)
    if entrant.subject:
        keys = _at(common, partners, found.array(f"{KEY}{entrant.subject.run.pk}"))
        return Gains(keys, keys, (keys == 2) | (keys == 3))
    low, high, flags = (_at(common, partners, found.array(name)) for name in (WORST, BEST, FLAGS))
    return Gains(low, high, flags & HAS_ERROR > 0)


def _at(common: NDArray[int64], partners: NDArray[int64], column: NDArray[Any]) -> NDArray[Any]:
    """A column's entries for some partners, all of which are there."""
    import numpy

    if numpy.array_equal(common, partners):
        return column
    order = numpy.argsort(partners, kind="stable")
    return column[order[numpy.searchsorted(partners, common, sorter=order)]]


def _corrected(found: Iterable[Entrant]) -> list[Entrant]:
    """With verdicts that hold for as many comparisons with the baseline as there are."""
    entrants = list(found)
    figures = iter(corrected([each.figure for each in entrants if each.figure]))
    return [replace(each, figure=next(figures)) if each.figure else each for each in entrants]
