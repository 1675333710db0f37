"""Any result can be kept as a golden case: its sample is copied down, with the verdict that must come."""

import pytest
from django.urls import reverse

from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase, Publication, PublishingRule
from experiments.models import Evaluation, Experiment, OutputBody
from tests.experiments.judged import experiment_of, judged, version_of

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def rows(project):
    """Three evaluations: one passes, one does not, one has no score."""
    judged(experiment_of(project, 3), version_of(project, "Facts"), [0.9, 0.2, "failed: time limit"])
    return list(Evaluation.objects.order_by("pk"))


def address(project, evaluation):
    return reverse("golden-keep", args=[project.slug, evaluation.pk])


def test_one_click_keeps_the_sample_with_the_verdict_that_was_given(as_alice, project, rows):
    page = as_alice.post(address(project, rows[1]), **HTMX)
    assert page.status_code == 200
    case = GoldenCase.objects.get()
    assert case.must == {"passed": False}
    assert case.title == "case-001"
    assert case.sample == {
        "inputs": {"question": "Question case-001?"},
        "expectedOutputs": {"value": "Answer case-001"},
        "outputs": {"value": "Answer case-001"},
    }
    assert b"it must be <b>does not pass</b>" in page.content


def test_a_second_choice_corrects_it_and_there_is_one_case(as_alice, project, rows):
    as_alice.post(address(project, rows[1]), **HTMX)
    as_alice.post(address(project, rows[1]), {"must": "passed:yes"}, **HTMX)
    assert GoldenCase.objects.get().must == {"passed": True}


def test_without_a_score_it_is_asked_what_must_come(as_alice, project, rows):
    page = as_alice.get(address(project, rows[2]), **HTMX)
    assert b'value="passed:no"' in page.content
    refused = as_alice.post(address(project, rows[2]), **HTMX)
    assert refused.status_code == 422
    assert b"Say what must come." in refused.content
    as_alice.post(address(project, rows[2]), {"must": "number", "number": "60"}, **HTMX)
    assert GoldenCase.objects.get().must == {"value": 0.6}


def test_it_works_without_scripts(as_alice, project, rows):
    reply = as_alice.post(address(project, rows[0]))
    assert reply.url == reverse("golden-case", args=[project.slug, GoldenCase.objects.get().pk])
    page = as_alice.get(address(project, rows[0]))
    assert b"<h1>Keep case-000 as a golden case</h1>" in page.content


def test_it_outlives_its_experiment(as_alice, project, rows):
    as_alice.post(address(project, rows[0]))
    Experiment.objects.all().delete()
    assert not Evaluation.objects.exists()
    case = GoldenCase.objects.get()
    page = as_alice.get(reverse("golden-case", args=[project.slug, case.pk]))
    assert b"Answer case-000" in page.content


def test_a_comparison_is_kept_with_both_outputs(as_alice, project):
    version = version_of(project, "Better", threshold=None, runs_on="comparison")
    EvaluatorVersion.objects.filter(pk=version.pk).update(config_schema=2, config=version.config | {"scale": None})
    before, after = experiment_of(project, 1, "one"), experiment_of(project, 1, "two")
    OutputBody.objects.filter(output__experiment=after).update(outputs={"value": "Another answer"})
    run = judged(after, version, [1.0])
    run.baseline = before
    run.save()
    Evaluation.objects.update(baseline_output=before.output_set.get())
    as_alice.post(address(project, Evaluation.objects.get()), **HTMX)
    case = GoldenCase.objects.get()
    assert case.must == {"value": 1.0}
    assert case.sample["outputs"] == {"value": "Answer case-000"}
    assert case.sample["comparison"] == {"outputs": {"value": "Another answer"}}


def test_the_panel_offers_it_to_editors_alone(as_alice, client, bob, project, rows):
    peek = reverse("experiment-peek", args=[project.slug, rows[0].run.experiment_id, rows[0].output_id])
    assert b"Keep as golden case" in as_alice.get(peek).content
    client.force_login(bob)
    assert b"Keep as golden case" not in client.get(peek).content


def test_runs_of_versions_that_were_never_published_are_marked(as_alice, project, rows):
    grid = rows[0].run.experiment.get_absolute_url()
    assert b">unpublished</span>" not in as_alice.get(grid).content
    PublishingRule.objects.create(project=project, min_agreement=0.9)
    judged(rows[0].run.experiment, version_of(project, "Facts", seed=7), [0.5, 0.5, 0.5])
    assert b">unpublished</span>" in as_alice.get(grid).content
    assert Publication.objects.count() == 1
    Evaluator.objects.get().publish(EvaluatorVersion.objects.last(), None)
    page = as_alice.get(grid).content
    assert b">unpublished</span>" not in page
    assert b">older</span>" in page
