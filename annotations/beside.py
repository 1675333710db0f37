"""What a judge and people said of the same outputs, side by side as arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Coalesce

from annotations import ordering
from annotations.models import Item, Queue
from evaluators.core import FLIPPED, Why
from evaluators.golden import NotKept, digest_of, stored_sample
from evaluators.models import Evaluator
from evaluators.scoring import Passing
from experiments.analysis.repeats import passing_of
from experiments.analysis.vectors import MEASURE, columns_of, vector
from experiments.models import Evaluation, Output, Purpose, Run, RunLabel
from experiments.samples import sample_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_RUNS = 100
NOBODY = Value(0)  # instead of a baseline
NOT_DRAWN = (
    "The graded outputs were not drawn at random, so they say nothing about the others. Grade all of them, or make a"
    " queue whose order is drawn and settle what comes first in it."
)
FROM_A_PART = (
    "The graded outputs were drawn from a part of what was judged, so they say nothing about the rest. Make a queue of"
    " the rest as well, or of everything, whose order is drawn, and settle what comes first in it."
)


@dataclass(frozen=True, slots=True)
class Beside:
    """One entry an output that the judge was asked about: scores in [0, 1], NaN where there is none, and labels.

    `likely` is with which probability it came to be graded, NaN where it was not drawn; `has_chance` whether it could
    have been. `tuned_on` counts graded outputs that were golden cases of the judge before this version of it was saved:
    people tune on those, so their grades are left out. `cannot` counts those that nobody who was asked could judge.
    `left_out` are both: looked at, but nothing that a judge is measured by.
    """

    judge: Run
    people: Run
    outputs: NDArray[Any]
    cases: NDArray[Any]
    judged: NDArray[Any]
    graded: NDArray[Any]
    judge_labels: list[str]
    people_labels: list[str]
    likely: NDArray[Any]
    has_chance: NDArray[Any]
    left_out: NDArray[Any]
    tuned_on: int
    cannot: int

    @property
    def both(self) -> NDArray[Any]:
        import numpy as np

        return ~np.isnan(self.judged) & ~np.isnan(self.graded)

    @property
    def no_sample(self) -> str:
        """Why what is graded does not stand for all that was judged; empty where it does, or nothing is graded."""
        import numpy as np

        if not self.both.any():
            return ""
        if np.isnan(self.likely[self.both]).all():
            return NOT_DRAWN
        return "" if self.has_chance[~np.isnan(self.judged)].all() else FROM_A_PART

    @property
    def verdicts(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """What passes for judge and people, 1 and 0; None where scores have no threshold and are more than 0 and 1."""
        judge, people = (
            _passes(self.judged, passing_of(self.judge.version)),
            _passes(self.graded, passing_of(self.people.version)),
        )
        return None if judge is None or people is None else (judge, people)

    @property
    def has_common_labels(self) -> bool:
        """Whether both choose from labels of which they share some."""
        return bool({label for label in self.judge_labels if label} & {label for label in self.people_labels if label})


def people_of(judge: Run) -> Run | None:
    """The run of the people whose word counts more than this judge's, over the same outputs or pairs."""
    reference = judge.version.evaluator.reference_id
    if reference is None:
        return None
    runs = Run.objects.filter(
        version__evaluator=reference,
        experiment=judge.experiment_id,
        baseline=judge.baseline_id,
        purpose=Purpose.RESULTS,
        is_current=True,
    )
    return runs.select_related("version__evaluator").order_by("-version__number").first()


def people_beside() -> QuerySet[Run]:
    """The same as a subquery for runs of judges."""
    runs = Run.objects.annotate(against=Coalesce("baseline", NOBODY)).filter(
        version__evaluator=OuterRef("version__evaluator__reference"),
        experiment=OuterRef("experiment"),
        against=Coalesce(OuterRef("baseline"), NOBODY),
        purpose=Purpose.RESULTS,
        is_current=True,
    )
    return runs.order_by("-version__number")


def runs_with_people(judge: Evaluator) -> list[Run]:
    """The judge's current results over outputs that these people grade, the latest first."""
    if judge.reference_id is None:
        return []
    runs = Run.objects.filter(
        Exists(people_beside()), version__evaluator=judge, purpose=Purpose.RESULTS, is_current=True
    )
    runs = runs.select_related("version__evaluator", "experiment__system", "experiment__project", "baseline__system")
    return list(runs.order_by("-pk")[:MOST_RUNS])


def beside(judge: Run, people: Run) -> Beside:
    """The two runs over the outputs of the judge's; of several judgements of an output the mean counts."""
    import numpy as np

    theirs, grades = vector(judge), vector(people)
    outputs, first, places = np.unique(theirs.outputs, return_index=True, return_inverse=True)
    there = ~np.isnan(theirs.scores)
    counts = np.bincount(places[there], minlength=len(outputs))
    sums = np.bincount(places[there], theirs.scores[there], minlength=len(outputs))
    judged = np.where(counts > 0, sums / np.maximum(1, counts), np.nan)
    at, is_asked = _places_in(grades.outputs, outputs)
    graded = np.where(is_asked, grades.scores[at], np.nan) if len(at) else np.full(len(outputs), np.nan)
    cannot = np.isin(outputs, _not_judged(people)) & ~np.isnan(judged)
    looked_at = ~np.isnan(graded) | cannot
    tuned = _tuned_on(judge, outputs[~np.isnan(graded)])
    graded = np.where(np.isin(outputs, tuned), np.nan, graded)
    given = np.where(is_asked, grades.labels[at], -1) if len(at) else np.full(len(outputs), -1)
    likely, has_chance = _likely(people, outputs, bool(looked_at[~np.isnan(judged)].all()))
    return Beside(
        judge,
        people,
        outputs,
        theirs.cases[first],
        judged,
        graded,
        _texts(judge, np.where(_flipped(judge), -1, theirs.labels)[first])
        if judge.repeats == 1
        else [""] * len(outputs),
        _texts(people, given),
        likely,
        has_chance,
        looked_at & np.isnan(graded),
        len(tuned),
        int(cannot.sum()),
    )


def _places_in(known: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Where each wanted id stands among the known ones, and whether it does."""
    import numpy as np

    if not len(known):
        return np.zeros(0, int), np.zeros(len(wanted), bool)
    order = np.argsort(known, kind="stable")
    at = order[np.searchsorted(known, wanted, sorter=order).clip(max=len(known) - 1)]
    return at, known[at] == wanted


def _texts(run: Run, ids: NDArray[Any]) -> list[str]:
    texts = dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))
    return [texts.get(int(one), "") for one in ids]


def _flipped(judge: Run) -> NDArray[Any]:
    """Where the two orders of a comparison disagree: a judge that says both has said neither."""
    name = MEASURE + FLIPPED.name
    return columns_of([judge], (name,))[judge.pk][name] > 0


def _passes(scores: NDArray[Any], passing: Passing) -> NDArray[Any] | None:
    import numpy as np

    known = scores[~np.isnan(scores)]
    if passing.threshold is None:
        return scores if np.isin(known, (0.0, 1.0)).all() else None
    passed = scores >= passing.threshold if passing.direction == "higher" else scores <= passing.threshold
    return np.where(np.isnan(scores), np.nan, passed)


def _tuned_on(judge: Run, outputs: NDArray[Any]) -> list[int]:
    """Those of these outputs that were golden cases of the judge when this version of it was saved.

    What is kept later, such as where it and people differ, cannot have been tuned on; left out, it would flatter.
    """
    kept = judge.version.evaluator.golden_cases.filter(created_at__lt=judge.version.created_at)
    digests = set(kept.values_list("digest", flat=True))
    if not digests:
        return []
    rows = Evaluation.objects.filter(run=judge, output__in=outputs.tolist())
    tuned: list[int] = []
    for row in rows.select_related("output__case", "output__body", "baseline_output__body").iterator(500):
        try:
            if digest_of(stored_sample(sample_of(row.output, row.baseline_output))) in digests:
                tuned.append(row.output.pk)
        except NotKept:
            continue
    return tuned


def _not_judged(people: Run) -> list[int]:
    """The outputs of which people settled that they cannot be judged."""
    return list(Evaluation.objects.filter(run=people, why=Why.CANNOT_JUDGE).values_list("output", flat=True))


def _likely(people: Run, outputs: NDArray[Any], is_all: bool) -> tuple[NDArray[Any], NDArray[Any]]:
    """1 where people looked at all that was judged; otherwise by the queues that drew them. And which had a chance."""
    import numpy as np

    if is_all:
        return np.ones(len(outputs)), np.ones(len(outputs), bool)
    missed = np.ones(len(outputs))
    settled = np.zeros(len(outputs), bool)
    for chances, otherwise in _chances(people):
        found = [chances.get(int(pk), otherwise) for pk in outputs]
        settled |= np.array([one.is_settled for one in found], bool)
        missed *= 1 - np.array([one.share for one in found])
    return np.where(settled, 1 - missed, np.nan), missed < 1


def _chances(people: Run) -> Iterator[tuple[Mapping[int, ordering.Chance], ordering.Chance]]:
    """For every queue that drew outputs of this run, the chance of each by output, and that of those not in the queue.

    A queue of a share of what comes may have taken in any of them.
    """
    mine = Output.objects.filter(experiment=people.experiment_id)
    queues = Queue.objects.filter(
        versions=people.version_id, order__in=(ordering.Order.RANDOM, ordering.Order.INFORMATIVE)
    )
    for queue in queues:
        by_item = ordering.inclusion(queue)
        items = Item.objects.filter(queue=queue, output__in=mine, repeats=None)
        items = items.filter(baseline_output__experiment=people.baseline_id)
        found = {output: by_item[pk] for pk, output in items.values_list("pk", "output") if pk in by_item}
        share = (queue.intake or {}).get("share", 0.0)
        if share:
            found = {output: replace(one, share=one.share * share) for output, one in found.items()}
        if found:
            yield found, ordering.Chance(min(one.share for one in found.values()) if share else 0.0, False)
