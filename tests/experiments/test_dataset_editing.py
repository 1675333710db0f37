"""Editing cases on their pages: what is typed gathers in a working set, and is committed at once or not at all."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import Membership, Role
from experiments.datasets.committing import Edit, commit
from experiments.datasets.contents import Content, digest_of
from experiments.datasets.importing import leases
from experiments.datasets.working import WorkingSet
from experiments.models import Case, CaseEdit, Dataset
from tests.experiments.curated import asking, case_id, curated, questions
from tests.experiments.importing import jsonl, waiting

FULL = Content(
    {"question": "Why?\nReally?", "limit": 3, "nested": {"a": [1]}},
    {"value": "Because."},
    {"tags": ["gold", "hard"], "source": "web"},
    "train",
)


@pytest.fixture
def dataset(project, alice) -> Dataset:
    return curated(project, alice, a=FULL, b=asking("B?"), c=asking("C?"))


@pytest.fixture
def at(project, dataset):
    """at("case-edit", "a") → the address of a page of the dataset, of one of its cases."""

    def address(name, key=None):
        return reverse(name, args=[project.slug, dataset.pk, *([case_id(dataset, key)] if key else [])])

    return address


def form_of(response):
    """The fields of the form as the page shows them."""
    context = response.context
    fields = {field.name: field.text for _, _, fields, _ in context["parts"] for field in fields}
    plain = {name: context["typed"].get(name, "") for name in ("split", "tags")}
    return {"mode": "json" if context["as_json"] else "fields", **fields, **plain}


# --- One case ---------------------------------------------------------------------------------------------------------
def test_every_name_has_its_own_field_and_typing_it_unchanged_changes_nothing(as_alice, at, dataset):
    form = form_of(as_alice.get(at("case-edit", "a")))
    assert form["text:inputs:question"] == "Why?\nReally?"
    assert form["json:inputs:limit"] == "3"
    assert (form["split"], form["tags"]) == ("train", "gold, hard")
    assert "json:metadata:tags" not in form
    as_browser = {name: text.replace("\n", "\r\n") for name, text in form.items()}
    as_alice.post(at("case-edit", "a"), as_browser)
    as_alice.post(at("dataset-changes"))
    dataset.refresh_from_db()
    assert dataset.latest_version == 2
    assert not CaseEdit.objects.exists()


def test_an_edit_survives_until_it_is_committed_with_its_note(as_alice, at, dataset, alice):
    form = form_of(as_alice.get(at("case-edit", "a")))
    edit = {"text:inputs:question": "How?", "json:inputs:limit": "4", "tags": "gold, new", "split": "test"}
    as_alice.post(at("case-edit", "a"), form | edit)
    again = as_alice.get(at("case-edit", "a"))
    assert form_of(again)["text:inputs:question"] == "How?"
    assert "have not committed it" in again.content.decode()
    shown = as_alice.get(at("dataset-page")).content.decode()
    assert "1 change not committed" in shown
    review = as_alice.get(at("dataset-changes")).content.decode()
    assert "Commit 1 change as v3" in review
    assert "<ins>" in review

    as_alice.post(at("dataset-changes"), {"note": "Sharper"})
    case = Case.objects.get(pk=case_id(dataset, "a"))
    assert case.inputs == {"question": "How?", "limit": 4, "nested": {"a": [1]}}
    assert case.metadata == {"tags": ["gold", "new"], "source": "web"}
    assert case.split == "test"
    version = dataset.versions.get(number=3)
    assert (version.note, version.author) == ("Sharper", alice)
    assert not CaseEdit.objects.exists()


def test_wrong_json_names_its_line_keeps_what_was_typed_and_is_not_committed(as_alice, at, dataset):
    form = form_of(as_alice.get(at("case-edit", "a"))) | {"json:inputs:nested": '{\n  "a": [1\n}', "split": "s" * 50}
    answer = as_alice.post(at("case-edit", "a"), form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "This is no JSON. Line 3, column 1" in page
    assert "is no split" in page
    assert form_of(answer)["json:inputs:nested"] == '{\n  "a": [1\n}'
    assert form_of(as_alice.get(at("case-edit", "a")))["json:inputs:nested"] == '{\n  "a": [1\n}'
    refused = as_alice.post(at("dataset-changes"), {"note": "kept note"})
    assert refused.status_code == 422
    assert "1 change cannot go in as typed" in refused.content.decode()
    assert "kept note" in refused.content.decode()
    assert list(questions(dataset)) == ["a", "b", "c"]
    assert dataset.latest_version == 2


def test_the_form_changes_to_json_and_back_without_losing_what_was_typed(as_alice, at):
    form = form_of(as_alice.get(at("case-edit", "a"))) | {"text:inputs:question": "Typed"}
    as_json = form_of(as_alice.post(at("case-edit", "a"), form | {"do": "mode"}))
    assert '"question": "Typed"' in as_json["inputs"]
    as_json["inputs"] = '{"question": "Typed", "more": true}'
    back = form_of(as_alice.post(at("case-edit", "a"), as_json | {"do": "mode"}))
    assert (back["mode"], back["json:inputs:more"]) == ("fields", "true")
    broken = as_alice.post(at("case-edit", "a"), as_json | {"do": "mode", "inputs": "{"})
    assert form_of(broken)["inputs"] == "{"
    assert "This is no JSON" in broken.content.decode()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"inputs": "[1]"}, "Line 1: this is no object."),
        ({"inputs": ""}, "A case needs an input."),
        ({"inputs": '{"a": ' + "[" * 150 + "]" * 150 + "}"}, "nested more than 100 levels deep"),
        ({"inputs": '{"a": 1}', "tags": "x" * 61}, "is no tag"),
        ({"inputs": '{"a": NaN}'}, "NaN is no JSON."),
    ],
)
def test_what_cannot_be_a_case_is_told_beside_its_field(as_alice, at, typed, said):
    answer = as_alice.post(at("case-edit", "b"), {"mode": "json", **typed})
    assert answer.status_code == 422
    assert said in answer.content.decode()


# --- Adding and removing ----------------------------------------------------------------------------------------------
def test_a_new_case_begins_with_the_fields_of_the_others_and_leaves_out_the_empty_ones(as_alice, at, dataset):
    form = form_of(as_alice.get(at("case-new")))
    assert form["text:inputs:question"] == ""
    as_alice.post(at("case-new"), form | {"key": "d", "text:inputs:question": "D?"})
    as_alice.post(at("dataset-changes"))
    case = Case.objects.get(pk=case_id(dataset, "d"))
    assert (case.inputs, case.expected_outputs, case.metadata) == ({"question": "D?"}, None, None)
    assert dataset.versions.get(number=3).note == "Added 1 case"


def test_a_new_case_without_a_key_gets_one_from_its_inputs(as_alice, at, dataset):
    as_alice.post(at("case-new"), {"mode": "json", "inputs": '{"question": "D?"}', "key": ""})
    assert CaseEdit.objects.get().key == digest_of({"question": "D?"})[:16]


def test_a_new_case_under_a_key_that_is_taken_is_refused_beside_the_key(as_alice, at):
    answer = as_alice.post(at("case-new"), {"mode": "json", "inputs": '{"question": "D?"}', "key": "a"})
    assert answer.status_code == 422
    assert "Another case of this dataset has the key “a” already." in answer.content.decode()
    assert form_of(answer)["inputs"] == '{"question": "D?"}'


def test_a_new_case_goes_over_no_other_that_was_gathered(as_alice, at):
    as_alice.post(at("case-new"), {"mode": "fields", "key": "d", "text:inputs:question": "D?"})
    response = as_alice.post(at("case-new"), {"mode": "fields", "key": "d", "text:inputs:question": "Another?"})
    assert response.status_code == 422
    assert "Another change of “d” is among yours already." in response.content.decode()
    assert CaseEdit.objects.get().typed["text:inputs:question"] == "D?"


def test_a_new_case_that_was_wrong_is_kept_once_whatever_key_it_gets(as_alice, at):
    wrong = {"mode": "fields", "key": "d", "json:inputs:limit": "{"}
    page = as_alice.post(at("case-new"), wrong)
    assert page.status_code == 422
    assert '<input type="hidden" name="kept" value="d">' in page.content.decode()
    as_alice.post(at("case-new"), wrong | {"kept": "d", "key": "e", "json:inputs:limit": "3"})
    assert CaseEdit.objects.get().key == "e"


def test_no_more_changes_are_gathered_than_may_be_by_removing_either(as_alice, at, dataset, alice):
    working = WorkingSet(dataset, alice)
    typed = {"mode": "fields", "text:inputs:question": "?"}
    working._keep([(f"new-{number}", None, False, typed) for number in range(1_000)])
    response = as_alice.post(at("case-edit", "a"), {"do": "remove", **form_of(as_alice.get(at("case-edit", "a")))})
    assert response.status_code == 422
    assert "At most 1,000 changes can be gathered." in response.content.decode()
    assert not working.edits.filter(key="a").exists()


def test_selected_cases_go_or_get_a_split_and_a_tag(as_alice, at, dataset):
    chosen = {"case": [case_id(dataset, "a"), case_id(dataset, "b")]}
    as_alice.post(at("cases-selected"), chosen | {"do": "split", "set_split": "test"})
    as_alice.post(at("cases-selected"), chosen | {"do": "tag", "add_tag": "new"})
    as_alice.post(at("cases-selected"), {"case": [case_id(dataset, "c")], "do": "remove"})
    as_alice.post(at("dataset-changes"))
    assert dataset.versions.get(number=3).note == "Edited 2 cases, removed 1 case"
    first, second = (Case.objects.get(pk=case_id(dataset, key)) for key in "ab")
    assert (first.split, first.metadata["tags"]) == ("test", ["gold", "hard", "new"])
    assert (second.split, second.metadata) == ("test", {"tags": ["new"]})
    assert list(questions(dataset)) == ["a", "b"]


def test_all_cases_that_fit_the_search_can_be_selected(as_alice, at, dataset):
    as_alice.post(at("cases-selected"), {"all": "1", "q": "b?", "do": "remove"})
    assert list(CaseEdit.objects.values_list("key", flat=True)) == ["b"]


@pytest.mark.parametrize(
    "posted", [{"do": "remove"}, {"do": "tag", "all": "1"}, {"do": "split", "all": "1", "set_split": "s" * 41}]
)
def test_a_choice_that_says_nothing_changes_nothing(as_alice, at, posted):
    assert as_alice.post(at("cases-selected"), posted).status_code == 302
    assert not CaseEdit.objects.exists()


def test_changes_are_discarded_one_by_one_or_all(as_alice, at, dataset):
    as_alice.post(at("cases-selected"), {"all": "1", "do": "remove"})
    as_alice.post(at("changes-discard"), {"edit": CaseEdit.objects.get(key="a").pk})
    assert set(CaseEdit.objects.values_list("key", flat=True)) == {"b", "c"}
    as_alice.post(at("changes-discard"))
    assert not CaseEdit.objects.exists()
    assert "Nothing is waiting to be committed" in as_alice.get(at("dataset-changes")).content.decode()


# --- Others at work ---------------------------------------------------------------------------------------------------
@pytest.fixture
def overtaken(as_alice, at, dataset, bob):
    """Alice edited a and b, and Bob committed another a meanwhile."""
    for key in "ab":
        form = form_of(as_alice.get(at("case-edit", key)))
        as_alice.post(at("case-edit", key), form | {"text:inputs:question": f"Alice's {key}"})
    commit(dataset, [Edit("a", asking("Bob's a"), case_id(dataset, "a"))], bob)
    answer = as_alice.post(at("dataset-changes"))
    assert answer.status_code == 422
    assert "1 case was changed by somebody else meanwhile" in answer.content.decode()
    assert "Keep mine" in answer.content.decode()
    return CaseEdit.objects.get(key="a").pk


def test_of_two_edits_of_a_case_mine_can_be_kept(as_alice, at, dataset, overtaken):
    as_alice.post(at("changes-keep"), {"edit": overtaken})
    as_alice.post(at("dataset-changes"))
    assert questions(dataset) == {"a": "Alice's a", "b": "Alice's b", "c": "C?"}


def test_of_two_edits_of_a_case_theirs_can_be_taken(as_alice, at, dataset, overtaken):
    as_alice.post(at("changes-discard"), {"edit": overtaken})
    as_alice.post(at("dataset-changes"))
    assert questions(dataset) == {"a": "Bob's a", "b": "Alice's b", "c": "C?"}


def test_a_case_that_somebody_removed_meanwhile_can_come_back(as_alice, at, dataset, bob):
    form = form_of(as_alice.get(at("case-edit", "b")))
    as_alice.post(at("case-edit", "b"), form | {"text:inputs:question": "Kept"})
    commit(dataset, [Edit("b", None, case_id(dataset, "b"))], bob)
    assert "They removed the case." in as_alice.get(at("dataset-changes")).content.decode()
    as_alice.post(at("changes-keep"), {"edit": CaseEdit.objects.get().pk})
    as_alice.post(at("dataset-changes"))
    assert questions(dataset)["b"] == "Kept"


def test_during_an_import_the_changes_stay_and_a_sentence_says_why(as_alice, at, project, dataset):
    as_alice.post(at("cases-selected"), {"all": "1", "do": "remove"})
    assert leases.take(waiting(project, jsonl({"id": "z", "inputs": {"question": "Z?"}})).pk)
    answer = as_alice.post(at("dataset-changes"))
    assert answer.status_code == 422
    assert "An import is writing into this dataset." in answer.content.decode()
    assert CaseEdit.objects.count() == 3


def test_changes_of_others_are_not_seen(client, as_alice, at, project, charlie, dataset):
    as_alice.post(at("cases-selected"), {"all": "1", "do": "remove"})
    Membership.objects.create(project=project, user=charlie, role=Role.EDITOR)
    client.force_login(charlie)
    assert "Nothing is waiting" in client.get(at("dataset-changes")).content.decode()
    client.post(at("changes-discard"))
    client.post(at("changes-discard"), {"edit": CaseEdit.objects.first().pk})
    assert CaseEdit.objects.count() == 3


def test_the_review_costs_the_same_few_queries_for_many_changes(
    as_alice, at, project, alice, django_assert_max_num_queries
):
    other = curated(project, alice, "many", **{f"k{n}": asking(f"{n}?") for n in range(150)})
    WorkingSet(other, alice).remove([(f"k{n}", case_id(other, f"k{n}")) for n in range(150)])
    with django_assert_max_num_queries(9):
        page = as_alice.get(reverse("dataset-changes", args=[project.slug, other.pk])).content.decode()
    assert "Commit 150 changes as v3" in page


def test_what_was_typed_is_never_markup(as_alice, at, dataset):
    markup = '<img src=x onerror="alert(1)">'
    typed = {"mode": "json", "inputs": f'{{"{markup[:10]}": 1}}', "tags": markup, "metadata": markup}
    pages = [as_alice.post(at("case-edit", "a"), typed)]
    as_alice.post(at("case-new"), {"mode": "json", "inputs": '{"<img src=x>": "<img src=y>"}', "key": markup})
    pages += [as_alice.get(at("case-edit", "a")), as_alice.get(at("dataset-changes"))]
    as_alice.post(at("changes-discard"), {"edit": CaseEdit.objects.get(base__key="a").pk})
    as_alice.post(at("dataset-changes"), {"note": markup})
    difference = {"from": 2, "to": 3}
    pages += [as_alice.get(at("dataset-page")), as_alice.get(at("dataset-versions"))]
    pages.append(as_alice.get(at("dataset-difference"), difference))
    assert dataset.versions.filter(note=markup).exists()
    for page in pages:
        assert "&lt;img src=" in page.content.decode()
        assert "<img src" not in page.content.decode()
