"""Pages of golden cases: add, judge, correct, delete, and try unsaved edits on them in the bench."""

import json
import re

import pytest
from django.urls import reverse
from django_htmx.middleware import HtmxDetails

from evalstudio.projects.models import Role
from evaluators.golden_judging import Round, judge
from evaluators.kinds import KINDS
from evaluators.models import GoldenCase, GoldenVerdict
from evaluators.views.golden import golden_page
from tests.evaluators.editor_forms import heuristic_fields, on_pasted
from tests.evaluators.golden_stage import (
    ALWAYS,
    SHORT,
    YES_NO,
    four_cases,
    heuristic_config,
    keep_case,
    version_of,
)

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
SAMPLE = json.dumps({"outputs": {"value": "A terse answer."}})


@pytest.fixture
def evaluator(project):
    return version_of(project, "Short", heuristic_config()).evaluator


@pytest.fixture
def go(as_alice, project):
    """Open or post to a page by its name: the reply."""

    def go(name, *args, data=None, **more):
        address = reverse(name, args=[project.slug, *args])
        return as_alice.get(address, **more) if data is None else as_alice.post(address, data, **more)

    return go


def test_an_empty_list_says_where_cases_come_from(go, evaluator):
    assert "No golden case yet" in go("evaluator-golden", evaluator.pk).content.decode()


def test_a_pasted_sample_is_kept_with_what_must_come(go, evaluator, alice):
    data = {"sample": SAMPLE, "must": "passed:no", "title": "", "note": "Too curt"}
    reply = go("golden-new", evaluator.pk, data=data)
    case = GoldenCase.objects.get()
    assert reply.url.endswith(f"/golden-cases/{case.pk}/")
    assert (case.title, case.must, case.note, case.author) == ("A terse answer.", {"passed": False}, "Too curt", alice)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"sample": "{"}, "Line 1"),
        ({"sample": ""}, "Paste a sample"),
        ({"sample": '{"output": 1}'}, "is no part of a sample"),
        ({"sample": '{"outputs": {"value": "a\\u0000"}}'}, "cannot be stored"),
        ({"sample": '{"outputs": 1, "comparison": {"outputs": 2}}'}, "looks at one result"),
        ({"must": ""}, "Say what must come."),
        ({"must": "label:Yes"}, "Select a valid choice"),
        ({"must": "number", "number": ""}, "Give the number that must come"),
        ({"must": "number", "number": "140"}, "Give the number that must come"),
    ],
)
def test_what_is_wrong_stands_beside_the_field_and_what_was_typed_stays(go, evaluator, typed, said):
    data = {"sample": SAMPLE, "must": "passed:yes", "title": "Mine", "note": ""} | typed
    reply = go("golden-new", evaluator.pk, data=data)
    assert reply.status_code == 422
    assert said in reply.content.decode()
    assert 'value="Mine"' in reply.content.decode()
    assert not GoldenCase.objects.exists()


def test_a_case_is_corrected_and_its_verdicts_stay(go, evaluator):
    case = keep_case(evaluator, "brief", {"passed": False})
    judge(evaluator.versions.get())
    assert "does not agree" in go("golden-case", case.pk).content.decode()
    go("golden-case", case.pk, data={"title": "Brief is right", "must": "passed:yes", "note": "Decided on Monday"})
    page = go("golden-case", case.pk).content.decode()
    assert "<h1>Brief is right</h1>" in page
    assert "does not agree" not in page
    assert GoldenVerdict.objects.count() == 1
    assert "Decided on Monday" in go("evaluator-golden", evaluator.pk).content.decode()


def test_a_number_that_must_come_is_shown_in_its_form(go, evaluator):
    case = keep_case(evaluator, "brief", {"value": 0.605})
    page = go("golden-case", case.pk).content.decode()
    assert "<b>60.5\u00a0%</b>" in page
    assert 'value="60.5"' in page


def test_a_case_is_deleted(go, evaluator):
    case = keep_case(evaluator, "brief", {"passed": True})
    assert go("golden-delete", case.pk, data={}).status_code == 302
    assert not GoldenCase.objects.exists()


def test_the_list_says_what_the_latest_and_the_published_version_said(go, evaluator, project):
    four_cases(evaluator)
    judge(evaluator.versions.get())
    version_of(project, "Short", heuristic_config(ALWAYS))
    reply = go("golden-judge", evaluator.pk, data={"version": "2"}, **HTMX)
    page = reply.content.decode()
    assert "<html" not in page
    assert page.count("does not agree") == 2
    evaluator.publish(evaluator.versions.get(number=1), None)
    page = go("evaluator-golden", evaluator.pk).content.decode()
    assert "v1 <span" in page
    assert page.count(", agrees") == 6


@pytest.mark.parametrize(("done", "goes_on"), [(Round(16, 4), True), (Round(0, 4, "Too busy."), False)])
def test_a_round_that_did_not_finish_goes_on_by_itself(rf, evaluator, project, alice, done, goes_on):
    for number in range(4):
        keep_case(evaluator, f"answer {number}", {"passed": True})
    request = rf.post("/", headers={"HX-Request": "true"})
    request.project, request.user, request.role, request.htmx = project, alice, Role.OWNER, HtmxDetails(request)
    page = golden_page(request, evaluator, evaluator.versions.get(), round=done).content.decode()
    assert ('hx-trigger="load, submit"' in page) is goes_on
    assert "Judge 4" in page
    assert ("Too busy." in page) is not goes_on


def test_without_scripts_judging_leads_back_to_the_list(go, evaluator):
    four_cases(evaluator)
    reply = go("golden-judge", evaluator.pk, data={"version": "1"})
    assert reply.url.endswith(f"/evaluators/{evaluator.pk}/golden/?version=1")


def test_a_human_evaluator_has_none(go, project):
    config = KINDS["human"].blank() | {"instructions": "Read it.", "scoring": YES_NO}
    evaluator = version_of(project, "By hand", config, "human").evaluator
    page = go("evaluator-golden", evaluator.pk).content.decode()
    assert "People grade for this evaluator, so it has none." in page
    assert "Add a case" not in page
    assert go("golden-judge", evaluator.pk, data={"version": "1"}).status_code == 422
    assert go("golden-new", evaluator.pk).status_code == 404


def test_a_long_list_comes_in_pages(go, evaluator):
    for number in range(30):
        keep_case(evaluator, f"answer {number}", {"passed": True})
    page = go("evaluator-golden", evaluator.pk).content.decode()
    assert "answer 29<" in page
    assert "answer 3<" not in page
    assert 'rel="next"' in page


# --- In the bench -----------------------------------------------------------------------------------------------------
def test_unsaved_edits_are_tried_on_every_case_and_nothing_is_stored(go, evaluator):
    four_cases(evaluator)
    typed = heuristic_fields(evaluator=evaluator.pk, code=ALWAYS, threshold="50")
    page = go("golden-try", data=typed, **HTMX).content.decode()
    assert page.count("must be does not pass, is <b") == 2
    assert page.count("as it must be") == 2
    assert not GoldenVerdict.objects.exists()
    right = go("golden-try", data=typed | {"code": SHORT}, **HTMX).content.decode()
    assert "must be does not pass" not in right


def test_edits_with_a_fault_are_not_tried(go, evaluator):
    four_cases(evaluator)
    typed = heuristic_fields(evaluator=evaluator.pk, code="function {")
    assert go("golden-try", data=typed, **HTMX).status_code == 422


def test_the_sample_of_the_bench_is_kept_once_it_is_said_what_must_come(go, evaluator):
    typed = on_pasted(heuristic_fields(evaluator=evaluator.pk, threshold="50"))
    asked = go("golden-keep-sample", data=typed | {"said": "passed:no"}, **HTMX).content.decode()
    assert re.search(r'value="passed:no"[^>]* checked', asked), "what the test said is proposed"
    kept = go("golden-keep-sample", data=typed | {"must": "passed:yes"}, **HTMX).content.decode()
    assert "Kept:" in kept
    assert GoldenCase.objects.get().must == {"passed": True}


def test_a_sample_that_cannot_be_read_is_not_kept(go, evaluator):
    typed = on_pasted(heuristic_fields(evaluator=evaluator.pk), "{")
    reply = go("golden-keep-sample", data=typed, **HTMX)
    assert reply.status_code == 422
    assert "Line 1" in reply.content.decode()


def test_an_evaluator_that_is_not_saved_has_no_golden_cases(go):
    assert go("golden-try", data=heuristic_fields(), **HTMX).status_code == 404
    assert go("golden-keep-sample", data=on_pasted(heuristic_fields()), **HTMX).status_code == 404
