"""The pages of importing, without JavaScript and with htmx."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.datasets.importing import running, tasks
from experiments.models import Dataset, Experiment, Import, ImportState
from tests.experiments.importing import bring, cases_of, jsonl, waiting

CASES = jsonl(
    {"id": "a", "inputs": {"question": "Why?"}, "outputs": {"value": "So <b>x</b>."}},
    {"id": "b", "inputs": {"question": "How?"}, "outputs": {"value": "Thus."}},
)
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture(autouse=True)
def enqueued(monkeypatch):
    asked = []
    monkeypatch.setattr(tasks, "enqueue", asked.append)
    return asked


@pytest.fixture
def new_url(project):
    return reverse("import-new", args=[project.slug])


def choose(client, url, content=CASES, name="cases.jsonl", dataset="questions"):
    data = content.encode() if isinstance(content, str) else content
    return client.post(url, {"file": SimpleUploadedFile(name, data), "dataset": dataset})


@pytest.fixture
def job(as_alice, new_url):
    choose(as_alice, new_url)
    return Import.objects.get()


def answers(job, **changes):
    """The mapping form as the page shows it, with some fields changed."""
    from experiments.forms.imports import MappingForm

    form = MappingForm(job=job)
    return {
        name: field.initial or "" for name, field in form.fields.items() if name not in ("judges", "comparing")
    } | changes


# --- Choosing a file --------------------------------------------------------------------------------------------------
def test_it_asks_for_a_file_and_a_data_set(as_alice, project, new_url):
    bring(project, CASES, dataset="older", system="bot")
    page = as_alice.get(new_url + "?dataset=older")
    assert page.status_code == 200
    assert b'enctype="multipart/form-data"' in page.content
    assert b'<option value="older">' in page.content
    assert b'value="older"' in page.content


def test_a_chosen_file_leads_to_its_columns(as_alice, alice, new_url):
    response = choose(as_alice, new_url)
    job = Import.objects.get()
    assert response.url == job.get_absolute_url()
    assert (job.state, job.author, job.file_name, job.format) == (ImportState.MAPPING, alice, "cases.jsonl", "jsonl")
    assert job.file.read() == CASES.encode()
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        (b"", "cases.jsonl", "The file is empty."),
        (b"PK\x03\x04 workbook", "cases.xlsx", "This is a ZIP archive or an Excel workbook. Save the sheet as CSV."),
        (b'{"id": "caf\xe9"}', "cases.jsonl", "Line 1 is not UTF-8 text. Save the file as UTF-8."),
        (b"{broken\n", "cases.jsonl", "No row can be read. Line 1: This is not JSON"),
        (b'{"a":\n 1}\n', "cases.json", "The file is one JSON object."),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_beside_the_field(as_alice, new_url, content, name, said):
    response = choose(as_alice, new_url, content, name)
    assert response.status_code == 422
    assert said in response.context["form"].errors["file"][0]
    assert not Import.objects.exists()


def test_without_a_file_or_a_name_it_says_so(as_alice, new_url):
    response = as_alice.post(new_url, {"dataset": ""})
    assert response.context["form"].errors == {"file": ["Choose a file."], "dataset": ["Name the dataset."]}


def test_a_request_that_is_too_large_stores_nothing_and_says_the_limit(as_alice, new_url, settings):
    settings.IMPORT_MAX_BYTES = 1024 * 1024
    response = choose(as_alice, new_url, CASES.encode() * 20_000)
    assert response.status_code == 422
    assert response.context["form"].errors["file"] == ["The file has more than 1 MB. Split the file into several."]


def test_a_name_of_any_length_and_alphabet_is_kept_only_as_a_name(as_alice, new_url):
    choose(as_alice, new_url, name="質" * 240 + ".jsonl")
    job = Import.objects.get()
    assert job.file_name.endswith("質.jsonl")
    assert "質" not in job.file.name


# --- Columns ----------------------------------------------------------------------------------------------------------
def test_the_columns_are_guessed_and_the_first_rows_shown_as_text(as_alice, job):
    page = as_alice.get(job.get_absolute_url())
    assert page.status_code == 200
    shown = page.content.decode()
    assert "So &lt;b&gt;x&lt;/b&gt;." in shown
    assert "<b>x</b>" not in shown
    assert "Adds 2 cases to “questions” as version 1." in shown
    assert 'aria-invalid="true"' not in shown
    assert [str(row.target.value()) for row in page.context["columns"]] == [
        "key",
        "ignore",
        "inputs",
        "ignore",
        "outputs",
    ]


def test_confirmed_columns_start_the_import(as_alice, job, enqueued, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        response = as_alice.post(job.get_absolute_url(), answers(job, system="bot"))
    job.refresh_from_db()
    assert response.url == job.get_absolute_url()
    assert (job.state, job.dataset.name, enqueued) == (ImportState.WAITING, "questions", [job.pk])
    running.run(job.pk)
    assert cases_of(job.dataset)["a"].inputs == {"question": "Why?"}
    assert Experiment.objects.get().system.name == "bot"


def test_confirming_twice_starts_it_once(as_alice, job, enqueued, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            as_alice.post(job.get_absolute_url(), answers(job, system="bot"))
    assert enqueued == [job.pk]


def test_a_column_can_become_something_else(as_alice, job):
    as_alice.post(job.get_absolute_url(), answers(job, target_4="expectedOutputs", name_4="reference"))
    running.run(job.pk)
    job.refresh_from_db()
    assert cases_of(job.dataset)["b"].expected_outputs == {"reference": "Thus."}
    assert job.experiment is None


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({}, "system", "Name the system that made the outputs."),
        ({"target_0": "nonsense"}, "target_0", "“nonsense” is none of inputs, "),
        ({"name_2": "two words"}, "name_2", "“two words” is no name."),
        ({"type_2": "dragon"}, "type_2", ""),
        (
            {"target_4": "inputs", "name_4": "question"},
            "target_4",
            "“inputs.question” becomes inputs.question already.",
        ),
    ],
)
def test_what_is_wrong_stands_beside_its_field(as_alice, job, changes, field, said):
    response = as_alice.post(job.get_absolute_url(), answers(job, **changes))
    assert response.status_code == 422
    assert response.context["form"].errors[field][0].startswith(said)
    job.refresh_from_db()
    assert job.state == ImportState.MAPPING


def test_the_forecast_follows_the_columns(as_alice, project, job):
    url = reverse("import-forecast", args=[project.slug, job.pk])
    said = as_alice.post(url, answers(job, target_4="expectedOutputs"), **HTMX).content.decode()
    assert "Adds 2 cases to “questions” as version 1." in said
    assert "experiment" not in said
    assert "<html" not in said
    said = as_alice.post(url, answers(job), **HTMX).content.decode()
    assert "Makes an experiment of a system that has no name yet with 2 outputs." in said
    said = as_alice.post(url, answers(job, name_2="two words"), **HTMX).content.decode()
    assert "need another look" in said


def test_an_upload_can_be_discarded_but_not_what_runs(as_alice, project, job):
    url = reverse("import-discard", args=[project.slug, job.pk])
    assert as_alice.get(url).status_code == 405
    Import.objects.update(state=ImportState.RUNNING)
    as_alice.post(url)
    assert Import.objects.exists()
    Import.objects.update(state=ImportState.MAPPING)
    as_alice.post(url)
    assert not Import.objects.exists()
    assert not job.file.storage.exists(job.file.name)


# --- Progress and report ----------------------------------------------------------------------------------------------
def test_progress_is_polled_until_it_is_over(as_alice, project):
    job = waiting(project, CASES, system="bot")
    page = as_alice.get(job.get_absolute_url()).content.decode()
    assert "<html" in page
    assert 'hx-trigger="every 1s"' in page
    fragment = as_alice.get(job.get_absolute_url(), **HTMX).content.decode()
    assert "<html" not in fragment
    assert 'hx-trigger="every 1s"' in fragment
    running.run(job.pk)
    fragment = as_alice.get(job.get_absolute_url(), **HTMX).content.decode()
    assert "hx-trigger" not in fragment
    assert "Added 2 cases to “questions” as version 1. Made an experiment of “bot” with 2 outputs." in fragment


def test_whoever_looks_brings_back_an_import_whose_worker_died(as_alice, project, enqueued):
    job = waiting(project, CASES, system="bot")
    as_alice.get(job.get_absolute_url())
    assert enqueued == []
    Import.objects.update(state=ImportState.RUNNING, lease="dead", lease_until="2020-01-01T00:00Z")
    as_alice.get(job.get_absolute_url())
    as_alice.get(job.get_absolute_url())
    assert enqueued == [job.pk]


def test_the_report_lists_bad_rows_and_leads_on(as_alice, project):
    job = bring(project, CASES + '{"id": "<i>", "outputs": {"value": "x"}}\n', system="bot")
    page = as_alice.get(job.get_absolute_url()).content.decode()
    assert "No case has the key “&lt;i&gt;”, and this row has no inputs to make one." in page
    assert job.dataset.get_absolute_url() in page
    assert job.experiment.get_absolute_url() in page


def test_a_failed_import_says_why(as_alice, project, monkeypatch):
    monkeypatch.setattr("experiments.datasets.importing.preview.LOOKED_AT_ROWS", 2)
    job = bring(project, "[" + ",".join('{"id": 1, "inputs": {"q": 1}}' for _ in range(9)), "cases.json")
    page = as_alice.get(job.get_absolute_url()).content.decode()
    assert "The JSON cannot be read after item 9" in page
    assert "the dataset is as it was" in page


# --- Who may ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def urls(project, new_url):
    job = bring(project, CASES, system="bot")
    names = ("import-page", "import-forecast", "import-discard")
    return [new_url, *(reverse(name, args=[project.slug, job.pk]) for name in names)]


def test_strangers_find_nothing_and_viewers_may_not(client, bob, charlie, urls):
    for person, status in ((charlie, 404), (bob, 403)):
        client.force_login(person)
        assert [client.post(url).status_code for url in urls] == [status] * len(urls)
    client.logout()
    assert all(client.get(urls[0]).url.startswith(reverse("sign-in")) for _ in (1,))


def test_an_import_of_another_project_is_not_there(as_alice, alice, project, job):
    from evalstudio.projects.models import Project

    other = Project.start("Other", alice)
    assert as_alice.get(reverse("import-page", args=[other.slug, job.pk])).status_code == 404


def test_pages_keep_their_queries(as_alice, project, new_url, job, django_assert_max_num_queries):
    for number in range(30):
        bring(project, CASES, dataset=f"set {number}", system=f"bot {number}")
    done = bring(project, CASES, system="bot")
    for url in (new_url, job.get_absolute_url(), done.get_absolute_url()):
        with django_assert_max_num_queries(14):
            as_alice.get(url)


def test_large_cells_are_cut_on_the_page(as_alice, new_url):
    choose(as_alice, new_url, jsonl({"id": "a", "inputs": {"text": "x" * 1_000_000}}))
    assert len(as_alice.get(Import.objects.get().get_absolute_url()).content) < 60_000
