"""The grid of a result: its outputs as rows, its current runs as columns, filtered and sorted by one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from evalstudio.web.pagination import Order, Page, Walk
from evaluators.core import Status
from experiments.analysis.summary import Summary
from experiments.models import Evaluation, Experiment, Output, Run, RunLabel

SNIPPET = 140  # characters of the input shown under a case's key
NO_SCORE = (Status.FAILED, Status.UNSCORED, Status.AWAITING, Status.PENDING)  # in the order in which they follow
SHOWS = ("all", "below", *(state.name.lower() for state in NO_SCORE))
SORTS = ("low", "high", "case")


@dataclass(frozen=True, slots=True)
class View:
    """What the address asks for: which column counts, which rows, in which order, which words."""

    run: Run | None  # the chosen column; None while the experiment has no run
    show: str = "all"
    sort: str = "low"  # by the score of the chosen column, or by the order in which the outputs came
    words: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str], runs: list[Run]) -> View:
        """Read an address; whatever it says that does not exist falls back to the default."""
        chosen = {str(run.pk): run for run in runs}.get(query.get("by", ""), runs[0] if runs else None)
        words = query.get("q", "").replace("\0", "").strip()
        if chosen is None:
            return cls(None, "all", "case", words)
        show, sort = query.get("show", ""), query.get("sort", "")
        return cls(chosen, show if show in SHOWS else "all", sort if sort in SORTS else "low", words)

    def total(self, summary: Summary | None) -> int | None:
        """How many rows the view keeps, as far as the summary of its run can tell."""
        if self.words or summary is None:
            return None
        if self.show == "all":
            return summary.asked
        return summary.below if self.show == "below" else summary.counts[self.show]


def walk(experiment: Experiment, view: View, summary: Summary | None) -> Walk:
    """What the view keeps, in its order: evaluations of the chosen run, or outputs where that is all the same.

    `summary` is that of the chosen run. Every row has the id of its output as `shown`.
    """
    outputs = Output.objects.filter(experiment=experiment).select_related("case").annotate(shown=F("pk"))
    outputs = outputs.filter(case__key__icontains=view.words) if view.words else outputs
    if view.run is None or summary is None or (view.sort, view.show) == ("case", "all"):
        return Walk(((outputs, Order("pk")),))
    rows = Evaluation.objects.filter(run=view.run, repeat=0).select_related("output__case")
    rows = rows.annotate(shown=F("output_id"))
    rows = rows.filter(output__case__key__icontains=view.words) if view.words else rows
    if view.show == "all":
        asked = Exists(Evaluation.objects.filter(run=view.run, output=OuterRef("pk")))
        return Walk((*_by_score(rows, view, summary), (outputs.filter(~asked), Order("pk"))))
    if view.show == "below":
        return Walk(((rows.filter(state=Status.SCORED, passed=False), _order(view)),))
    return Walk((_in_state(rows, Status[view.show.upper()]),))


def _by_score(rows: QuerySet, view: View, summary: Summary) -> list[tuple[QuerySet, Order]]:
    """Every row: the scored ones by score, then the others, state by state. What is known to be empty asks nothing."""
    scored = (rows.filter(state=Status.SCORED), _order(view))
    others = [(state, _in_state(rows, state)) for state in NO_SCORE]
    present = [part if summary.counts[state.name.lower()] else (part[0].none(), part[1]) for state, part in others]
    return [scored, *present]


def _in_state(rows: QuerySet, state: Status) -> tuple[QuerySet, Order]:
    # Such a row never has a score; saying so lets the index (run, state, score, id) give the order.
    return rows.filter(state=state, score__isnull=True), Order("pk")


def _order(view: View) -> Order:
    return Order("pk") if view.sort == "case" else Order("score", descending=view.sort == "high")


@dataclass(frozen=True, slots=True)
class Cell:
    """One evaluation in the grid."""

    state: int
    score: float | None
    label: str | None
    passed: bool | None
    why: str


@dataclass(frozen=True, slots=True)
class Row:
    """One output in the grid, with a cell for each run, None where the run does not have it."""

    output: Output
    snippet: str
    cells: list[Cell | None]


def page_of_rows(found: Walk, runs: list[Run], query: Mapping[str, str]) -> Page:
    """One page of the grid: its rows hold one cell per run, in the order of `runs`."""
    page = found.page(query)
    outputs = [row.output if isinstance(row, Evaluation) else row for row in page.rows]
    cells = _cells(runs, [output.pk for output in outputs])
    rows = [
        Row(output, snippet(output.case.inputs), [cells.get((output.pk, run.pk)) for run in runs]) for output in outputs
    ]
    return Page(rows, page.previous, page.next)


def _cells(runs: list[Run], output_ids: list[int]) -> dict[tuple[int, int], Cell]:
    rows = Evaluation.objects.filter(run__in=runs, output__in=output_ids, repeat=0).annotate(label=label())
    fields = ("output_id", "run_id", "state", "score", "label", "passed", "why")
    return {(output_id, run_id): Cell(*told) for output_id, run_id, *told in rows.values_list(*fields)}


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
