"""The pages of datasets: the list, the cases of a version, one case."""

import pytest
from django.urls import reverse

from experiments.datasets.importing import running
from experiments.models import Case, Dataset, Import, ImportState
from tests.experiments.importing import bring, jsonl, waiting

HTMX = {"HTTP_HX_REQUEST": "true"}


def many(n, **more):
    return jsonl(*({"id": f"case-{i:03}", "inputs": {"question": f"Question {i}?"}, **more} for i in range(n)))


@pytest.fixture
def list_url(project):
    return reverse("dataset-list", args=[project.slug])


@pytest.fixture
def dataset(project) -> Dataset:
    return bring(project, many(60)).dataset


def shown_keys(response):
    return [row.key for row in response.context["rows"]]


# --- The list ---------------------------------------------------------------------------------------------------------
def test_an_empty_list_says_what_to_do(as_alice, project, list_url, client, bob):
    assert reverse("import-new", args=[project.slug]) in as_alice.get(list_url).content.decode()
    client.force_login(bob)
    page = client.get(list_url).content.decode()
    assert reverse("import-new", args=[project.slug]) not in page
    assert "An editor of this project can import one." in page


def test_the_list_shows_version_cases_and_experiments(as_alice, project, list_url):
    bring(project, many(3), dataset="small")
    bring(project, many(2, output="x"), dataset="small", system="bot")
    (dataset,) = as_alice.get(list_url).context["page"].rows
    assert (dataset.name, dataset.latest_version, dataset.n_cases, dataset.n_experiments) == ("small", 1, 3, 1)


def test_unfinished_imports_are_offered_to_those_who_may_go_on(as_alice, project, list_url, client, bob):
    job = waiting(project, many(3))
    assert job.get_absolute_url() in as_alice.get(list_url).content.decode()
    Import.objects.update(state=ImportState.MAPPING)
    assert "waits for somebody to say what its columns are" in as_alice.get(list_url).content.decode()
    client.force_login(bob)
    assert job.get_absolute_url() not in client.get(list_url).content.decode()


# --- One dataset -----------------------------------------------------------------------------------------------------
def test_cases_come_in_order_25_at_a_time(as_alice, dataset):
    first = as_alice.get(dataset.get_absolute_url())
    assert shown_keys(first) == [f"case-{i:03}" for i in range(25)]
    second = as_alice.get(dataset.get_absolute_url(), {"after": first.context["page"].next})
    assert shown_keys(second) == [f"case-{i:03}" for i in range(25, 50)]
    back = as_alice.get(dataset.get_absolute_url(), {"before": second.context["page"].previous})
    assert shown_keys(back) == shown_keys(first)


def test_a_case_is_found_by_part_of_its_key(as_alice, dataset):
    assert shown_keys(as_alice.get(dataset.get_absolute_url(), {"q": "E-05"})) == [
        f"case-{i:03}" for i in range(50, 60)
    ]
    nothing = as_alice.get(dataset.get_absolute_url(), {"q": "%"})
    assert "No case fits" in nothing.content.decode()


def test_htmx_gets_the_cases_alone(as_alice, dataset):
    fragment = as_alice.get(dataset.get_absolute_url(), {"q": "case-01"}, **HTMX).content.decode()
    assert "<html" not in fragment
    assert "case-010" in fragment


def test_an_old_version_can_be_read_as_it_was(as_alice, project, dataset):
    bring(
        project, jsonl({"id": "case-000", "inputs": {"question": "New?"}}, {"id": "z", "inputs": {"question": "Last?"}})
    )
    latest, old = as_alice.get(dataset.get_absolute_url()), as_alice.get(dataset.get_absolute_url(), {"version": 1})
    assert (latest.context["rows"][0].inputs, old.context["rows"][0].inputs) == ("New?", "Question 0?")
    assert "Version 2 is the latest" in old.content.decode()
    assert shown_keys(as_alice.get(dataset.get_absolute_url(), {"q": "z", "version": 1})) == []
    assert shown_keys(as_alice.get(dataset.get_absolute_url(), {"q": "z"})) == ["z"]


@pytest.mark.parametrize("version", ["3", "0", "-1", "x", "99999999999"])
def test_a_version_that_never_was_is_not_there(as_alice, dataset, version):
    assert as_alice.get(dataset.get_absolute_url(), {"version": version}).status_code == 404


def test_a_version_being_written_is_not_there_yet(as_alice, project, dataset):
    job = waiting(project, many(2, metadata={"lang": "en"}))
    statuses = []
    running.run(
        job.pk,
        watch=lambda job: statuses.append(as_alice.get(dataset.get_absolute_url(), {"version": 2}).status_code),
    )
    assert statuses == [404]
    assert as_alice.get(dataset.get_absolute_url(), {"version": 2}).status_code == 200


# --- One case ---------------------------------------------------------------------------------------------------------
def test_the_peek_shows_everything_as_text(as_alice, project):
    content = jsonl(
        {
            "id": "a",
            "inputs": {"question": "<b>Why</b>?", "context": ["one", "two"]},
            "expectedOutputs": {"value": "Because."},
            "metadata": {"tier": "gold"},
            "output": "So.",
        }
    )
    job = bring(project, content, system="<i>bot</i>")
    case = Case.objects.get()
    url = reverse("dataset-case", args=[project.slug, job.dataset.pk, case.pk])
    for page in (as_alice.get(url), as_alice.get(job.dataset.get_absolute_url(), {"peek": case.pk})):
        shown = page.content.decode()
        assert "&lt;b&gt;Why&lt;/b&gt;?" in shown
        assert "&quot;two&quot;" in shown
        assert all(text in shown for text in ("Because.", "gold", "So.", "&lt;i&gt;bot&lt;/i&gt;"))
        assert "<i>bot" not in shown


def test_the_peek_knows_its_neighbours_in_the_version(as_alice, project, dataset):
    keys = dict(Case.objects.values_list("key", "pk"))
    url = reverse("dataset-case", args=[project.slug, dataset.pk, keys["case-001"]])
    span = as_alice.get(url).context["span"]
    assert (span.previous, span.next) == (keys["case-000"], keys["case-002"])
    url = reverse("dataset-case", args=[project.slug, dataset.pk, keys["case-059"]])
    assert as_alice.get(url).context["span"].next is None


def test_a_case_of_another_version_or_data_set_is_not_there(as_alice, project, dataset):
    other = bring(project, many(1), dataset="other").dataset
    case = Case.objects.get(dataset=other)
    assert as_alice.get(reverse("dataset-case", args=[project.slug, dataset.pk, case.pk])).status_code == 404
    page = as_alice.get(dataset.get_absolute_url(), {"peek": case.pk})
    assert (page.status_code, "span" in page.context) == (200, False)
    assert as_alice.get(dataset.get_absolute_url(), {"peek": "x" * 50}).status_code == 200


# --- Who may, and what it costs ---------------------------------------------------------------------------------------
def test_members_may_read_strangers_find_nothing(client, bob, charlie, project, dataset, list_url):
    case = Case.objects.first()
    urls = [list_url, dataset.get_absolute_url(), reverse("dataset-case", args=[project.slug, dataset.pk, case.pk])]
    for person, status in ((bob, 200), (charlie, 404)):
        client.force_login(person)
        assert [client.get(url).status_code for url in urls] == [status] * 3
    assert [client.post(url).status_code for url in urls] == [405] * 3


def test_pages_keep_their_queries(as_alice, project, list_url, django_assert_max_num_queries):
    """The same few queries for one dataset and one version, and for many."""
    for number in range(8):
        bring(
            project,
            many(30, output=f"o{number}"),
            dataset="busy",
            system=f"bot {number}",
            targets={"output": "outputs.value"},
        )
        bring(project, many(30, metadata={"round": number}), dataset="busy")
        bring(project, many(2), dataset=f"set {number}")
    dataset = Dataset.objects.get(name="busy")
    case = Case.objects.filter(dataset=dataset).latest("pk")
    with django_assert_max_num_queries(8):
        as_alice.get(list_url)
    as_alice.get(dataset.get_absolute_url())  # counts the splits and tags of this version once
    with django_assert_max_num_queries(10):
        as_alice.get(dataset.get_absolute_url())
    with django_assert_max_num_queries(12):
        as_alice.get(dataset.get_absolute_url(), {"peek": case.pk})
    with django_assert_max_num_queries(10):
        as_alice.get(reverse("dataset-case", args=[project.slug, dataset.pk, case.pk]))
