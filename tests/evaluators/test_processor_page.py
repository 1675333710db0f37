"""The page of the processor: written, tried, saved, compared; and what the bench makes of it."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import AuditEntry
from evaluators.models import ProcessorVersion
from tests.evaluators.editor_forms import heuristic_fields, on_pasted

pytestmark = pytest.mark.django_db

WORDS = "function process({ outputs }) {\n  return { words: outputs.value.split(' ').length };\n}"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def here(project):
    return reverse("processor-page", args=[project.slug])


def version(project, code=WORDS, number=1):
    return ProcessorVersion.objects.create(project=project, number=number, code=code)


def test_the_first_version_is_saved_and_audited(as_alice, project, here):
    as_alice.post(here, {"code": WORDS, "note": "words", "base": "0"})

    saved = ProcessorVersion.objects.get(project=project)
    assert (saved.number, saved.code, saved.note) == (1, WORDS, "words")
    assert AuditEntry.objects.filter(project=project, act="saved v1 of").exists()
    assert "in use" in as_alice.get(here).content.decode()


def test_the_same_code_again_makes_no_version(as_alice, project, here):
    version(project)

    as_alice.post(here, {"code": WORDS.replace("\n", "\r\n"), "base": "1"})

    assert ProcessorVersion.objects.count() == 1


def test_code_that_is_wrong_is_not_saved_and_nothing_typed_is_lost(as_alice, project, here):
    answer = as_alice.post(here, {"code": "function process() {\n  return {;\n}", "note": "kept", "base": "0"})

    assert answer.status_code == 422
    assert "Line 2" in answer.content.decode()
    assert "kept" in answer.content.decode()
    assert not ProcessorVersion.objects.exists()


def test_edits_that_somebody_overtook_are_refused_and_kept(as_alice, project, here):
    version(project)

    answer = as_alice.post(here, {"code": WORDS + "\n// mine", "base": "0"})

    assert answer.status_code == 422
    assert "// mine" in answer.content.decode()
    assert ProcessorVersion.objects.count() == 1


def test_saved_empty_there_is_no_processor_any_more(as_alice, project, here):
    version(project)

    as_alice.post(here, {"code": "  \n", "base": "1"})

    assert ProcessorVersion.objects.get(project=project, number=2).code == ""
    assert "no code" in as_alice.get(here).content.decode()


def test_two_versions_are_shown_line_by_line(as_alice, project, here):
    version(project)
    version(project, WORDS.replace("words:", "n_words:"), 2)

    text = as_alice.get(here, {"version": "2"}).content.decode()

    assert "From v1 to v2" in text
    assert "n_words" in text
    assert as_alice.get(here, {"version": "9"}).status_code == 404


def test_a_try_shows_what_it_makes_and_what_can_be_read_of_it(as_alice, project):
    sample = {"outputs": {"value": "one two three"}}

    url = reverse("processor-try", args=[project.slug])
    answer = as_alice.post(url, on_pasted({"code": WORDS, "base": "0"}, sample), headers=HTMX)

    assert answer.status_code == 200
    assert "processed.words" in answer.content.decode()
    assert not ProcessorVersion.objects.exists()


def test_a_try_on_which_it_fails_says_why_and_where(as_alice, project):
    url = reverse("processor-try", args=[project.slug])

    answer = as_alice.post(url, on_pasted({"code": WORDS, "base": "0"}, {"inputs": {}}), headers=HTMX)

    assert "failed on this output" in answer.content.decode()
    assert "Line 2" in answer.content.decode()


def test_a_try_works_without_a_script_as_a_whole_page(as_alice, project):
    url = reverse("processor-try", args=[project.slug])

    answer = as_alice.post(url, on_pasted({"code": "nonsense(", "base": "0"}))

    assert answer.status_code == 422
    assert "<h1>Processor</h1>" in answer.content.decode()
    assert "nonsense(" in answer.content.decode()


def test_a_viewer_reads_the_code_and_changes_nothing(client, bob, project, here):
    version(project)
    client.force_login(bob)

    text = client.get(here).content.decode()

    assert "outputs.value.split" in text
    assert "Save as" not in text
    assert client.post(here, {"code": "", "base": "1"}).status_code == 403


def test_the_bench_shows_evaluators_what_the_saved_processor_makes(as_alice, project):
    version(project)
    code = "function evaluate({ processed }) { return processed.words / 10; }"
    fields = on_pasted(heuristic_fields(code=code), {"outputs": {"value": "one two three"}})

    text = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields, headers=HTMX).content.decode()

    assert "30" in text
    assert "processed" in text


def test_the_bench_shows_why_the_processor_failed(as_alice, project):
    version(project)
    code = "function evaluate({ processed }) { return processed.words; }"
    fields = on_pasted(heuristic_fields(code=code), {"inputs": {"question": "?"}})

    text = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields, headers=HTMX).content.decode()

    assert "The processor (v1) failed on this output" in text


def test_the_editor_offers_the_paths_that_the_processor_makes(as_alice, project):
    version(project)
    url = reverse("evaluator-paths", args=[project.slug])

    offered = as_alice.post(url, {"sample_from": "paste", "pasted_sample": '{"outputs": {"value": "a b"}}'}).json()

    assert {"path": "processed.words", "preview": "2"} in offered


def test_a_pasted_sample_cannot_bring_what_only_the_processor_makes(as_alice, project):
    fields = on_pasted(heuristic_fields(), {"outputs": {"value": "a"}, "processed": {"words": 1}})

    answer = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields, headers=HTMX)

    assert answer.status_code == 422
    assert "made again" in answer.content.decode()
