"""The page of a run's classes: where a classifier errs, where to put its threshold, and the same beside another run."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.stats.confusion import OneClass
from evaluators.stats.estimate import Estimate
from experiments.analysis.charts import classes as charts
from experiments.analysis.classes import (
    BUCKETS,
    MAXIMUM,
    Asked,
    Bucket,
    Classified,
    buckets,
    cell,
    classified,
    middle_of,
)
from experiments.analysis.classes_beside import candidates, gains
from experiments.analysis.classes_telling import TooMuch, as_csv, as_json
from experiments.analysis.curves import estimate_in, span_of
from experiments.models import Output, Run
from experiments.views.confusion import ROW, SHARES, Matrix, matrix_of
from experiments.views.runs import runs_of

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
LISTED = 25  # cases on a page of a cell
STEPS = 100  # of the slider
KEPT = ("key", "share", "beside", "of")  # of the address, where the threshold moves
BUCKET_WORDS = {
    "tp": ("Right", "it is this label and is called it"),
    "fp": ("Called wrongly", "another label is called this one: a misclassification"),
    "mistaken": ("Mistaken", "it is this label, but only another one reaches the threshold: a misclassification"),
    "missed": ("Missed", "it is this label, and no label reaches the threshold: no detection"),
    "tn": ("Rightly not called", "it is another label and is not called this one"),
}


@require_safe
@project_page(Role.VIEWER)
def run_classes(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides where a classifier errs and where to put its threshold: what it confuses, and what each cut costs."""
    run = get_object_or_404(runs_of(request.project), pk=pk)
    page = classified(run, Asked.of_query(request.GET))
    ctx: dict[str, Any] = {"run": run, "page": page, "config": _config(run)}
    if page.found is not None:
        shares = request.GET.get("share", "")
        ctx |= {
            "matrix": _matrix(request, page, shares if shares in SHARES else ROW),
            "shares": [(each, _url(request, share=each)) for each in SHARES],
            "names": _names(request, page),
            "keys": [(key or "no key", _url(request, key=key, of=None), key == page.key) for key in page.keys],
            "one": _one(request, page),
            "kept": [(name, value) for name in KEPT if (value := request.GET.get(name))],
            "cases": _cases(request, page),
            "others": candidates(run),
            "beside": _beside(request, page),
        }
    return page_or_fragment(request, "experiments/run_classes.html", ctx)


@require_safe
@project_page(Role.VIEWER)
def run_classes_export(request: ProjectRequest, pk: int, form: str) -> HttpResponse:
    """What the page of classes tells, as a file."""
    run = get_object_or_404(runs_of(request.project), pk=pk)
    page = classified(run, Asked.of_query(request.GET))
    if form not in FORMATS or page.found is None:
        raise Http404
    try:
        content = as_csv(page) if form == "csv" else as_json(page, _config(run))
    except TooMuch as error:
        return HttpResponse(str(error), status=422, content_type="text/plain; charset=utf-8")
    response = HttpResponse(content, content_type=FORMATS[form])
    name = slugify(f"classes-{run.version.evaluator.name}-{run.subject}")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


def _config(run: Run) -> Any:
    try:
        return work_of(run.version).config
    except BadConfig:
        return None


def _url(request: ProjectRequest, **changes: str | None) -> str:
    """This page asked for something else; what was opened of it is closed."""
    opened = ("expected", "called", "bucket", "from")
    kept = {name: value for name, value in request.GET.items() if name not in opened} | changes
    return f"{request.path}?{urlencode({name: value for name, value in kept.items() if value is not None})}"


def _names(request: ProjectRequest, page: Classified) -> list[tuple[OneClass, str | None, Estimate | None, bool]]:
    """Each label with its figures, where it is told apart from the rest, its area, whether that is shown now."""
    assert page.found is not None
    ids = page.labels if page.rows is not None else None
    chosen = page.label if ids else None
    found = []
    for one in page.found.classes:
        pk = ids.id_of(one.label) if ids else None
        url = _url(request, of=one.label) + "#h-one" if pk else None
        found.append((one, url, page.area("roc_auc", one.label), pk is not None and pk == chosen))
    return found


def _matrix(request: ProjectRequest, page: Classified, shares: str) -> Matrix:
    """Cells open their cases: in the results as they were read, at a threshold below on this page."""
    base = page.run.results_url

    def in_results(expected: str, given: str) -> str | None:
        return f"{base}&expected={expected}{f'&label={given}' if given else ''}#results" if base else None

    def below(expected: str, called: str) -> str:
        return f"{here}&expected={expected}{f'&called={called}' if called else ''}#cases"

    here = _url(request)

    assert page.found is not None
    is_here = page.asked.at and page.rows is not None
    return matrix_of(page.found, below if is_here else in_results, shares)


def _one(request: ProjectRequest, page: Classified) -> dict[str, Any] | None:
    """One label against the rest: the slider, curves with a dot at the threshold, its errors with examples."""
    if page.rows is None or page.labels is None or (label := page.label) is None:
        return None
    kept = page.curves
    text = page.labels.by_id[label]
    span = kept["span"] if kept else list(span_of(page.rows.scores[label]))
    threshold = middle_of(span) if page.threshold is None else page.threshold
    counted = buckets(page.rows, label, threshold)
    return {
        "label": text,
        "span": span,
        "step": f"{(span[1] - span[0]) / STEPS:.6g}",
        "threshold": f"{threshold:.6g}",
        "is_set": page.threshold is not None,
        "is_binary": page.labels.positive is not None,
        "labels": list(page.labels.by_id.values()),
        "charts": _charts(text, kept, counted, threshold) if kept else [],
        "buckets": _buckets(request, page, counted, f"{threshold:.6g}"),
        "support": len(counted["tp"]) + len(counted["mistaken"]) + len(counted["missed"]),
        "best": _best(request, kept),
        "maximum_url": _url(request, at=MAXIMUM),
        "read_url": _url(request, at=None),
    }


def _best(request: ProjectRequest, kept: dict[str, Any] | None) -> dict[str, Any] | None:
    if not kept or kept["best"] is None:
        return None
    threshold, f1 = kept["best"]
    exactly = repr(float(threshold))
    return {"threshold": f"{threshold:.3g}", "f1": f1, "url": _url(request, at=exactly)}


def _charts(text: str, kept: dict[str, Any], counted: dict[str, Bucket], threshold: float) -> list[Any]:
    tp, fp, tn = (len(counted[name]) for name in ("tp", "fp", "tn"))
    fn = len(counted["mistaken"]) + len(counted["missed"])
    on_roc = (fp / (fp + tn), tp / (tp + fn)) if fp + tn and tp + fn else None
    on_pr = (tp / (tp + fn), tp / (tp + fp)) if tp + fp and tp + fn else None
    at, areas = f"{threshold:.3g}", [estimate_in(kept[name]["area"]) for name in ("pr", "roc")]
    return [
        charts.precision_recall(text, kept["pr"], areas[0], on_pr, at),
        charts.roc(text, kept["roc"], areas[1], on_roc, at),
        charts.spread(text, kept["span"], kept["spread"], threshold),
    ]


def _buckets(request: ProjectRequest, page: Classified, counted: dict[str, Bucket], at: str) -> list[dict[str, Any]]:
    """What is counted of one label, with the first cases of each."""
    most = getattr(_config(page.run), "max_examples", 1)
    assert page.rows is not None
    picked = {name: page.rows.outputs[counted[name].rows[:most]].tolist() for name in BUCKETS}
    keys = _keys_of([output for outputs in picked.values() for output in outputs])
    return [
        {
            "name": name,
            "word": BUCKET_WORDS[name][0],
            "words": BUCKET_WORDS[name][1],
            "count": len(counted[name]),
            "url": _url(request, bucket=name, at=at) + "#cases",
            "examples": [(keys[output], _peek_url(page.run, output)) for output in picked[name] if output in keys],
        }
        for name in BUCKETS
    ]


def _cases(request: ProjectRequest, page: Classified) -> dict[str, Any] | None:
    """The cases of the cell or the count that was opened, in their order, some at a time."""
    if page.rows is None or page.labels is None or page.label is None:
        return None
    name, expected = request.GET.get("bucket", ""), request.GET.get("expected", "")
    called = request.GET.get("called", "")
    if name in BUCKETS and page.threshold is not None:
        found, words = buckets(page.rows, page.label, page.threshold)[name].rows, BUCKET_WORDS[name][0]
    elif expected:
        found, words = cell(page, expected, called), f"{expected} called {called}" if called else expected
    else:
        return None
    start = min(max(0, id_in(request.GET.get("from", "")) or 0), len(found))
    rows = found[start : start + LISTED]
    keys = _keys_of(page.rows.outputs[rows].tolist())
    listed = [_case(page, int(row), keys) for row in rows]
    here = {"bucket": name or None, "expected": expected or None, "called": called or None}
    after = _url(request, **here, **{"from": str(start + LISTED)}) if start + LISTED < len(found) else None
    return {"words": words, "count": len(found), "rows": listed, "after": after, "close": _url(request)}


def _case(page: Classified, row: int, keys: dict[int, str]) -> dict[str, Any]:
    assert page.rows is not None
    assert page.labels is not None
    assert page.label is not None
    output = int(page.rows.outputs[row])
    texts = page.labels.by_id
    return {
        "key": keys.get(output, "no key"),
        "url": _peek_url(page.run, output),
        "expected": texts.get(int(page.rows.expected[row]), ""),
        "best": texts.get(int(page.rows.best[row]), ""),
        "best_score": f"{page.rows.score[row]:.3g}",
        "score": f"{page.rows.scores[page.label][row]:.3g}",
    }


def _keys_of(outputs: list[int]) -> dict[int, str]:
    found = Output.objects.filter(pk__in=outputs).order_by("pk").values_list("pk", "case__key")
    return {pk: key or "no key" for pk, key in found}


def _peek_url(run: Run, output: int) -> str:
    base = run.results_url
    if base:
        return f"{base}&peek={output}"
    return f"{reverse('experiment-page', args=[run.experiment.project.slug, run.experiment_id])}?peek={output}"


def _beside(request: ProjectRequest, page: Classified) -> dict[str, Any] | None:
    """Another run that was chosen, with what this one gained on it."""
    wanted = id_in(request.GET.get("beside", ""))
    other = next(iter(candidates(page.run, wanted)), None) if wanted else None
    if other is None:
        return None
    theirs = classified(other, page.asked, curves=False)
    matrix = matrix_of(theirs.found, lambda *_: None) if theirs.found else None
    return {"run": other, "page": theirs, "matrix": matrix, "gains": gains(page, theirs)}
