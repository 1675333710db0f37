"""What the page of two results shows: a figure for every evaluator, the pairs in the order asked for, one pair open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.http import Http404

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.numbers import count
from evaluators.stats.noise import Noise
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE
from experiments.analysis.charts import compare as charts
from experiments.analysis.columns import Column, columns
from experiments.analysis.comparing import asking
from experiments.analysis.comparing.apart import unmatched
from experiments.analysis.comparing.asking import ALL, View
from experiments.analysis.comparing.cases import rows_of, texts_of
from experiments.analysis.comparing.changed import FEW, changed
from experiments.analysis.comparing.figures import Figure
from experiments.analysis.comparing.judges import Subject, judges_of
from experiments.analysis.comparing.kept import Comparison, comparison
from experiments.analysis.noise import noises_of, with_floor
from experiments.analysis.pairing import names_of
from experiments.forms.starting import OptionsForm, splits_of
from experiments.models import Experiment, RunDefaults, RunState
from experiments.views.grids import addable, row_links
from experiments.views.pair_peeks import WORDS_OF_TEXTS, next_error, peeked

ROWS, TEXTS = 25, 8  # pairs on a page, as lines and with their texts
PLACES = (
    "after",
    "before",
    "peek",
    "tab",
    "from",
    "to",
)  # in an address; another view of the pairs begins without them
SCALES = (0.02, 0.05, 0.1, 0.25, 0.5, 1.0)  # how far the marks of differences reach to either side of zero
WORDS = {"disagree": "Evaluators disagree", "changed": "Text changed"}
WORDS_OF_COMPARATIVE = {"regressed": "Losses", "improved": "Wins", "same": "Ties"}


def frame(request: ProjectRequest, experiment: Experiment, baseline: Experiment) -> dict[str, Any]:
    """What every part of the page needs: who judged the two, and the runs that are shown or still under way."""
    judges = judges_of(experiment, baseline, request.GET.get("by", ""))
    runs = [run for subject in judges.subjects for run in subject.runs]
    comparative = [subject.run for subject in judges.subjects if subject.is_comparative]
    unfinished = [run for run in (*runs, *judges.alone) if run.state != RunState.FINISHED and run not in comparative]
    shown = columns([*comparative, *unfinished])
    view = View.of(request.GET, judges.subjects)
    return {
        "experiment": experiment,
        "baseline": baseline,
        "names": names_of(experiment, baseline),
        "here": experiment.url_against(baseline.pk),
        "judges": judges,
        "view": view,
        "columns": shown[: len(comparative)],
        "under_way": [column for column in shown if column.progress],
        "is_going": any(column.progress and not column.progress.now.is_over for column in shown),
        "can_run": request.role >= Role.EDITOR,
    }


def compared(request: ProjectRequest, experiment: Experiment, baseline: Experiment) -> dict[str, Any]:
    """All that the page of two results needs, the open pair included."""
    ctx = frame(request, experiment, baseline)
    view, judges = ctx["view"], ctx["judges"]
    found = comparison(experiment, baseline, judges.subjects, view.columns)
    texts_changed = _changed(view, found)
    listed = asking.listing(view, found, texts_changed)
    page = listed.page(request.GET, TEXTS if view.look == "texts" else ROWS)
    opened = id_in(request.GET.get("peek", ""))
    grain = _grain(request, view, found)
    named = grain["ids"] if grain else []
    ids = list(dict.fromkeys([*page.rows, *named, *([opened] if opened is not None else [])]))
    whole = ids if view.look == "texts" else [opened] if opened is not None else []
    by_id = {row.output.pk: row for row in rows_of(found, ids, whole)}
    rows = [by_id[pk] for pk in page.rows if pk in by_id]
    ctx |= {
        "facts": found.facts,
        "page": page,
        "total": len(listed),
        "rows": rows,
        "rows_texts": [(row, texts_of(row, view.text)) for row in rows] if view.look == "texts" else [],
        **_figures(request, ctx, found),
        "grain": grain and {**grain, "rows": [by_id[pk] for pk in named if pk in by_id]},
        **_tools(request, view, found, texts_changed),
        **row_links(request, ctx["here"]),
        "unmatched": unmatched(judges.alone, experiment),
        "first_error": next_error(found),
    }
    if ctx["can_run"] and found.facts["outputs"]:
        ctx["addable"] = addable(request, [column.run for column in ctx["columns"]], compares=True)
        ctx["options"] = OptionsForm(
            splits=splits_of(experiment), defaults=RunDefaults.of(experiment.project), auto_id="run_%s"
        )
    if opened in by_id:
        ctx |= {"peek_id": opened, **peeked(request, ctx, found, listed, by_id[opened])}
    return ctx


def polled(request: ProjectRequest, experiment: Experiment, baseline: Experiment) -> dict[str, Any]:
    """What the figures of comparative evaluators and the progress need, while something runs."""
    ctx = frame(request, experiment, baseline)
    found = comparison(experiment, baseline, ctx["judges"].subjects)
    noises = noises_of({each.version for each, figure in found.judged if each.is_comparative and figure.advice})
    return {**ctx, "facts": found.facts, "between": _between_two(request, ctx, found, noises)}


def peek(request: ProjectRequest, experiment: Experiment, baseline: Experiment, output: int) -> dict[str, Any]:
    """The panel of one pair, or 404."""
    ctx = frame(request, experiment, baseline)
    found = comparison(experiment, baseline, ctx["judges"].subjects, ctx["view"].columns)
    listed = asking.listing(ctx["view"], found, _changed(ctx["view"], found))
    rows = rows_of(found, [output], [output])
    if not rows:
        raise Http404
    return ctx | peeked(request, ctx, found, listed, rows[0])


def _changed(view: View, found: Comparison) -> Any:
    """The outputs whose texts differ: as far as they are known, or can be told at once, or are asked for."""
    known = found.changed
    if known is None and (found.facts["outputs"] <= FEW or view.show == "changed"):
        return changed(found.experiment, found.baseline)
    return known


# --- The figures ------------------------------------------------------------------------------------------------------
def _figures(request: ProjectRequest, ctx: dict[str, Any], found: Comparison) -> dict[str, Any]:
    view, both = ctx["view"], [pair for pair in found.judged if not pair[0].is_comparative]
    scale = _scale([figure for _, figure in both])
    noises = noises_of({subject.version for subject, figure in found.judged if figure.advice})
    lines = [_line(request, view, each, figure, scale, noises.get(each.version.pk)) for each, figure in both]
    said = [figure.verdict for figure in found.figures if figure.difference.n]
    return {
        "lines": sorted(lines, key=lambda line: _rank(line["figure"])),
        "ends": (-scale, scale),
        "said": {verdict: said.count(verdict) for verdict in (BETTER, WORSE)}
        | {"cannot_tell": said.count(CANNOT_TELL), "all": len(said)},
        "corrected": max((figure.judged for figure in found.figures), default=0),
        "between": _between_two(request, ctx, found, noises),
        "charts": _charts(request, view, found),
    }


def _rank(figure: Figure) -> tuple[int, float]:
    """Surest loss first, then what got better, then what nobody can tell."""
    order = (WORSE, BETTER, CANNOT_TELL).index(figure.verdict)
    return order, -abs(figure.difference.value or 0.0)


def _scale(figures: Sequence[Figure]) -> float:
    ends = [abs(end) for each in figures for end in (each.difference.low, each.difference.high) if end is not None]
    return next((scale for scale in SCALES if max(ends, default=0.0) <= scale), SCALES[-1])


def _line(
    request: ProjectRequest, view: View, subject: Subject, figure: Figure, scale: float, noise: Noise | None
) -> dict[str, Any]:
    """One evaluator in the table, with the addresses of its pairs."""
    by, told = subject.run.pk, figure.difference
    ends = {"value": told.value, "low": told.low, "high": told.high}
    shows = ("regressed", "improved", "same")
    return {
        "subject": subject,
        "figure": figure,
        "advice": with_floor(figure.advice, noise, told.n),
        "is_chosen": view.by == str(by),
        "url": link(request, by=by, show="all"),
        "shows": {
            show: link(request, by=by, show=show, sort="high" if show == "improved" else "low") for show in shows
        },
        "places": {name: f"{50 + 50 * end / scale:.1f}%" for name, end in ends.items() if end is not None},
    }


def _between_two(
    request: ProjectRequest, ctx: dict[str, Any], found: Comparison, noises: Mapping[int | None, Noise]
) -> list[tuple[Column, dict[str, Any]]]:
    """The comparative evaluators, each with its figure and the addresses of its pairs."""
    of_run = {
        subject.run.pk: (subject, figure, 1.0, noises.get(subject.version.pk)) for subject, figure in found.judged
    }
    return [(column, _line(request, ctx["view"], *of_run[column.run.pk])) for column in ctx["columns"]]


def _grain(request: ProjectRequest, view: View, found: Comparison) -> dict[str, Any] | None:
    """The cases in which the weaker side wins all the same, by the evaluator that counts or the one that is surest."""
    judged = [(subject, figure) for subject, figure in found.judged if view.by in (ALL, str(subject.run.pk))]
    against = [(subject, figure, figure.grain) for subject, figure in judged if figure.grain]
    if not against:
        return None
    # What saw both answers knows best.
    subject, figure, grain = max(
        against, key=lambda each: (each[0].is_comparative, abs(each[1].difference.value or 0.0))
    )
    assert grain is not None
    show, ids, n = grain
    sort = "high" if show == "improved" else "low"
    return {
        "subject": subject,
        "verdict": figure.verdict,
        "show": show,
        "counted": f"{count(n)} {'attempt' if found.has_attempts else 'case'}{'' if n == 1 else 's'}",
        "ids": ids,
        "url": link(request, by=subject.run.pk, show=show, sort=sort),
        "query": link(request, by=subject.run.pk, show=show, sort=sort, peek=""),
    }


def _charts(request: ProjectRequest, view: View, found: Comparison) -> list[Any]:
    bars = [
        charts.Bar(name_of(subject), figure.difference, figure.verdict, link(request, by=subject.run.pk, show="all"))
        for subject, figure in found.judged
        if figure.difference.value is not None and not subject.is_comparative
    ]
    drawn = [charts.deltas("Differences with their intervals", bars)] if len(bars) > 1 else []
    chosen = [pair for pair in found.judged if view.by in (ALL, str(pair[0].run.pk)) and pair[1].difference.n]
    if chosen:
        subject, figure = chosen[0]
        drawn.append(charts.spread(name_of(subject), figure, _bars(request, subject)))
    return drawn


def _bars(request: ProjectRequest, subject: Subject) -> Any:
    """What makes the addresses of the pairs behind the bars of a distribution."""
    base = link(request, by=subject.run.pk, show="all")
    return lambda low, high: f"{base}&from={low!r}&to={high!r}#results"


def name_of(subject: Subject) -> str:
    return f"{subject.evaluator.name} {subject.version}"


# --- The list ---------------------------------------------------------------------------------------------------------
def link(request: ProjectRequest, path: str = "", **changes: Any) -> str:
    """The page under another view; a change of view starts at its first page."""
    kept = {name: value for name, value in request.GET.items() if name not in PLACES}
    return f"{path or request.path}?{urlencode(kept | changes)}"


def _tools(request: ProjectRequest, view: View, found: Comparison, texts_changed: Any) -> dict[str, Any]:
    known = asking.counts(view, found)
    if texts_changed is not None:
        known["changed"] = len(texts_changed)
    chosen = next((subject for subject in found.subjects if str(subject.run.pk) == view.by), None)
    words = WORDS_OF_COMPARATIVE if chosen and chosen.is_comparative else WORDS
    chips = [
        {
            "word": words.get(show) or WORDS.get(show) or show.capitalize(),
            "show": show,
            "count": known.get(show),
            "url": link(request, show=show),
            "is_chosen": show == view.show and not view.between,
        }
        for show in asking.SHOWS
        if known.get(show) or show in ("all", view.show) or (show == "changed" and texts_changed is None)
    ]
    return {
        "chips": chips,
        "chosen": chosen,
        "heads": [_head(request, view, subject) for subject in found.subjects],
        "any_url": link(request, by=ALL),
        "case_sort_url": link(request, sort="case"),
        "all_url": request.path,
        "texts_urls": [(name, word, link(request, text=name)) for name, word in WORDS_OF_TEXTS.items()],
        "looks_urls": [
            (name, word, link(request, **{"as": name})) for name, word in (("table", "Table"), ("texts", "Texts"))
        ],
        "next_text_url": link(request, text="inline" if view.text == "side" else "side"),
        "kept_fields": [(name, value) for name, value in request.GET.items() if name not in (*PLACES, "q")],
        "order_sentence": _order_sentence(view, chosen),
    }


def _head(request: ProjectRequest, view: View, subject: Subject) -> dict[str, Any]:
    """The head of a column: a click sorts by it, another one turns the order."""
    is_sorted = view.by == str(subject.run.pk) and view.sort != "case"
    turned = "high" if is_sorted and view.sort == "low" else "low"
    return {
        "subject": subject,
        "sorted": {"low": "ascending", "high": "descending"}[view.sort] if is_sorted else "",
        "url": link(request, by=subject.run.pk, sort=turned),
    }


def _order_sentence(view: View, chosen: Subject | None) -> str:
    if view.sort == "case":
        return "In the order in which they came"
    by = f" by {chosen.evaluator.name}" if chosen else " by any evaluator"
    return f"{'Worst regression' if view.sort == 'low' else 'Best improvement'} first{by}"
