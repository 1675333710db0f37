"""What would change: two versions of an evaluator over the same sample of outputs, and the verdicts that differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import transaction

from evalstudio.web.numbers import points
from evaluators.models import EvaluatorVersion
from evaluators.scoring import Passing
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import Difference, paired
from experiments.analysis.grid import label
from experiments.analysis.repeats import passing_of
from experiments.analysis.sampling import sample_ids
from experiments.analysis.versus import winner
from experiments.ledger.start import CannotStart, start_sample
from experiments.models import Evaluation, Experiment, Purpose, Run

SMALLEST = 0.005  # a difference of scores up to this, half a point, is none
SCALES = (0.25, 0.5, 1.0)  # the mark of a difference reaches so far to either side of zero
NO_SCORE = "no score"


@dataclass(frozen=True, slots=True)
class Trial:
    """What is compared: two versions of one evaluator over `n` outputs of an experiment, against a baseline if any."""

    before: EvaluatorVersion
    after: EvaluatorVersion
    experiment: Experiment
    n: int
    baseline: Experiment | None = None

    def start(self, started_by: Any) -> tuple[Run, Run]:
        """Run both versions, or find the runs again; replies that are kept are used. Raises CannotStart."""
        ids = sample_ids(self.experiment, self.n, self.baseline)
        if not ids:
            raise CannotStart("There are no outputs to judge.")
        with transaction.atomic():
            before, after = (
                start_sample(
                    version,
                    self.experiment,
                    started_by,
                    purpose=Purpose.TRIAL,
                    output_ids=ids,
                    baseline=self.baseline,
                )
                for version in (self.before, self.after)
            )
        return before, after

    def runs(self) -> tuple[Run, Run] | None:
        """The two runs where they have been started. Three queries."""
        ids = sample_ids(self.experiment, self.n, self.baseline)
        found = Run.objects.filter(
            version__in=(self.before, self.after),
            experiment=self.experiment,
            baseline=self.baseline,
            purpose=Purpose.TRIAL,
            sample=ids,
        ).select_related("version__evaluator__project", "experiment__system", "connection")
        by_version = {run.version_id: run for run in found.order_by("-pk")}
        if not ids or len(by_version) < 2:
            return None
        return by_version[self.before.pk], by_version[self.after.pk]


@dataclass(frozen=True, slots=True)
class Both:
    """One output as both versions judged it. Rows carry `label`, the text of their label or None."""

    before: Evaluation
    after: Evaluation

    @property
    def difference(self) -> float | None:
        """After minus before; None unless both gave a score."""
        if self.before.score is None or self.after.score is None:
            return None
        return self.after.score - self.before.score

    @property
    def named(self) -> tuple[str | None, str | None]:
        """Both verdicts by name: the label, or who won; None without either."""
        return _named(self.before), _named(self.after)

    @property
    def differs(self) -> bool:
        """Whether the verdict is another: its name, whether it passed, or the score by more than half a point.

        Where only one gave a score nothing is said about the verdict, and this is False.
        """
        if self.difference is None:
            return False
        sides = (self.before, self.after)
        names, passed = self.named, [row.passed for row in sides]
        moved = None not in passed and passed[0] != passed[1]
        renamed = None not in names and names[0] != names[1]
        return moved or renamed or round(abs(self.difference), 9) > SMALLEST

    @property
    def is_lopsided(self) -> bool:
        """Whether exactly one of the two gave a score."""
        return (self.before.score is None) != (self.after.score is None)


@dataclass(frozen=True)
class Change:
    """What a trial came to. `both` has every output of the sample; figures rest on those that both scored."""

    both: list[Both]
    passing: tuple[Passing, Passing]

    @cached_property
    def scored(self) -> list[Both]:
        return [each for each in self.both if each.difference is not None]

    @cached_property
    def differing(self) -> list[Both]:
        """The outputs whose verdict differs, largest change first."""
        found = [each for each in self.scored if each.differs]
        return sorted(found, key=lambda each: (-abs(each.difference or 0.0), each.before.output_id))

    @cached_property
    def lopsided(self) -> list[Both]:
        """The outputs to which only one of the two gave a score."""
        return [each for each in self.both if each.is_lopsided]

    @property
    def neither(self) -> int:
        """Outputs to which neither gave a score."""
        return len(self.both) - len(self.scored) - len(self.lopsided)

    @cached_property
    def share(self) -> Estimate:
        """The share of verdicts that differ."""
        return estimate(Moments.of((_case(each), float(each.differs)) for each in self.scored), len(self.both))

    @cached_property
    def difference(self) -> Difference:
        """How far the mean score moves."""
        return paired(((_case(each), each.difference or 0.0) for each in self.scored), len(self.both))

    @property
    def verdict(self) -> str | None:
        """How the judged system looks by the second version: better, worse, cannot tell; None if directions differ."""
        before, after = self.passing
        if before.direction != after.direction or self.difference.low is None:
            return None
        return self.difference.verdict(after.direction)

    @cached_property
    def scale(self) -> float:
        """How far the mark of the difference reaches to either side of zero."""
        ends = [abs(end) for end in (self.difference.low, self.difference.high) if end is not None]
        return next((scale for scale in SCALES if max(ends, default=0.0) <= scale), SCALES[-1])

    @property
    def ends(self) -> tuple[str, str]:
        """The two ends of that mark, in points."""
        return points(-self.scale, 0), points(self.scale, 0)

    @property
    def places(self) -> dict[str, str]:
        """Value and interval of the difference as places on its track, in per cent."""
        ends = {"value": self.difference.value, "low": self.difference.low, "high": self.difference.high}
        return {name: f"{50 + 50 * end / self.scale:.1f}%" for name, end in ends.items() if end is not None}

    @cached_property
    def table(self) -> Table | None:
        """What became of each verdict; None where verdicts are plain numbers without a threshold."""
        for name in (_named, _passed):
            if self.scored and all(name(row) for each in self.scored for row in (each.before, each.after)):
                return _cross(self.both, name)
        return None


@dataclass(frozen=True, slots=True)
class Table:
    """How many outputs went from one verdict to another: a row for each verdict before, a column for each after."""

    names: list[str]  # of the columns, and of the rows in the same order
    rows: list[tuple[str, list[tuple[int, bool]], int]]  # the name, each count and whether nothing changed, the sum


def _cross(both: list[Both], name: Any) -> Table:
    counts = Counter((name(each.before) or NO_SCORE, name(each.after) or NO_SCORE) for each in both)
    worth: dict[str, float] = {NO_SCORE: -1.0}
    for row in (row for each in both for row in (each.before, each.after)):
        if row.score is not None:
            worth.setdefault(name(row), row.score if name is _named else float(bool(row.passed)))
    names = sorted({one for pair in counts for one in pair}, key=lambda one: (-worth[one], one))
    rows = [
        (one, [(counts[one, other], one == other) for other in names], sum(counts[one, other] for other in names))
        for one in names
    ]
    return Table(names, rows)


def _case(each: Both) -> int:
    return each.before.output.case_id


def _named(row: Evaluation) -> str | None:
    """The label; of a comparison who won, since its label tells but one of its orders."""
    if row.baseline_output_id is None:
        return row.label  # type: ignore[attr-defined]  # annotated by `change`
    return winner(row.score)


def _passed(row: Evaluation) -> str | None:
    return {True: "passes", False: "fails", None: None}[row.passed]


def change(before: Run, after: Run) -> Change:
    """What would change from one run of a trial to the other. One query."""
    rows = Evaluation.objects.filter(run__in=(before, after)).select_related("output__case").annotate(label=label())
    found: dict[int | None, dict[int, Evaluation]] = {}
    for row in rows.order_by("output"):
        found.setdefault(row.output_id, {})[row.run_id] = row
    both = [Both(of[before.pk], of[after.pk]) for of in found.values() if len(of) == 2]
    return Change(both, (passing_of(before.version), passing_of(after.version)))
