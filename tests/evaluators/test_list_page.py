"""The list of evaluators: rows, kinds, orders, search, archiving and duplicates."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry
from evaluators.core import COMPARISON
from evaluators.kinds import KINDS
from evaluators.models import Evaluator
from experiments.models import Dataset, DatasetVersion, Experiment, Purpose, Run, System


def make(project, author, name, kind="heuristic", versions=1, **config):
    evaluator = Evaluator.objects.create(project=project, name=name, kind=kind)
    for number in range(versions):
        stored = KINDS[kind].blank() | {"threshold": number / 10} | config
        evaluator.revise(stored, schema=KINDS[kind].schema, author=author, note=f"Note {number + 1}")
    return evaluator


def ran(evaluator, mean_cost_usd=None, scored=1, purpose=Purpose.RESULTS):
    """A run of each version over an experiment of its own, summed up."""
    project = evaluator.project
    dataset, _ = Dataset.objects.get_or_create(project=project, name="Cases", latest_version=1)
    cases, _ = DatasetVersion.objects.get_or_create(dataset=dataset, number=1, n_cases=0)
    system, _ = System.objects.get_or_create(project=project, name="Bot")
    summary = {"mean_cost_usd": mean_cost_usd, "counts": {"scored": scored, "unscored": 0, "failed": 5}}
    for version in evaluator.versions.all():
        experiment = Experiment.objects.create(project=project, system=system, dataset_version=cases, source="file")
        Run.objects.create(version=version, experiment=experiment, lane="net", purpose=purpose, summary=summary)


@pytest.fixture
def listing(as_alice, project):
    return lambda query="": as_alice.get(reverse("evaluator-list", args=[project.slug]) + query).content.decode()


@pytest.fixture
def rows(as_alice, project):
    return lambda query="": as_alice.get(reverse("evaluator-list", args=[project.slug]) + query).context["rows"]


def names(rows):
    return [row.evaluator.name for row in rows]


# Rows


def test_an_empty_project_shows_where_to_begin(listing):
    page = listing()
    assert "Factual consistency" in page
    assert "Comparative AI judge" in page


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
        "no calls",
    ):
        assert words in page
    assert '<span class="muted">0</span>' in page


def test_a_latest_version_that_is_not_the_published_one_is_marked(listing, project, alice):
    evaluator = make(project, alice, "Short enough", versions=2)
    assert "unpublished" not in listing()
    evaluator.publish(evaluator.versions.get(number=1), alice)
    assert "unpublished" in listing()


def test_the_runs_of_all_versions_are_counted_and_trials_are_not(listing, project, alice):
    evaluator = make(project, alice, "Short enough", versions=2)
    ran(evaluator)
    ran(evaluator, purpose=Purpose.TRIAL)
    assert 'aria-label="2 runs of Short enough">2</a>' in listing()


def test_the_mean_cost_weighs_runs_by_what_they_scored(listing, rows, project, alice):
    evaluator = make(project, alice, "Right", kind="judge", model="tiny")
    ran(evaluator, mean_cost_usd=0.0001, scored=3)
    ran(evaluator, mean_cost_usd=0.0005, scored=1)
    ran(evaluator, mean_cost_usd=None, scored=96)
    ran(evaluator, mean_cost_usd=9, purpose=Purpose.NOISE)
    assert rows()[0].mean_cost_usd == pytest.approx(0.0002)
    assert "$0.00020" in listing()


def test_an_unknown_cost_is_a_word_and_never_a_zero(listing, project, alice):
    evaluator = make(project, alice, "Right", kind="judge", model="tiny")
    assert "none yet" in listing()
    ran(evaluator, mean_cost_usd=None)
    page = listing()
    assert "unknown" in page
    assert "$0" not in page
    ran(evaluator, mean_cost_usd=0)
    assert '<span class="muted">free</span>' in listing()


# Choosing


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


def test_comparative_ones_are_a_choice_of_their_own_whatever_their_kind(as_alice, rows, project, alice):
    make(project, alice, "Short enough")
    make(project, alice, "Shorter", runs_on=COMPARISON)
    make(project, alice, "Right", kind="judge")
    make(project, alice, "Better", kind="judge", runs_on=COMPARISON)
    assert names(rows("?kind=judge")) == ["Right"]
    assert sorted(names(rows("?kind=comparative"))) == ["Better", "Shorter"]
    counts = as_alice.get(reverse("evaluator-list", args=[project.slug])).context["counts"]
    assert [(choice.title, choice.count) for choice in counts.choices] == [
        ("AI judge", 1),
        ("Comparative", 2),
        ("Heuristic", 1),
    ]
    assert {row.shown_kind for row in rows("?kind=comparative")} == {"Comparative"}


def test_an_evaluator_compares_when_its_latest_version_does(rows, project, alice):
    evaluator = make(project, alice, "Shorter", runs_on=COMPARISON)
    evaluator.revise(KINDS["heuristic"].blank(), schema=2, author=alice)
    assert names(rows("?kind=comparative")) == []
    assert names(rows("?kind=heuristic")) == ["Shorter"]


# Orders


@pytest.fixture
def three(project, alice):
    """Three evaluators that every order puts differently; "alpha" was updated first."""
    alpha = make(project, alice, "alpha", kind="judge", versions=3, model="tiny")
    beta = make(project, alice, "Beta", versions=1)
    gamma = make(project, alice, "gamma", versions=2, runs_on=COMPARISON)
    ran(alpha, mean_cost_usd=0.2)
    ran(gamma, mean_cost_usd=0.1)
    return alpha, beta, gamma


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("name", ["alpha", "Beta", "gamma"]),
        ("-name", ["gamma", "Beta", "alpha"]),
        ("kind", ["alpha", "gamma", "Beta"]),  # AI judge, Comparative, Heuristic
        ("-latest", ["alpha", "gamma", "Beta"]),
        ("latest", ["Beta", "gamma", "alpha"]),
        ("-runs", ["alpha", "gamma", "Beta"]),
        ("runs", ["Beta", "gamma", "alpha"]),
        ("-cost", ["alpha", "gamma", "Beta"]),
        ("cost", ["gamma", "alpha", "Beta"]),  # unknown comes last both ways
        ("updated", ["alpha", "Beta", "gamma"]),
        ("-updated", ["gamma", "Beta", "alpha"]),
        ("", ["gamma", "Beta", "alpha"]),
        ("nonsense", ["gamma", "Beta", "alpha"]),
    ],
)
def test_every_head_sorts(three, rows, sort, order):
    assert names(rows(f"?sort={sort}")) == order


def test_a_head_says_how_it_sorts_and_turns_when_pressed(three, listing):
    page = listing("?sort=-runs&q=a")
    assert 'aria-sort="descending"><a id="sort-runs"' in page
    assert page.count("aria-sort=") == 1
    assert "?sort=runs&amp;q=a" in page
    assert "?sort=-cost&amp;q=a" in page


@pytest.mark.parametrize("sort", ["name", "-kind", "latest", "-latest", "runs", "-runs", "cost", "-cost", "updated"])
def test_pages_follow_each_other_without_gap_or_overlap_in_every_order(as_alice, project, alice, sort):
    now = timezone.now()
    for number in range(60):
        evaluator = make(project, alice, f"E{number:02}", versions=number % 3)
        Evaluator.objects.filter(pk=evaluator.pk).update(updated_at=now - timedelta(minutes=number // 2))
        if number % 4 == 0:
            ran(evaluator, mean_cost_usd=number % 8 or None)
    url, seen, query = reverse("evaluator-list", args=[project.slug]), [], {"sort": sort}
    while True:
        page = as_alice.get(url, query).context["page"]
        seen += names(as_alice.get(url, query).context["rows"])
        if not page.next:
            break
        query = {"sort": sort, "after": page.next}
    assert len(seen) == len(set(seen)) == 60
    back = as_alice.get(url, {"sort": sort, "before": page.previous}).context["rows"]
    assert names(back) == seen[25:50]


@pytest.mark.parametrize("sort", ["", "name", "kind", "latest", "-runs", "-cost"])
def test_the_list_asks_as_often_for_25_rows_as_for_one(as_alice, project, alice, sort, django_assert_num_queries):
    url = reverse("evaluator-list", args=[project.slug]) + f"?sort={sort}"
    make(project, alice, "E")
    as_alice.get(url)
    with django_assert_num_queries(9):
        as_alice.get(url)
    for number in range(24):
        ran(make(project, alice, f"E{number}", versions=2))
    with django_assert_num_queries(9):
        as_alice.get(url)


# Archiving and duplicates


def test_an_archived_evaluator_leaves_the_list_and_one_press_brings_it_back(as_alice, listing, rows, project, alice):
    evaluator = make(project, alice, "Short enough")
    make(project, alice, "Other")
    address = reverse("evaluator-list", args=[project.slug])
    reply = as_alice.post(
        reverse("evaluator-archive", args=[project.slug, evaluator.pk]), {"next": f"{address}?sort=name"}, follow=True
    )
    assert reply.redirect_chain == [(f"{address}?sort=name", 302)]
    undo = reverse("evaluator-restore", args=[project.slug, evaluator.pk])
    assert f'<form method="post" action="{undo}">' in reply.content.decode(), "the toast takes it back"
    assert names(rows()) == ["Other"]
    assert names(rows("?show=archived")) == ["Short enough"]
    assert "Archived <b>1</b>" in listing()
    as_alice.post(undo)
    assert sorted(names(rows())) == ["Other", "Short enough"]
    acts = AuditEntry.objects.filter(project=project).values_list("actor", "act", "subject")
    assert list(acts) == [
        (alice.pk, "archived", "evaluator Short enough"),
        (alice.pk, "restored", "evaluator Short enough"),
    ]


def test_a_project_whose_evaluators_are_all_archived_says_where_they_are(as_alice, listing, project, alice):
    make(project, alice, "Short enough").archive(alice)
    page = listing()
    assert "Every evaluator is archived" in page
    assert "show=archived" in page


def test_nobody_is_sent_to_another_site_after_archiving(as_alice, project, alice):
    evaluator = make(project, alice, "Short enough")
    archive = reverse("evaluator-archive", args=[project.slug, evaluator.pk])
    assert as_alice.post(archive, {"next": "https://elsewhere.example/"}).url == reverse(
        "evaluator-list", args=[project.slug]
    )


def test_a_duplicate_begins_with_the_latest_version_under_a_free_name(as_alice, project, alice):
    evaluator = make(project, alice, "Short enough", versions=3)
    duplicate = reverse("evaluator-duplicate", args=[project.slug, evaluator.pk])
    pages = [as_alice.post(duplicate, follow=True).content.decode() for _ in range(2)]
    assert "Short enough (copy) is saved as v1" in pages[0]
    copies = list(Evaluator.objects.exclude(pk=evaluator.pk).order_by("pk"))
    assert [copy.name for copy in copies] == ["Short enough (copy)", "Short enough (copy 2)"]
    version = copies[0].versions.get()
    assert version.config == evaluator.versions.get(number=3).config
    assert version.note == "Copied from Short enough v3"
    assert version.author == alice
    assert AuditEntry.objects.filter(act="duplicated", subject__endswith="as Short enough (copy)").count() == 1


def test_the_longest_name_has_a_copy_too(project, alice):
    evaluator = make(project, alice, "n" * 120)
    assert evaluator.duplicate(alice).name == "n" * 113 + " (copy)"


def test_an_evaluator_without_a_version_has_nothing_to_copy(as_alice, project):
    evaluator = Evaluator.objects.create(project=project, name="Begun", kind="judge")
    reply = as_alice.post(reverse("evaluator-duplicate", args=[project.slug, evaluator.pk]), follow=True)
    assert "nothing to copy" in reply.content.decode()
    assert Evaluator.objects.count() == 1


# Who


def test_a_viewer_sees_it_and_is_offered_no_changes(client, bob, project, alice):
    evaluator = make(project, alice, "Short enough")
    client.force_login(bob)
    page = client.get(reverse("evaluator-list", args=[project.slug])).content.decode()
    assert "Short enough" in page
    assert "New evaluator" not in page
    for name in ("evaluator-edit", "evaluator-archive", "evaluator-duplicate"):
        assert reverse(name, args=[project.slug, evaluator.pk]) not in page
    for verb in ("archive", "restore", "duplicate"):
        assert client.post(reverse(f"evaluator-{verb}", args=[project.slug, evaluator.pk])).status_code == 403


def test_a_stranger_finds_nothing(client, charlie, project, alice):
    evaluator = make(project, alice, "Short enough")
    client.force_login(charlie)
    assert client.get(reverse("evaluator-list", args=[project.slug])).status_code == 404
    for verb in ("archive", "restore", "duplicate"):
        assert client.post(reverse(f"evaluator-{verb}", args=[project.slug, evaluator.pk])).status_code == 404
    evaluator.refresh_from_db()
    assert evaluator.archived_at is None
