"""The figures of a classifier on the same cases as another one's: differences with their intervals."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluators.labels import key_of
from evaluators.stats.confusion import AVERAGES, F1, PRECISION, RECALL, Classes, Counts, contributions
from evaluators.stats.estimate import Moments
from evaluators.stats.paired import Difference, difference_of
from experiments.analysis.classes import Classified
from experiments.analysis.comparing.arrays import moments
from experiments.analysis.curves import BELOW
from experiments.analysis.label_scores import texts_of, told_apart
from experiments.analysis.vectors import columns_of
from experiments.models import Purpose, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CANDIDATES = 50
ATTEMPTS = 2**15  # more than any output counts
KINDS = (("Precision", PRECISION), ("Recall", RECALL), ("F1", F1))


class Gain(NamedTuple):
    """How far one figure of this run lies above the other's."""

    name: str
    ours: float
    theirs: float
    difference: Difference

    @property
    def verdict(self) -> str:
        return self.difference.verdict("higher")


class OfLabel(NamedTuple):
    """The figures of one label."""

    label: str
    gains: list[Gain]


@dataclass(frozen=True, slots=True)
class Gains:
    """On `pairs` outputs for the same cases: figures of the whole, then of each label that either run has there."""

    pairs: int
    whole: list[Gain]
    classes: list[OfLabel]


def candidates(run: Run, pk: int | None = None) -> list[Run]:
    """Results of the same evaluator over the same data set, the latest first, or the one with an id. One query."""
    dataset = run.experiment.dataset_version.dataset_id if run.experiment.dataset_version_id else None
    found = Run.objects.filter(
        purpose=Purpose.RESULTS,
        is_current=True,
        version__evaluator=run.version.evaluator_id,
        experiment__project=run.experiment.project_id,
        experiment__dataset_version__dataset=dataset,
    ).exclude(pk=run.pk)
    found = found if pk is None else found.filter(pk=pk)
    shown = found.select_related(
        "version__evaluator",
        "version__publication",
        "connection",
        "experiment__system",
        "experiment__project",
        "experiment__dataset_version__dataset",
    )
    return list(shown.order_by("-pk")[:MOST_CANDIDATES])


def gains(ours: Classified, theirs: Classified) -> Gains | None:
    """What this run gained on the other, over the outputs of both that answer one case; None where there are none."""
    both = _paired(ours, theirs)
    if both is None:
        return None
    sides, cases, sizes = both
    pairs = int(sizes.sum())
    classes = told_apart(ours.run.version) or Classes(())
    labels = tuple(one.label for one in ours.found.classes) if ours.found else ()
    there = {label for side in sides for pair in side.counts for label in pair}

    def gain(name: str, **of: Any) -> Gain:
        values, each = zip(*(side.figure(labels, **of) for side in sides), strict=True)
        gained = each[0] - each[1]
        sums = moments(gained, cases) if cases is not None else _weighted(gained, sizes)
        difference = difference_of(sums, pairs)
        return Gain(name, values[0], values[1], difference)

    average = classes.positive or classes.average
    named = f" of “{average}”" if classes.positive else f", {average}"
    whole = {"of": average, "leaves_out": classes.has_scores} if average in AVERAGES else {"label": average}
    return Gains(
        pairs,
        [gain("Accuracy", kind=None), *(gain(f"{name}{named}", kind=kind, **whole) for name, kind in KINDS)],
        [
            OfLabel(label, [gain(name, kind=kind, label=label) for name, kind in KINDS])
            for label in labels
            if label in there
        ],
    )


def _weighted(values: NDArray[Any], sizes: NDArray[Any]) -> Moments:
    """The sums where every pair is a case of its own, of values that so many pairs have each."""
    total, n = float(sizes @ values), int(sizes.sum())
    return Moments(
        n=n,
        clusters=n,
        total=total,
        squares=float(sizes @ values**2),
        products=total,
        sizes=float(n),
        least=float(values.min()),
        most=float(values.max()),
        apart=int(sizes[abs(values) > 1e-12].sum()),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    """The labels of one run over the pairs, or over the kinds of pairs with their `sizes`: places in `texts`."""

    texts: list[str]
    expected: NDArray[Any]
    called: NDArray[Any]
    sizes: NDArray[Any]
    counts: Counts

    @classmethod
    def of(cls, texts: list[str], expected: NDArray[Any], called: NDArray[Any], sizes: NDArray[Any]) -> _Side:
        return cls(texts, expected, called, sizes, dict(_counted(texts, expected, called, sizes)))

    def figure(self, labels: tuple[str, ...], kind: Any, **of: Any) -> tuple[float, NDArray[Any]]:
        """A figure, and for each pair what it contributes: the mean of those is the figure."""
        import numpy as np

        if kind is None:
            right = (self.expected == self.called).astype(float)
            return float(right @ self.sizes / self.sizes.sum()), right
        value, each = contributions(self.counts, labels, *kind, **of)
        table = np.full((len(self.texts), len(self.texts)), value)
        for (expected, called), contribution in each.items():
            table[bisect_left(self.texts, expected), bisect_left(self.texts, called)] = contribution
        return value, table[self.expected, self.called]


Both = tuple[list[_Side], "NDArray[Any] | None", "NDArray[Any]"]


def _paired(ours: Classified, theirs: Classified) -> Both | None:
    """Both sides over the outputs that answer the same case in the same attempt, their cases and how many each stands
    for. Where no case has several, pairs with the same three labels stand together, and cases are None.
    """
    import numpy as np

    known = [_texts(page) for page in (ours, theirs)]
    texts = sorted({text for each in known for text in each.values()})
    tables = [_labelled(page, each, texts) for page, each in zip((ours, theirs), known, strict=True)]
    keys = [cases * ATTEMPTS + attempts for cases, attempts, _, _ in tables]
    shared, mine, other = np.intersect1d(*keys, return_indices=True)
    right, first, second = tables[0][2][mine], tables[0][3][mine], tables[1][3][other]
    same = right == tables[1][2][other]  # the two may merge labels in different ways
    right, first, second, cases = right[same], first[same], second[same], shared[same] // ATTEMPTS
    if not len(cases):
        return None
    if (np.diff(cases) == 0).any():
        ones = np.ones(len(cases))
        return [_Side.of(texts, right, called, ones) for called in (first, second)], cases, ones
    several = len(texts)
    kinds, sizes = np.unique((right * several + first) * several + second, return_counts=True)
    right, first, second = kinds // several**2, kinds // several % several, kinds % several
    return [_Side.of(texts, right, called, sizes) for called in (first, second)], None, sizes


def _counted(
    texts: list[str], right: NDArray[Any], given: NDArray[Any], sizes: NDArray[Any]
) -> Iterator[tuple[tuple[str, str], int]]:
    import numpy as np

    cells = np.bincount(right * len(texts) + given, sizes, minlength=len(texts) ** 2)
    for place in np.flatnonzero(cells):
        expected, called = divmod(int(place), len(texts))
        yield (texts[expected], texts[called]), int(cells[place])


def _texts(page: Classified) -> dict[int, str]:
    return {**texts_of(page.run), 0: BELOW}


def _labelled(page: Classified, known: dict[int, str], texts: list[str]) -> tuple[NDArray[Any], ...]:
    """Cases, attempts, and the places in `texts` of the label expected and the one called, of rows that have both."""
    import numpy as np

    if page.rows is not None and page.labels is not None and page.asked.at:
        rows = page.rows
        found = [rows.cases, rows.attempts, rows.expected, rows.called(page.labels, page.threshold)]
    else:
        columns = columns_of([page.run], ("cases", "attempts", "expected", "labels"))[page.run.pk]
        there = (columns["expected"] >= 0) & (columns["labels"] >= 0)
        found = [column[there] for column in columns.values()]
    place_of, of_key = np.full((2, max(known) + 1), -1)
    for pk, text in known.items():
        place_of[pk] = bisect_left(texts, text)
        of_key[pk] = key_of(text) == page.key
    cases, attempts, expected, called = (column.astype("i8") for column in found)
    there = of_key[expected] == 1
    return cases[there], attempts[there], place_of[expected[there]], place_of[called[there]]
