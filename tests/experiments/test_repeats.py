"""Runs that judge each output several times: pages show the mean, the peek and exports every judgement."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluators.core import Status
from experiments.analysis.columns import columns
from experiments.ledger.asked import Asked
from experiments.ledger.start import start
from experiments.models import Evaluation, EvaluationBody, Run, RunState
from tests.experiments.judged import experiment_of, version_of

pytestmark = pytest.mark.django_db

TOLD = {
    "case-000": [1.0, 0.5, 0.9],  # mean 0.8
    "case-001": [0.0, 0.3, 0.3],  # mean 0.2
    "case-002": [0.6, "failed", 0.4],  # mean 0.5, of those that have a score
    "case-003": ["failed", "failed", "unscored"],
}


@pytest.fixture
def experiment(project):
    return experiment_of(project, 4)


@pytest.fixture
def run(project, experiment, alice):
    """Three judgements of each output, as workers would have left them."""
    run = start(version_of(project, "Facts"), experiment, alice, asked=Asked(repeats=3))
    for row in Evaluation.objects.filter(run=run).select_related("output__case"):
        one = TOLD[row.output.case.key][row.repeat]
        row.state = Status.SCORED if isinstance(one, float) else Status[one.upper()]
        row.score, row.passed = (one, one >= 0.5) if isinstance(one, float) else (None, None)
        row.settled_at = timezone.now()
        row.save()
        EvaluationBody.objects.create(evaluation=row, reason=f"Because of {one}, time {row.repeat + 1}.")
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, revision=9)
    run.refresh_from_db()
    return run


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def shown(response) -> list[tuple[str, float | None]]:
    return [
        (row.output.case.key, None if row.cells[0].score is None else round(row.cells[0].score, 3))
        for row, _ in response.context["rows"]
    ]


def test_the_grid_shows_and_orders_means(as_alice, run, experiment):
    page = as_alice.get(experiment.get_absolute_url())
    assert shown(page) == [("case-001", 0.2), ("case-002", 0.5), ("case-000", 0.8), ("case-003", None)]
    down = as_alice.get(experiment.get_absolute_url(), {"sort": "high"})
    assert [key for key, _ in shown(down)] == ["case-000", "case-002", "case-001", "case-003"]
    cells = {row.output.case.key: row.cells[0] for row, _ in page.context["rows"]}
    assert [cells[f"case-00{number}"].passed for number in range(3)] == [True, False, True]


def test_filters_keep_outputs_and_count_outputs(as_alice, run, experiment):
    page = as_alice.get(experiment.get_absolute_url(), {"show": "failed"})
    assert {key for key, _ in shown(page)} == {"case-002", "case-003"}
    counts = {chip["word"]: chip["count"] for chip in page.context["chips"]}
    assert counts == {"All": 4, "Below threshold": 2, "Failed": 2, "Unscored": 1}
    assert len(shown(as_alice.get(experiment.get_absolute_url(), {"show": "below"}))) == 2


def test_pages_walk_over_means_without_loss(as_alice, run, experiment):
    from experiments.analysis.grid import View, walk

    column = columns([Run.objects.select_related("version__evaluator", "connection").get(pk=run.pk)])[0]
    view = View.of({}, [column.run])
    pages, query = [], {}
    for _ in range(4):
        page = walk(experiment, view, column.summary).page(query, size=1)
        pages += [row.output.case.key for row in page.rows]
        query = {"after": page.next}
    assert pages == ["case-001", "case-002", "case-000", "case-003"]


def test_the_interval_clusters_by_case(run):
    figure = columns([Run.objects.select_related("version__evaluator").get(pk=run.pk)])[0].figure
    assert (figure.n, figure.clusters, figure.asked) == (8, 3, 12)


def test_the_peek_says_the_mean_and_lists_every_judgement(as_alice, project, run, experiment):
    output = experiment.output_set.get(case__key="case-002")
    said = text_of(as_alice.get(reverse("experiment-peek", args=[project.slug, experiment.pk, output.pk])))
    assert "The mean of 3 judgements." in said
    assert "50 %" in said
    for number, one in enumerate(TOLD["case-002"], 1):
        assert f"Because of {one}, time {number}." in said


def test_an_export_has_every_judgement_as_record_and_the_mean_as_cell(as_alice, project, run, experiment):
    def export(form: str) -> str:
        response = as_alice.get(reverse("experiment-export", args=[project.slug, experiment.pk, form]))
        return b"".join(response.streaming_content).decode()

    first = json.loads(export("jsonl").splitlines()[0])
    assert [(told["repeat"], told["score"]) for told in first["evaluations"]] == [(1, 1.0), (2, 0.5), (3, 0.9)]
    row = next(csv.DictReader(io.StringIO(export("csv"))))
    assert float(row["Facts v1 score"]) == pytest.approx(0.8)


def test_a_run_for_scores_only_says_so(as_alice, project, experiment, alice):
    run = start(version_of(project, "Facts"), experiment, alice, asked=Asked(keeps_details=False))
    Evaluation.objects.filter(run=run).update(state=Status.SCORED, score=1, settled_at=timezone.now())
    output = experiment.output_set.first()
    said = text_of(as_alice.get(reverse("experiment-peek", args=[project.slug, experiment.pk, output.pk])))
    assert "Details were not kept: the run was started for scores only." in said


@pytest.mark.parametrize("n", [4, 40])
def test_the_page_needs_as_few_queries_as_any(as_alice, project, alice, n, django_assert_max_num_queries):
    experiment = experiment_of(project, n)
    start(version_of(project, "Facts"), experiment, alice, asked=Asked(repeats=3))
    Evaluation.objects.update(state=Status.SCORED, score=0.5, settled_at=timezone.now())
    Run.objects.update(state=RunState.FINISHED)
    as_alice.get(experiment.get_absolute_url())
    with django_assert_max_num_queries(16):
        as_alice.get(experiment.get_absolute_url())
