"""What the home page claims: never more than the intervals show."""

import re

import pytest
from django.urls import reverse

from evaluators.models import Evaluator
from experiments.models import Run, RunState
from tests.experiments.judged import experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db

GOOD, FAIR, POOR = [1.0] * 28 + [0.0] * 2, [1.0] * 25 + [0.0] * 5, [1.0] * 6 + [0.0] * 24


def home(client, project) -> str:
    """The text of the panel, without its marks."""
    content = client.get(reverse("home-results", args=[project.slug]), headers={"HX-Request": "true"}).content.decode()
    words = re.sub(r"<[^>]+>", "", re.sub(r"<svg.*?</svg>", "", content, flags=re.DOTALL))
    return re.sub(r"\s+", " ", words.replace("\N{NO-BREAK SPACE}", " "))


def systems(project, *names):
    return [experiment_of(project, 30, name) for name in names]


def test_a_system_is_ahead_where_no_interval_overlaps(as_alice, project):
    old, new = systems(project, "old", "new")
    version = version_of(project, "Facts")
    judged(old, version, POOR)
    judged(new, version, GOOD)
    assert "new is ahead of old on Facts." in home(as_alice, project)


def test_where_intervals_overlap_the_data_cannot_tell_and_the_page_says_what_would_help(as_alice, project):
    old, new = systems(project, "old", "new")
    version = version_of(project, "Facts")
    judged(old, version, FAIR)
    judged(new, version, GOOD)
    said = home(as_alice, project)
    assert "ahead of" not in said
    assert "On Facts the data cannot tell yet." in said
    assert "They are 10.0 points apart. Case by case, more can be told than by two intervals." in said
    assert new.url_against(old.pk) in as_alice.get(reverse("home-results", args=[project.slug])).content.decode()


def test_where_lower_is_better_the_lower_one_is_ahead(as_alice, project):
    old, new = systems(project, "old", "new")
    version = version_of(project, "Length", direction="lower")
    judged(old, version, POOR)
    judged(new, version, GOOD)
    assert "old is ahead of new on Length." in home(as_alice, project)


def test_each_system_is_named_where_it_is_ahead(as_alice, project):
    old, new = systems(project, "old", "new")
    for name, of_old, of_new in (
        ("Facts", POOR, GOOD),
        ("Tone", POOR, GOOD),
        ("Length", GOOD, POOR),
        ("Words", FAIR, FAIR),
    ):
        version = version_of(project, name)
        judged(old, version, of_old)
        judged(new, version, of_new)
    said = home(as_alice, project)
    assert (
        "new is ahead of old on Facts and Tone. old is ahead of new on Length. On Words the data cannot tell." in said
    )


def test_of_three_systems_the_one_ahead_of_both_others_is_named(as_alice, project):
    version = version_of(project, "Facts")
    for experiment, told in zip(systems(project, "a", "b", "c"), (POOR, POOR, GOOD), strict=True):
        judged(experiment, version, told)
    assert "c is ahead of a and b on Facts." in home(as_alice, project)


def test_a_figure_from_too_few_scores_enters_no_claim(as_alice, project):
    version = version_of(project, "Facts")
    old, new, newest = systems(project, "old", "new", "newest")
    judged(old, version, POOR)
    judged(new, version, GOOD)
    judged(newest, version, [1.0] * 20 + ["unscored"] * 10)
    said = home(as_alice, project)
    assert "new is ahead of old on Facts." in said
    assert "newest on FactsOnly 20 of 30 outputs have a score." in said


def test_figures_of_different_versions_are_not_compared(as_alice, project):
    old, new = systems(project, "old", "new")
    judged(old, version_of(project, "Facts"), POOR)
    judged(new, version_of(project, "Facts", threshold=0.9), GOOD)
    said = home(as_alice, project)
    assert "ahead" not in said
    assert "One system has been judged so far." in said


def test_of_several_runs_of_a_system_the_latest_counts(as_alice, project):
    version = version_of(project, "Facts")
    old, first, second = systems(project, "old", "new", "new")
    judged(old, version, GOOD)
    judged(first, version, GOOD)
    judged(second, version, POOR)
    assert "old is ahead of new on Facts." in home(as_alice, project)


def test_the_rehearsal_s_claims_are_marked(as_alice, project):
    old, new = systems(project, "old", "new")
    version = version_of(project, "Facts")
    judged(old, version, POOR, connection=rehearsal_of(project))
    judged(new, version, GOOD, connection=rehearsal_of(project))
    assert "on Facts (rehearsal)." in home(as_alice, project)


def test_what_runs_is_shown_with_its_progress_and_asks_again(as_alice, project):
    (only,) = systems(project, "only")
    judged(only, version_of(project, "Facts"), ["pending"] * 30, state=RunState.ACTIVE)
    content = as_alice.get(
        reverse("home-results", args=[project.slug]), headers={"HX-Request": "true"}
    ).content.decode()
    assert "every 4s" in content
    assert "30 pending" in content
    assert "The first figures are on their way." in content


def next_step(client, project) -> str:
    content = client.get(reverse("home-results", args=[project.slug])).content.decode()
    return re.search(r'class="is-next"><h3>([^<]+)', content).group(1)


def test_an_empty_project_says_which_step_is_next(as_alice, project):
    assert next_step(as_alice, project) == "Bring test cases"
    experiment = experiment_of(project, 2)
    experiment.delete()
    assert next_step(as_alice, project) == "Bring outputs"
    experiment = experiment_of(project, 2)
    assert next_step(as_alice, project) == "Make an evaluator"
    version = version_of(project, "Facts")
    assert next_step(as_alice, project) == "Run and decide"
    judged(experiment, version, [0.5, 0.6])
    assert "is-next" not in as_alice.get(reverse("home-results", args=[project.slug])).content.decode()


def test_where_nothing_got_a_score_the_page_leads_to_the_runs(as_alice, project):
    judged(experiment_of(project, 2), version_of(project, "Facts"), ["failed", "failed"])
    assert "Nothing has a score yet. The runs say why." in home(as_alice, project)


@pytest.mark.parametrize("n", [1, 8])
def test_home_needs_the_same_few_queries_however_many_runs(as_alice, project, n, django_assert_max_num_queries):
    for experiment in systems(project, *(f"system {number}" for number in range(n))):
        for name in ("Facts", "Tone", "Length"):
            judged(experiment, version_of(project, name), GOOD)
    url = reverse("home-results", args=[project.slug])
    as_alice.get(url)
    with django_assert_max_num_queries(8):
        as_alice.get(url)
    assert Run.objects.count() == 3 * n
    assert Evaluator.objects.count() == 3
