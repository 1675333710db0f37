"""The grid of a result: its outputs as rows, its current runs as columns, filtered and sorted by one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery

from evalstudio.web.pagination import Order, Walk
from evaluators.core import Status
from experiments.analysis.pairing import outputs_of
from experiments.analysis.repeats import Cell, any_of, count_outputs, rows_by_mean, together
from experiments.analysis.slicing import EVERY_CASE, Slice
from experiments.analysis.summary import Summary
from experiments.models import Case, CaseSpan, Evaluation, Experiment, Output, Run, RunLabel

SNIPPET = 140  # characters of the input shown under a case's key
FEW = 500  # cases that are named by their ids
NO_SCORE = (Status.FAILED, Status.UNSCORED, Status.AWAITING, Status.PENDING)  # in the order in which they follow
LACKS = tuple(state.name.lower() for state in NO_SCORE)
SHOWS = ("all", "below", *LACKS)
SORTS = ("low", "high", "case")


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks for: which column counts, which rows, in which order, which words."""

    run: Run | None  # the chosen column; None while the experiment has no run
    show: str = "all"
    sort: str = "low"  # by the score of the chosen column, or by the order in which the outputs came
    words: str = ""
    expected: str = ""  # only cases of which a classification should have given this label,
    given: str = ""  # or did give this one
    slice: Slice = EVERY_CASE

    @classmethod
    def of(cls, query: Mapping[str, str], runs: list[Run]) -> View:
        """Read an address; whatever it says that does not exist falls back to the default."""
        chosen = {str(run.pk): run for run in runs}.get(query.get("by", ""), _latest_of_first(runs))
        words, cases = query.get("q", "").strip(), Slice.of(query)
        if chosen is None:
            return cls(None, "all", "case", words, slice=cases)
        show, sort = query.get("show", ""), query.get("sort", "")
        expected, given = query.get("expected", ""), query.get("label", "")
        if expected or given:
            return cls(chosen, "all", "case", words, expected, given, cases)
        return cls(chosen, show if show in SHOWS else "all", sort if sort in SORTS else "low", words, slice=cases)

    @property
    def is_by_labels(self) -> bool:
        """Whether it keeps the cases of one cell, or one row, of the confusion table."""
        return bool(self.expected or self.given)

    @property
    def is_repeated(self) -> bool:
        """Whether the chosen run judges each output several times."""
        return self.run is not None and self.run.repeats > 1

    def total(self, summary: Summary | None) -> int | None:
        """How many rows the view keeps, as far as the summary of its run can tell."""
        if self.words or self.slice or self.is_by_labels or summary is None or self.is_repeated:
            return None
        return shown_of(summary)[self.show]


def shown_of(summary: Summary) -> dict[str, int]:
    """How many rows of a run each way of showing them keeps."""
    return {"all": summary.asked, "below": summary.below, **summary.counts}


def counts_of(run: Run, summary: Summary) -> dict[str, int]:
    """How many outputs each way of showing keeps. One query where an output has several judgements, else none."""
    if run.repeats == 1:
        return shown_of(summary)
    by_state = {state.name.lower(): Q(state=state) for state in NO_SCORE}
    return count_outputs(run, {"all": Q(), "below": Q(passed=False), **by_state})


def walk(experiment: Experiment, view: View, summary: Summary | None, outputs_in_all: int | None = None) -> Walk:
    """What the view keeps, in its order: evaluations of the chosen run, or outputs where that is all the same.

    `summary` is that of the chosen run; `outputs_in_all`, where it is known, saves a look for outputs that came after
    the run. Every row has the id of its output as `shown`.
    """
    in_outputs, in_rows = _of_some_cases(experiment, view)
    outputs = outputs_of(experiment).filter(in_outputs).select_related("case").annotate(shown=F("pk"))
    is_plain = (view.sort, view.show) == ("case", "all") and not view.is_by_labels
    if view.run is None or summary is None or is_plain:
        return Walk(((outputs, Order("pk")),))
    asked = Evaluation.objects.filter(run=view.run) if view.run.repeats == 1 else rows_by_mean(view.run)
    rows = asked.filter(in_rows).select_related("output__case").annotate(shown=F("output_id"))
    if view.is_repeated:
        late = outputs.filter(~_asked(view.run)) if view.show == "all" and not view.is_by_labels else outputs.none()
        return Walk((*_by_mean(rows, view), (late, Order("pk"))))
    if view.is_by_labels:
        return Walk(((rows.filter(labelled(view)), Order("pk")),))
    if view.show == "all":
        late = outputs.none() if outputs_in_all == summary.asked else outputs.filter(~_asked(view.run))
        return Walk((*_by_score(rows, view, summary), (late, Order("pk"))))
    if view.show == "below":
        return Walk(((rows.filter(state=Status.SCORED, passed=False), _order(view)),))
    return Walk((_in_state(rows, Status[view.show.upper()]),))


def _by_mean(rows: QuerySet, view: View) -> list[tuple[QuerySet, Order]]:
    """Outputs with several judgements: by the mean of their scores, then those without any, state by state.

    Any of the judgements puts an output among those that failed, that are below the threshold and so on.
    """
    assert view.run is not None
    by_mean = Order("pk") if view.sort == "case" else Order("mean", descending=view.sort == "high")
    if view.is_by_labels:
        return [(rows.filter(any_of(view.run, labelled(view))), Order("pk"))]
    if view.show == "all":
        others = [(rows.filter(mean__isnull=True, state=state), Order("pk")) for state in NO_SCORE]
        return [(rows.filter(mean__isnull=False), by_mean), *others]
    if view.show in LACKS:
        return [(rows.filter(any_of(view.run, Q(state=Status[view.show.upper()]))), Order("pk"))]
    return [(rows.filter(any_of(view.run, Q(passed=False)), mean__isnull=False), by_mean)]


def labelled(view: View) -> Q:
    """What keeps the evaluations with the labels that the view asks for."""
    asked = {"expected_id": view.expected, "label_id": view.given}
    known = RunLabel.objects.filter(run=view.run, label__in=asked.values()).values_list("label", "label_id")
    ids = dict(known)
    found = Q(expected_id__isnull=False)  # said so that the index of labels serves
    for field, label in asked.items():
        if label:
            found &= Q(**{field: ids[label]}) if label in ids else Q(pk__in=[])
    return found


def _asked(run: Run) -> Exists:
    """Whether a run has a row for an output."""
    return Exists(Evaluation.objects.filter(run=run, output=OuterRef("pk")))


def _of_some_cases(experiment: Experiment, view: View) -> tuple[Q, Q]:
    """What keeps the outputs, and the evaluations, whose case is in the slice and has the words in its key. One query.

    A few are named by their ids. Many are met soon enough by whoever walks, and are known by their case there.
    """
    if not view.words and not view.slice:
        return Q(), Q()
    outputs = Output.objects.filter(view.slice.where("case__"), experiment=experiment)
    named = [Q(), Q()]
    if view.words:
        version = experiment.dataset_version
        spans = CaseSpan.objects.filter(dataset=version.dataset_id, key__icontains=view.words).at(version.number)
        outputs = outputs.filter(case__in=spans.values("case"))
        named = [Q(case__key__icontains=view.words), Q(output__case__key__icontains=view.words)]
    ids = list(outputs.values_list("pk", flat=True)[: FEW + 1])
    if len(ids) <= FEW:
        return Q(pk__in=ids), Q(output__in=ids)
    if view.slice:  # asked case by case, so that the order in which one walks needs no sorting
        cases = Case.objects.filter(view.slice.where())
        places = ("case", "output__case")
        named = [each & Q(Exists(cases.filter(pk=OuterRef(to)))) for each, to in zip(named, places, strict=True)]
    return named[0], named[1]


def _by_score(rows: QuerySet, view: View, summary: Summary) -> list[tuple[QuerySet, Order]]:
    """Every row: the scored ones by score, then the others, state by state. What is known to be empty asks nothing."""
    nothing = (rows.none(), Order("pk"))
    others = [_in_state(rows, state) if summary.counts[state.name.lower()] else nothing for state in NO_SCORE]
    return [(rows.filter(state=Status.SCORED), _order(view)), *others]


def _in_state(rows: QuerySet, state: Status) -> tuple[QuerySet, Order]:
    # Such a row never has a score; saying so lets the index (run, state, score, id) give the order.
    return rows.filter(state=state, score__isnull=True), Order("pk")


def _latest_of_first(runs: Sequence[Run]) -> Run | None:
    """The newest version's run of the first evaluator; the runs come by evaluator and version."""
    same = [run for run in runs if run.version.evaluator_id == runs[0].version.evaluator_id]
    return same[-1] if same else None


def _order(view: View) -> Order:
    return Order("pk") if view.sort == "case" else Order("score", descending=view.sort == "high")


class Row(NamedTuple):
    """One output in the grid, with a cell for each run, None where the run does not have it."""

    output: Output
    snippet: str
    cells: list[Cell | None]


def rows_of(found: list[Evaluation | Output], runs: list[Run]) -> list[Row]:
    """What a walk found, as rows with one cell per run, in the order of `runs`. One query."""
    outputs = [row.output if isinstance(row, Evaluation) else row for row in found]
    cells = cells_of(runs, [output.pk for output in outputs])
    return [
        Row(output, snippet(output.case.inputs), [cells.get((output.pk, run.pk)) for run in runs]) for output in outputs
    ]


def cells_of(runs: list[Run], output_ids: list[int]) -> dict[tuple[int, int], Cell]:
    """What runs say of outputs, by the ids of output and run. One query."""
    rows = Evaluation.objects.filter(run__in=runs, output__in=output_ids).annotate(label=label())
    fields = ("output_id", "run_id", "state", "score", "label", "passed", "why")
    judged: dict[tuple[int, int], list[Cell]] = {}
    for output_id, run_id, *told in rows.order_by("repeat").values_list(*fields):
        judged.setdefault((output_id, run_id), []).append(Cell(*told))
    versions = {run.pk: run.version for run in runs}
    return {key: together(cells, versions[key[1]]) for key, cells in judged.items()}


def label() -> Subquery:
    """The text of an evaluation's label."""
    labels = RunLabel.objects.filter(run=OuterRef("run"), label_id=OuterRef("label_id"))
    return Subquery(labels.values("label")[:1])


def snippet(value: Any) -> str:
    """The first words of an input, for a list: its first text, or its JSON."""
    if isinstance(value, dict):
        texts = [inner for inner in value.values() if isinstance(inner, str) and inner.strip()]
        value = texts[0] if texts else value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text[: SNIPPET * 2].split())[:SNIPPET]
