"""Precision, recall, F1 and areas of a run: beside its figure, on leaderboards, and over some cases alone."""

import pytest
from django.urls import reverse

from evaluators.stats.estimate import Estimate
from experiments.analysis.leaderboard_ranking import NOT_BY_CASE, ranked
from experiments.analysis.summary import summaries
from experiments.models import Case, Run
from tests.experiments.scored_labels import ANIMALS, drawn, scored
from tests.experiments.test_run_options_pages import text_of

pytestmark = pytest.mark.django_db

# bird 1 of 3 right and called once; cat 1 of 1 right and called four times; dog 0 of 2 right and called once
WHOLE = {"precision": 1.25 / 3, "recall": (1 / 3 + 1) / 3, "f1": 0.9 / 3}
FIRST_THREE = {"precision": 0.5, "recall": 0.25, "f1": (2 / 3) / 2}  # bird, a dog and a bird called cats


def values(figures):
    return {name: figure.value for name, figure in figures.items()}


def among(run, measure, split=""):
    found = ranked([run.pk], measure, split, "", "")
    assert found["untold"] == {str(run.pk): NOT_BY_CASE}
    assert found["places"] == {}
    return Estimate(**found["figures"][str(run.pk)])


def test_the_figures_of_all_cases_stand_among_the_measures(project):
    run = scored(project, ANIMALS, "classification_roc_auc", figure="accuracy")
    measures = summaries([run])[run.pk].measures
    assert values(measures) == pytest.approx(WHOLE)
    assert measures["f1"].asked == 6
    assert Run.objects.get(pk=run.pk).summary["measures"]["f1"]["value"] == pytest.approx(0.3)


def test_some_cases_alone_have_figures_of_their_own(project):
    run = scored(project, ANIMALS, "classification_roc_auc")
    for name, value in WHOLE.items():
        assert among(run, name).value == pytest.approx(value)
    Case.objects.filter(key__in=("case-000", "case-001", "case-002")).update(split="test")
    for name, value in FIRST_THREE.items():
        assert among(run, name, "test").value == pytest.approx(value)


def test_an_area_is_ranked_by_nothing_and_told_of_some_cases(project):
    run = scored(project, ANIMALS, "classification_roc_auc")
    assert among(run, "").value == pytest.approx(0.800926, abs=1e-6)
    Case.objects.filter(key__in=("case-000", "case-001", "case-004")).update(split="test")
    # bird: alone above the others; dog: 0.1 below 0.2; cat: alone above the others
    assert among(run, "", "test").value == pytest.approx((1 + 0.5 + 1) / 3)


def test_a_leaderboard_shows_them_beside_the_share_that_is_right(as_alice, project):
    for number in (1, 2):
        scored(project, drawn(60, seed=number), "classification_roc_auc", f"assistant {number}", figure="accuracy")
    version = Run.objects.first().version_id
    page = reverse("leaderboard", args=[project.slug])
    offered = text_of(as_alice.get(page))
    assert "Intent: F1, macro" in offered
    shown = text_of(as_alice.get(f"{page}?also={version}:f1&by={version}:f1"))
    assert shown.count(NOT_BY_CASE) >= 2
    for run in Run.objects.all():
        figure = summaries([run])[run.pk].measures["f1"]
        assert f"{figure.value * 100:.1f}"[:-2] in shown


def test_what_classifies_nothing_has_none(project):
    run = scored(project, [], "classification_roc_auc", figure="accuracy")
    assert summaries([run])[run.pk].measures == {}


def test_labels_that_share_a_key_have_an_area_in_a_slice_as_well(project):
    rows = [({"key": "animal", "value": right}, {"animal": scores}) for right, scores in ANIMALS]
    run = scored(project, rows, "classification_roc_auc")
    assert summaries([run])[run.pk].estimate.value == pytest.approx(0.800926, abs=1e-6)
    Case.objects.update(split="test")
    assert among(run, "", "test").value == pytest.approx(0.800926, abs=1e-6)
    assert among(run, "f1", "test").value == pytest.approx(WHOLE["f1"])
