"""What the address of a comparison asks for, and the pairs that it keeps, in its order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from experiments.analysis.comparing.arrays import EQUAL
from experiments.analysis.comparing.figures import REACHES
from experiments.analysis.comparing.judges import Subject
from experiments.analysis.comparing.kept import Comparison
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.names import (
    BEST,
    DISAGREES,
    FLAGS,
    FLIPS,
    HAS_ERROR,
    KEY,
    OUTPUTS,
    SYSTEM_ERROR,
    WORST,
)
from experiments.models import CaseSpan, Output

if TYPE_CHECKING:
    from numpy import bool_, float32, int64
    from numpy.typing import NDArray

SHOWS = ("all", "regressed", "improved", "same", "changed", "disagree", "flips", "errors", "awaiting", "pending")
FORMER = {"losses": "regressed", "wins": "improved", "ties": "same", "failed": "errors", "unscored": "errors"}
SORTS = ("low", "high", "case")
TEXTS = ("side", "inline", "plain")
LOOKS = ("table", "texts")
ALL = "all"
PENDING, AWAITING = 5.0, 4.0  # keys


@dataclass(frozen=True, slots=True)
class View:
    """`by` is the id of the run that counts, or "all" for any evaluator; the rest is as in the address."""

    by: str = ALL
    show: str = "all"
    sort: str = "low"  # worst regressions first, best improvements first, or by case
    words: str = ""
    between: tuple[float, float] | None = None  # only gains from the first up to the second
    text: str = "side"
    look: str = "table"

    @classmethod
    def of(cls, query: Mapping[str, str], subjects: list[Subject]) -> View:
        """Read an address; whatever it says that does not exist falls back to the default."""
        known = [str(subject.run.pk) for subject in subjects]
        by = query.get("by", "")
        only = known[0] if len(known) == 1 else ALL
        show = query.get("show", "all")
        return cls(
            by if by in known else only,
            _among(SHOWS, FORMER.get(show, show)),
            _among(SORTS, query.get("sort", "")) if subjects else "case",
            query.get("q", "").strip(),
            _between(query),
            _among(TEXTS, query.get("text", "")),
            _among(LOOKS, query.get("as", "")),
        )

    @property
    def columns(self) -> list[str]:
        """The columns over the pairs that it takes."""
        keys = [WORST, BEST] if self.by == ALL else [KEY + self.by, FLIPS + self.by]
        return [OUTPUTS, FLAGS, *keys]


def _among(known: tuple[str, ...], said: str) -> str:
    return said if said in known else known[0]


def _between(query: Mapping[str, str]) -> tuple[float, float] | None:
    try:
        low, high = float(query["from"]), float(query["to"])
    except (KeyError, ValueError):
        return None
    return (low, high) if -2 <= low < high <= 2 else None


def counts(view: View, found: Comparison) -> dict[str, int]:
    """How many pairs each filter keeps, as far as the figures tell."""
    every = found.facts["counts"]
    shared = {"all": every["all"], "disagree": every["disagree"]}
    if view.by == ALL:
        return shared | {name: every[name] for name in ("regressed", "improved", "same", "errors")}
    figure = next(figure for subject, figure in found.judged if str(subject.run.pk) == view.by)
    return shared | figure.counts | {"errors": figure.errors + (0 if figure.errors else every["system_errors"])}


def listing(view: View, found: Comparison, changed: NDArray[int64] | None = None) -> Listing:
    """The outputs that a view keeps, in its order. `changed` are those whose text differs, where that is asked for."""
    import numpy

    outputs = found.array(OUTPUTS)
    low, high = _keys(view, found)
    kept = _kept(view, found, low, high)
    if view.show == "changed" and changed is not None:
        kept &= numpy.isin(outputs, changed)
    if view.words:
        kept &= numpy.isin(outputs, _named(found, view.words))
    keys = {"low": low, "high": numpy.where(high <= 1, -high, high), "case": numpy.zeros_like(low)}[view.sort]
    if view.sort == "case":  # as they came
        order = numpy.argsort(outputs, kind="stable")
        outputs, keys, kept = outputs[order], keys[order], kept[order]
    return Listing(outputs[kept], keys[kept])


def _keys(view: View, found: Comparison) -> tuple[NDArray[float32], NDArray[float32]]:
    """The gains by which the worst and by which the best are found."""
    if view.by == ALL:
        return found.array(WORST), found.array(BEST)
    keys = found.array(KEY + view.by)
    return keys, keys


def _kept(view: View, found: Comparison, low: NDArray[float32], high: NDArray[float32]) -> NDArray[bool_]:
    import numpy

    flags = found.array(FLAGS)
    keeps: dict[str, Any] = {
        "regressed": lambda: low < -EQUAL,
        "improved": lambda: (high > EQUAL) & (high <= 1),
        "same": lambda: (low >= -EQUAL) & (low <= 1) & (high <= EQUAL),
        "disagree": lambda: flags & DISAGREES > 0,
        "errors": lambda: flags & HAS_ERROR > 0 if view.by == ALL else _lacking(low, flags),
        "awaiting": lambda: low == AWAITING,
        "pending": lambda: low == PENDING,
        "flips": lambda: found.array(FLIPS + view.by) > 0 if FLIPS + view.by in found.kept else low > 9,
    }
    kept = keeps[view.show]() if view.show in keeps else numpy.ones(len(low), bool)
    if view.between:
        start, end = view.between
        # The outermost bars of a distribution have their ends, too.
        kept &= low >= (start - EQUAL if -start in REACHES else start)
        kept &= (low <= end + EQUAL) if end in REACHES else (low < end)
    return kept


def _lacking(keys: NDArray[float32], flags: NDArray[Any]) -> NDArray[bool_]:
    """Pairs that an evaluator has failed on; where it has failed on none, those that a system has failed on."""
    failed: NDArray[bool_] = (keys == 2) | (keys == 3)
    return failed if failed.any() else flags & SYSTEM_ERROR > 0


def _named(found: Comparison, words: str) -> NDArray[int64]:
    """The outputs whose case has the words in its key."""
    import numpy

    version = found.experiment.dataset_version
    spans = CaseSpan.objects.filter(dataset=version.dataset_id, key__icontains=words).at(version.number)
    outputs = Output.objects.filter(experiment=found.experiment, case__in=spans.values("case"))
    return numpy.fromiter(outputs.values_list("pk", flat=True), dtype="i8")
