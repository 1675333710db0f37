"""The leaderboards over REST."""

import pytest

from experiments.analysis import working_out
from experiments.models import Run
from tests.experiments.compared import comparative, compared
from tests.experiments.judged import experiment_of, judged, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(project):
    tone = version_of(project, "Tone")
    best, worst = experiment_of(project, 20, "best"), experiment_of(project, 20, "worst")
    judged(best, tone, [0.9, 0.8] * 10)
    judged(worst, tone, [0.1, 0.2] * 10)
    return best, worst


def read(client, project, path="", query=""):
    response = client.get(f"/api/projects/{project.slug}/leaderboard/{path}{query}")
    assert response.status_code == 200
    return response.json()


def test_places_and_figures_are_those_of_the_page(as_alice, project, two):
    board = read(as_alice, project)
    assert (board["correction"], board["pairs"], board["is_waiting"]) == ("holm", 1, False)
    first, second = board["systems"]
    assert (first["system"], first["place"]) == ("best", {"low": 1, "high": 1, "tied_with": [], "untold": ""})
    assert second["place"]["low"] == 2
    figure = second["figures"][0]
    assert figure["estimate"]["value"] == pytest.approx(0.15)
    assert figure["passing"]["value"] == 0.0
    assert figure["counts"]["failing"] == 20
    assert figure["run"] == Run.objects.get(experiment=two[1]).pk


def test_who_is_tied_is_named_by_experiment(as_alice, project, two):
    like = experiment_of(project, 20, "like best")
    judged(like, Run.objects.first().version, [0.8, 0.9] * 10)
    places = {each["experiment"]: each["place"] for each in read(as_alice, project)["systems"]}
    assert places[two[0].pk]["tied_with"] == [like.pk]


def test_it_says_when_something_is_still_worked_out(as_alice, project, two, monkeypatch):
    monkeypatch.setattr(working_out, "AT_ONCE", 5)
    board = read(as_alice, project)
    assert board["is_waiting"] is True
    assert [each["place"] for each in board["systems"]] == [None, None]


def test_pairs_have_win_rates_and_strengths(as_alice, project, two):
    version = comparative(project)
    run = compared(*two, version, [1.0, 1.0, 1.0, 0.0] * 5)
    mirror = compared(two[1], two[0], version, [0.0, 0.0, 0.0, 1.0] * 5)
    found = read(as_alice, project, "pairs/", f"?baseline={two[1].pk}")
    (rate,) = found["rates"]
    assert (rate["experiment"], rate["run"], rate["win_rate"]["value"]) == (two[0].pk, run.pk, 0.75)
    assert rate["outcomes"] == {"wins": 15, "ties": 0, "losses": 5}
    assert found["mirrors"] == [mirror.pk]
    assert found["strengths"][0]["expected_wins"]["value"] == pytest.approx(0.75)


def test_an_empty_project_has_empty_boards(as_alice, project):
    assert read(as_alice, project)["systems"] == []
    found = read(as_alice, project, "pairs/")
    assert (found["dataset"], found["rates"], found["strengths"]) == (None, [], None)
