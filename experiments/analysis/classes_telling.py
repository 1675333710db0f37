"""What the labels of a run come to as plain data: the catalogue's structures, for the API and for files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from evaluators.catalogue import classification
from evaluators.stats.labelled import LabelScores
from experiments.analysis.classes import Classified
from experiments.analysis.curves import Rows, all_scores
from experiments.analysis.exporting import harmless
from experiments.models import Output

KINDS = ("metrics", "roc_auc", "pr_curve", "detailed_pr_curve")
MOST_NUMBERS = 5_000_000  # labels times rows that a request may look at


class TooMuch(Exception):
    """There are too many rows and labels to tell of at once."""


def told_of(page: Classified, kind: str, config: Any) -> dict[str, Any] | None:
    """One of the catalogue's structures; None where the run has no such thing. Raises TooMuch."""
    if kind == "metrics":
        return classification.classification_metrics(page.found, **_nothing) if page.found else None
    if page.labels is None or page.rows is None:
        return None
    if len(page.labels.by_id) * page.column.summary.asked > MOST_NUMBERS:
        raise TooMuch("There are too many rows and labels for this: take fewer of either.")
    given, rows = all_scores(page.labels)
    undefined = config.undefined_as
    tell: dict[str, Callable[[], dict[str, Any]]] = {
        "roc_auc": lambda: classification.classification_roc_auc(given, undefined_as=undefined),
        "pr_curve": lambda: classification.classification_pr_curve(given, undefined_as=undefined),
        "detailed_pr_curve": lambda: _detailed(given, rows, config.max_examples),
    }
    return tell[kind]()


_nothing: dict[str, Any] = {"labels": ()}


def _detailed(given: LabelScores, rows: Rows, most: int) -> dict[str, Any]:
    """Examples are the keys of cases, or the ids of outputs that have none."""
    order = rows.outputs.argsort(kind="stable")
    ordered = LabelScores(given.labels, given.scores[:, order], given.expected[order])
    outputs = rows.outputs[order].tolist()
    found = classification.classification_detailed_pr_curve(ordered, outputs, max_examples=most)
    named = {pk for each in found["curve"].values() for counts in each.values() for pk in _examples(counts)}
    keys = dict(Output.objects.filter(pk__in=named).values_list("pk", "case__key"))
    for each in found["curve"].values():
        for counts in each.values():
            for of in counts.values():
                for observed in of["observations"].values():
                    observed["examples"] = [keys.get(pk) or str(pk) for pk in observed["examples"]]
    return found


def _examples(counts: dict[str, Any]) -> list[int]:
    return [pk for of in counts.values() for each in of["observations"].values() for pk in each["examples"]]


def as_json(page: Classified, config: Any) -> str:
    """Everything that the run has, by kind."""
    return json.dumps({kind: told_of(page, kind, config) for kind in KINDS}, ensure_ascii=False, indent=1)


def as_csv(page: Classified) -> str:
    """The figures of the whole and of each label, a line each, and the table below: expected, given, outputs."""
    written = io.StringIO()
    lines = csv.writer(written)
    assert page.found is not None
    lines.writerow(["label", "figure", "value", "low", "high", "outputs"])
    whole = [("accuracy", page.accuracy or page.found.accuracy)]
    whole += [("precision", page.found.precision), ("recall", page.found.recall), ("f1", page.found.f1)]
    rows = [("", name, figure) for name, figure in [*whole, *page.means]]
    rows += [
        (one.label, name, getattr(one, name)) for one in page.found.classes for name in ("precision", "recall", "f1")
    ]
    for label, name, figure in rows:
        lines.writerow([harmless(label), name, figure.value, figure.low, figure.high, figure.n])
    lines.writerow([])
    lines.writerow(["expected", "given", "outputs"])
    for (expected, given), count in sorted(page.found.counts.items()):
        lines.writerow([harmless(expected), harmless(given), count])
    return written.getvalue()
