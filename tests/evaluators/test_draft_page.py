"""Drafts keep what was typed, apart from each other, and say what differs."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import Membership, Role
from evaluators.models import Draft, Evaluator
from tests.evaluators.editor_forms import heuristic_fields, judge_fields, rehearsal


@pytest.fixture
def connection(project):
    return rehearsal(project)


@pytest.fixture
def evaluator(as_alice, project, connection):
    as_alice.post(f"{reverse('evaluator-new', args=[project.slug, 'judge'])}?draft=k1", judge_fields(connection))
    return Evaluator.objects.get()


@pytest.fixture
def keep(as_alice, project):
    """Autosave as alice; the sentence that came back."""

    def post(fields):
        return as_alice.post(reverse("evaluator-draft", args=[project.slug]), fields).content.decode()

    return post


def test_it_says_what_differs_from_the_saved_version(keep, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1", prompt="{{ outputs.value }}?")
    typed |= {"option_label": ["Right", "False", "Half"], "option_percentage": ["100", "0", "50"]}
    assert keep(typed) == "Prompt and 2 options differ from v1."


def test_the_editor_opens_with_the_draft(as_alice, keep, evaluator, connection):
    keep(judge_fields(connection, evaluator=evaluator.pk, base="1", guide="Think <b>twice</b>."))
    page = as_alice.get(reverse("evaluator-edit", args=[evaluator.project.slug, evaluator.pk])).content.decode()
    assert "Think &lt;b&gt;twice&lt;/b&gt;." in page
    assert "Guide differs from v1. Draft kept" in page
    assert 'data-guard="dirty"' in page


def test_what_does_not_differ_is_not_kept(keep, evaluator, connection):
    keep(judge_fields(connection, evaluator=evaluator.pk, base="1", guide="x"))
    assert keep(judge_fields(connection, evaluator=evaluator.pk, base="1")) == "Nothing differs from v1."
    assert not Draft.objects.exists()


def test_two_new_evaluators_of_one_kind_stay_two(as_alice, keep, project, connection):
    keep(judge_fields(connection, draft="one", name="First"))
    keep(judge_fields(connection, draft="two", name="Second"))
    keep(heuristic_fields(draft="three", name="Third"))
    assert sorted(draft.typed_name for draft in Draft.objects.all()) == ["First", "Second", "Third"]
    page = as_alice.get(f"{reverse('evaluator-new', args=[project.slug, 'judge'])}?draft=two").content.decode()
    assert 'value="Second"' in page


def test_two_people_keep_their_own(as_alice, keep, client, bob, evaluator, project, connection):
    Membership.objects.filter(user=bob).update(role=Role.EDITOR)
    keep(judge_fields(connection, evaluator=evaluator.pk, base="1", guide="alice's"))
    client.force_login(bob)
    edit = reverse("evaluator-edit", args=[project.slug, evaluator.pk])
    assert "alice&#x27;s" not in client.get(edit).content.decode()
    keep(judge_fields(connection, evaluator=evaluator.pk, base="1", guide="bob's"))
    assert Draft.objects.count() == 2


def test_saving_forgets_it(as_alice, keep, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1", guide="x")
    keep(typed)
    as_alice.post(reverse("evaluator-edit", args=[evaluator.project.slug, evaluator.pk]), typed)
    assert not Draft.objects.exists()


def test_discarding_forgets_it_and_leads_away(as_alice, keep, evaluator, connection, project):
    keep(judge_fields(connection, evaluator=evaluator.pk, base="1", guide="x"))
    fields = {"do": "discard", "evaluator": evaluator.pk, "kind": "judge"}
    reply = as_alice.post(reverse("evaluator-draft", args=[project.slug]), fields)
    assert reply.url == evaluator.get_absolute_url()
    assert not Draft.objects.exists()


def test_the_list_leads_back_to_what_was_begun(as_alice, keep, project, connection):
    keep(judge_fields(connection, draft="one", name="First"))
    page = as_alice.get(reverse("evaluator-list", args=[project.slug])).content.decode()
    assert "First" in page
    assert "?draft=one" in page


def test_a_draft_of_another_project_stays_there(as_alice, keep, alice, connection):
    from evalstudio.projects.models import Project

    other = Project.start("Other", alice)
    keep(judge_fields(connection, draft="one", name="First"))
    page = as_alice.get(f"{reverse('evaluator-new', args=[other.slug, 'judge'])}?draft=one").content.decode()
    assert "First" not in page


def test_taking_away_a_tick_or_all_rows_is_kept_too(as_alice, keep, project, connection):
    fields = judge_fields(connection, runs_on="comparison", prompt="{{ outputs.value }} {{ comparison.outputs.value }}")
    as_alice.post(f"{reverse('evaluator-new', args=[project.slug, 'judge'])}?draft=k1", fields)
    evaluator = Evaluator.objects.get()
    typed = fields | {"evaluator": evaluator.pk, "base": "1"}
    del typed["both_orders"], typed["option_label"], typed["option_percentage"], typed["option_description"]
    assert keep(typed) == "Both orders and 2 options differ from v1."
    page = as_alice.get(reverse("evaluator-edit", args=[project.slug, evaluator.pk]))
    assert 'name="both_orders" value="on"><span>' in page.content.decode()
    assert [row.label for row in page.context["options"]] == ["", ""]


def test_variables_and_images_count_as_rows(keep, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1", image_path=["outputs.image"])
    typed |= {"variable_name": ["A", "B"], "variable_path": ["inputs.a", "inputs.b"]}
    assert keep(typed) == "2 variables and 1 image differ from v1."


@pytest.fixture
def answer(as_alice, project):
    """Autosave as a page of alice: the whole answer."""

    def post(fields, **more):
        return as_alice.post(reverse("evaluator-draft", args=[project.slug]), fields | more)

    return post


def test_the_answer_says_when_it_was_kept_and_whether_anything_is(answer, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1")
    assert answer(typed, guide="x")["Draft-Kept"] == Draft.objects.get().updated_at.isoformat()
    assert answer(typed)["Draft-Kept"] == "none"


def test_edits_of_another_tab_are_not_replaced_before_they_were_told_of(answer, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1")
    answer(typed, page="one", kept_at="", guide="from the first tab")
    refused = answer(typed, page="two", kept_at="", guide="from the second tab")
    assert refused.status_code == 409
    assert "Another tab of yours kept edits" in refused.content.decode()
    assert Draft.objects.get().fields["guide"] == ["from the first tab"]
    again = answer(typed, page="two", kept_at=refused["Draft-Kept"], guide="from the second tab")
    assert again.status_code == 200
    assert Draft.objects.get().fields["guide"] == ["from the second tab"]


def test_a_tab_goes_on_with_its_own_edits_whatever_time_it_knows(answer, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1")
    answer(typed, page="one", kept_at="", guide="a")
    assert answer(typed, page="one", kept_at="", guide="ab").status_code == 200


def test_a_tab_that_opened_with_the_draft_may_replace_it(as_alice, answer, evaluator, connection):
    typed = judge_fields(connection, evaluator=evaluator.pk, base="1")
    kept = answer(typed, page="one", kept_at="", guide="a")["Draft-Kept"]
    page = as_alice.get(reverse("evaluator-edit", args=[evaluator.project.slug, evaluator.pk])).content.decode()
    assert f'data-kept-at="{kept}"' in page
    assert answer(typed, page="two", kept_at=kept, guide="ab").status_code == 200
