"""The scores that outputs gave to labels, as columns of a run: one for each label, and the best label of each row.

Written without numpy, as all columns are. A label that a row gives no score has 0; a row without any scores has NaN.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

import orjson
from django.db import connection

from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.stats.confusion import Classes
from experiments.models import Run, RunLabel

SCORE = "score:"  # before the id of a label, as the name of its column
BEST_LABEL, BEST_SCORE = "best label", "best score"
MOST_LABELS = 200  # of a run, beyond which labels are no classes
NAN = float("nan")


def told_apart(version: EvaluatorVersion) -> Classes | None:
    """The classes that a version declares; None for one that classifies nothing or cannot be read any more."""
    try:
        return getattr(work_of(version).config, "classes", None)
    except BadConfig:
        return None


def label_columns(run: Run, ids: Sequence[int]) -> dict[str, array[float]]:
    """The columns of rows by id, in this order; none for a run that reads no scores. Two queries where it does."""
    classes = told_apart(run.version)
    if classes is None or not classes.has_scores:
        return {}
    labels = in_order(texts_of(run), classes)
    places = {str(label_id): place for place, label_id in enumerate(labels)}
    if not labels or len(labels) > MOST_LABELS:
        return {}
    at = {row_id: place for place, row_id in enumerate(ids)}
    columns = [array("d", bytes(8 * len(ids))) for _ in labels]
    best_label, best_score = (array("d", [NAN]) * len(ids) for _ in range(2))
    for row_id, scores in _scores(run):
        if (row := at.pop(row_id, None)) is None or not (known := [each for each in scores if each in places]):
            continue
        for label_id in known:
            columns[places[label_id]][row] = scores[label_id]
        best = max(known, key=lambda label_id: (scores[label_id], -places[label_id]))
        best_label[row], best_score[row] = float(best), scores[best]
    for row in at.values():
        for column in columns:
            column[row] = NAN
    named = {f"{SCORE}{label_id}": column for label_id, column in zip(labels, columns, strict=True)}
    return {**named, BEST_LABEL: best_label, BEST_SCORE: best_score}


def texts_of(run: Run) -> dict[int, str]:
    """The labels of a run by id. One query."""
    return dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))


def in_order(texts: Mapping[int, str], classes: Classes) -> dict[int, str]:
    """Labels by id: as they were declared, then others by their text."""
    declared = {label: place for place, label in enumerate(classes.labels)}
    return dict(sorted(texts.items(), key=lambda pair: (declared.get(pair[1], len(declared)), pair[1])))


def _scores(run: Run) -> Iterator[tuple[int, dict[str, float]]]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT body.evaluation_id, body.label_scores
               FROM experiments_evaluationbody AS body
               JOIN experiments_evaluation AS evaluation ON evaluation.id = body.evaluation_id
               WHERE evaluation.run_id = %s AND body.label_scores IS NOT NULL""",
            [run.pk],
        )
        for row_id, scores in cursor:
            yield row_id, scores if isinstance(scores, dict) else orjson.loads(scores)
