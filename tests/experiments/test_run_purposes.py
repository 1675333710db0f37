"""Runs over samples are no results: they are marked, left out of lists, and counted nowhere."""

import re

import pytest
from django.urls import reverse

from experiments.models import Purpose, Run, RunState
from tests.experiments.compared import comparative, compared
from tests.experiments.judged import experiment_of, judged, version_of

pytestmark = pytest.mark.django_db


def words_of(response) -> str:
    text = re.sub(r"<[^>]*>", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def two(project):
    return experiment_of(project, 4, "new"), experiment_of(project, 4, "old")


def sample(experiment, version, purpose, **more) -> Run:
    """A run over the first two outputs, apart from the results."""
    Run.objects.filter(version=version, experiment=experiment).update(is_current=False)
    run = judged(experiment, version, [0.125, 0.125])
    ids = list(experiment.output_set.order_by("pk").values_list("pk", flat=True)[:2])
    Run.objects.filter(pk=run.pk).update(purpose=purpose, is_current=False, sample=ids, **more)
    return Run.objects.get(pk=run.pk)


@pytest.fixture
def samples(project, two):
    """A trial and a run for noise of one version, by purpose."""
    version = version_of(project, "Facts")
    return {
        Purpose.TRIAL: sample(two[0], version, Purpose.TRIAL),
        Purpose.NOISE: sample(two[0], version, Purpose.NOISE, repeats=3),
    }


def listed(client, project, **query) -> list[int]:
    response = client.get(reverse("run-list", args=[project.slug]), query)
    return [column.run.pk for column, _ in response.context["rows"]]


def test_the_list_shows_results_and_has_a_filter_for_each_other_purpose(as_alice, project, two, samples):
    result = judged(two[0], version_of(project, "Tone"), [1.0] * 4)
    assert listed(as_alice, project) == [result.pk]
    assert listed(as_alice, project, show="trial") == [samples[Purpose.TRIAL].pk]
    assert listed(as_alice, project, show="noise") == [samples[Purpose.NOISE].pk]
    chips = as_alice.get(reverse("run-list", args=[project.slug])).context["chips"]
    assert {chip["word"]: chip["count"] for chip in chips} == {"All": 1, "Finished": 1, "Trials": 1, "Noise": 1}


def test_what_runs_is_listed_whatever_it_is_for(as_alice, project, two, samples):
    Run.objects.update(state=RunState.ACTIVE)
    assert set(listed(as_alice, project, show="running")) == {run.pk for run in samples.values()}


@pytest.mark.parametrize("purpose", [Purpose.TRIAL, Purpose.NOISE])
def test_a_sample_is_marked_and_leads_to_no_results(as_alice, project, samples, purpose):
    run = samples[purpose]
    page = as_alice.get(run.get_absolute_url())
    assert f" {purpose} " in words_of(page)
    assert "2 outputs" in words_of(page)
    assert "See the results" not in words_of(page)
    row = as_alice.get(reverse("run-list", args=[project.slug]), {"show": purpose})
    assert f" {purpose} " in words_of(row)
    assert f"?by={run.pk}" not in row.content.decode()


def test_samples_count_on_no_page_of_results(as_alice, project, two, samples):
    for address in (
        reverse("home-results", args=[project.slug]),
        reverse("experiment-list", args=[project.slug]),
        reverse("experiment-export", args=[project.slug, two[0].pk, "csv"]),
        reverse("evaluator-runs", args=[project.slug, samples[Purpose.TRIAL].version.evaluator_id]),
    ):
        response = as_alice.get(address)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert "12.5\N{NO-BREAK SPACE}%" not in content.decode(), address
        assert "0.125" not in content.decode(), address
    assert as_alice.get(two[0].get_absolute_url()).context["columns"] == []


def test_answers_to_one_case_that_were_judged_again_and_again_are_one_cluster(project, two):
    from experiments.analysis.summary import summaries
    from experiments.models import Evaluation

    run = sample(two[0], version_of(project, "Facts"), Purpose.NOISE, repeats=2)
    for row in list(Evaluation.objects.filter(run=run)):
        row.pk, row.repeat, row.score = None, 1, 0.625
        row.save()
    figure = summaries([run])[run.pk].estimate
    assert (figure.n, figure.clusters, figure.value) == (4, 2, 0.375)


def test_a_comparison_is_named_with_its_baseline_everywhere(as_alice, project, two):
    run = compared(*two, comparative(project), [1.0] * 4)
    for address in (
        reverse("run-list", args=[project.slug]),
        reverse("evaluator-runs", args=[project.slug, run.version.evaluator_id]),
        run.get_absolute_url(),
    ):
        response = as_alice.get(address)
        assert "new against old" in words_of(response), address
        assert f"{two[0].url_against(two[1].pk)}?by={run.pk}" in response.content.decode(), address
    said = words_of(as_alice.get(run.get_absolute_url()))
    assert "How often new beats old, a tie counting half" in said
    assert "4 wins 100.0 %" in said
