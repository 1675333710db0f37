"""The list of evaluators, and the page of one."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluators.kinds import KINDS
from evaluators.models import Evaluator


def make(project, author, name, kind="heuristic", versions=1):
    evaluator = Evaluator.objects.create(project=project, name=name, kind=kind)
    for number in range(versions):
        blank = KINDS[kind].blank()
        evaluator.revise(blank | {"threshold": number / 10}, schema=1, author=author, note=f"Note {number + 1}")
    return evaluator


@pytest.fixture
def listing(as_alice, project):
    return lambda query="": as_alice.get(reverse("evaluator-list", args=[project.slug]) + query).content.decode()


def test_an_empty_project_shows_where_to_begin(listing):
    page = listing()
    assert "Starting points" in page
    assert "Factual consistency" in page


def test_a_row_says_name_kind_version_note_author_and_runs(listing, project, alice):
    make(project, alice, "Short enough", versions=3)
    page = listing()
    for words in (
        "Short enough",
        "Heuristic",
        '<span class="ver">v3</span>',
        "published",
        "Note 3",
        "alice",
        "just now",
    ):
        assert words in page
    assert '<span class="muted">0</span>' in page


def test_the_runs_of_all_versions_are_counted(listing, project, alice):
    from experiments.models import Dataset, DatasetVersion, Experiment, Run, System

    evaluator = make(project, alice, "Short enough", versions=2)
    dataset = Dataset.objects.create(project=project, name="Cases", latest_version=1)
    version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=0)
    system = System.objects.create(project=project, name="Bot")
    experiment = Experiment.objects.create(project=project, system=system, dataset_version=version, source="file")
    for each in evaluator.versions.all():
        Run.objects.create(version=each, experiment=experiment, lane="cpu")
    assert 'aria-label="2 runs of Short enough">2</a>' in listing()


def test_a_search_holds_every_word(listing, project, alice):
    make(project, alice, "Short enough")
    make(project, alice, "Short and sweet")
    page = listing("?q=short+SWEET")
    assert "Short and sweet" in page
    assert "Short enough" not in page
    assert "Nothing matches" in listing("?q=long")


def test_a_search_with_htmx_brings_the_table_alone(as_alice, project, alice):
    make(project, alice, "Short enough")
    reply = as_alice.get(reverse("evaluator-list", args=[project.slug]) + "?q=short", HTTP_HX_REQUEST="true")
    assert "<html" not in reply.content.decode()
    assert "Short enough" in reply.content.decode()


def test_it_can_show_one_kind(listing, project, alice):
    make(project, alice, "Short enough")
    make(project, alice, "Right answer", kind="judge")
    page = listing("?kind=judge")
    assert "Right answer" in page
    assert "Short enough" not in page


def test_pages_follow_each_other_without_gap_or_overlap(as_alice, project, alice):
    now = timezone.now()
    for number in range(60):
        evaluator = Evaluator.objects.create(project=project, name=f"E{number:02}", kind="heuristic")
        Evaluator.objects.filter(pk=evaluator.pk).update(updated_at=now - timedelta(minutes=number // 2))
    url, seen, query = reverse("evaluator-list", args=[project.slug]), [], {}
    while True:
        page = as_alice.get(url, query).context["page"]
        seen += [evaluator.name for evaluator in page.rows]
        if not page.next:
            break
        query = {"after": page.next}
    assert len(seen) == 60
    assert len(set(seen)) == 60
    assert {len(seen[:25])} == {25}


def test_the_list_asks_as_often_for_25_rows_as_for_one(as_alice, project, alice, django_assert_num_queries):
    url = reverse("evaluator-list", args=[project.slug])
    make(project, alice, "E")
    as_alice.get(url)
    with django_assert_num_queries(10):
        as_alice.get(url)
    for number in range(24):
        make(project, alice, f"E{number}", versions=2)
    with django_assert_num_queries(10):
        as_alice.get(url)


def test_a_viewer_sees_it_and_is_offered_no_changes(client, bob, project, alice):
    evaluator = make(project, alice, "Short enough")
    client.force_login(bob)
    page = client.get(reverse("evaluator-list", args=[project.slug])).content.decode()
    assert "Short enough" in page
    assert "New evaluator" not in page
    assert reverse("evaluator-edit", args=[project.slug, evaluator.pk]) not in page
    assert (
        reverse("evaluator-edit", args=[project.slug, evaluator.pk])
        not in client.get(evaluator.get_absolute_url()).content.decode()
    )


def test_the_page_shows_the_latest_version_and_any_other(as_alice, project, alice):
    evaluator = make(project, alice, "Short enough", versions=3)
    page = as_alice.get(evaluator.get_absolute_url()).content.decode()
    assert "What v3 does" in page
    assert "Passes at 20\u00a0% or higher." in page
    assert "Note 1" in page
    old = as_alice.get(evaluator.get_absolute_url() + "?version=1").content.decode()
    assert "What v1 does" in old
    assert "Passes at 0\u00a0% or higher." in old
    assert as_alice.get(evaluator.get_absolute_url() + "?version=9").status_code == 404


def test_the_page_asks_as_often_for_many_versions_as_for_one(as_alice, project, alice, django_assert_num_queries):
    evaluator = make(project, alice, "Short enough")
    as_alice.get(evaluator.get_absolute_url())
    with django_assert_num_queries(9):
        as_alice.get(evaluator.get_absolute_url())
    for number in range(20):
        evaluator.revise(KINDS["heuristic"].blank() | {"seed": number + 1}, schema=1, author=alice)
    with django_assert_num_queries(9):
        as_alice.get(evaluator.get_absolute_url())


def test_code_is_shown_as_text(as_alice, project, alice):
    evaluator = make(project, alice, "Short enough")
    evaluator.revise(KINDS["heuristic"].blank() | {"code": "</span><script>alert(1)</script>"}, schema=1, author=alice)
    assert "<script>alert" not in as_alice.get(evaluator.get_absolute_url()).content.decode()


def test_a_stranger_finds_neither(client, charlie, project, alice):
    evaluator = make(project, alice, "Short enough")
    client.force_login(charlie)
    assert client.get(reverse("evaluator-list", args=[project.slug])).status_code == 404
    assert client.get(evaluator.get_absolute_url()).status_code == 404
