"""The editor: begin, save, revise, and lose nothing on the way."""

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry
from evaluators.models import Evaluator, Scale
from evaluators.starters import STARTERS
from tests.evaluators.editor_forms import heuristic_fields, judge_fields, rehearsal

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def connection(project):
    return rehearsal(project)


def begin(project, kind="judge", key="k1"):
    return f"{reverse('evaluator-new', args=[project.slug, kind])}?draft={key}"


def edit(evaluator):
    return reverse("evaluator-edit", args=[evaluator.project.slug, evaluator.pk])


@pytest.fixture
def evaluator(as_alice, project, connection):
    as_alice.post(begin(project), judge_fields(connection))
    return Evaluator.objects.get()


def test_the_gallery_offers_every_starting_point_and_a_blank_of_each_kind(as_alice, project):
    page = as_alice.get(reverse("evaluator-new", args=[project.slug])).content.decode()
    assert all(starter.title in page for starter in STARTERS.values())
    assert "AI judge" in page
    assert "Heuristic" in page


def test_a_new_evaluator_gets_an_address_of_its_own_so_that_a_reload_finds_its_draft(as_alice, project):
    first = as_alice.get(reverse("evaluator-new", args=[project.slug, "judge"]) + "?start=factual_consistency")
    second = as_alice.get(reverse("evaluator-new", args=[project.slug, "judge"]) + "?start=factual_consistency")
    assert first.status_code == 302
    assert first.url != second.url
    assert "start=factual_consistency&draft=" in first.url
    assert "Compare the facts of an answer" in as_alice.get(first.url).content.decode()


def test_saving_makes_v1_and_says_so(as_alice, project, connection):
    reply = as_alice.post(begin(project), judge_fields(connection, note="First try"), follow=True)
    evaluator = Evaluator.objects.get()
    version = evaluator.published_version
    assert (evaluator.name, version.number, version.note, version.author.username) == (
        "Right answer",
        1,
        "First try",
        "alice",
    )
    assert version.config["scoring"]["options"][0] == {
        "label": "Right",
        "percentage": 100.0,
        "description": "It says what is expected.",
    }
    assert version.config["threshold"] == 0.5
    assert "Saved v1 of Right answer." in reply.content.decode()
    assert AuditEntry.objects.get().act == "saved v1 of"


def test_saving_again_makes_v2_and_leaves_v1_as_it_was(as_alice, evaluator, connection):
    as_alice.post(edit(evaluator), judge_fields(connection, base="1", prompt="Is {{ outputs.value }} right?"))
    first, second = evaluator.versions.order_by("number")
    assert second.config["prompt"] == "Is {{ outputs.value }} right?"
    assert first.config["prompt"].startswith("Is this right?")


def test_saving_the_same_says_that_nothing_changed(as_alice, evaluator, connection):
    reply = as_alice.post(edit(evaluator), judge_fields(connection, base="1"), follow=True)
    assert "Nothing differs from v1, so there is no new version." in reply.content.decode()
    assert evaluator.versions.count() == 1
    assert AuditEntry.objects.count() == 1


def test_a_new_name_alone_makes_no_version(as_alice, evaluator, connection):
    reply = as_alice.post(edit(evaluator), judge_fields(connection, base="1", name="Truth"), follow=True)
    assert "Renamed to Truth; it still is v1." in reply.content.decode()
    evaluator.refresh_from_db()
    assert (evaluator.name, evaluator.versions.count()) == ("Truth", 1)


def test_a_name_is_given_once_in_a_project(as_alice, evaluator, project):
    reply = as_alice.post(begin(project, "heuristic", "k2"), heuristic_fields(name="Right  answer"))
    assert reply.status_code == 422
    assert "“Right answer” is the name of another evaluator of this project." in reply.content.decode()
    assert Evaluator.objects.count() == 1


def test_a_fault_stands_beside_its_field_with_its_line_and_the_nearest_right_word(as_alice, project, connection):
    wrong = judge_fields(connection, prompt="Judge this:\n{{ expectedOutput.value }}")
    reply = as_alice.post(begin(project), wrong, **HTMX)
    page = reply.content.decode()
    assert reply.status_code == 422
    assert 'id="fault-prompt" hx-swap-oob="true"' in page
    assert 'data-error-for="id_prompt" data-line="2"' in page
    assert 'data-fix-from="expectedOutput" data-fix-to="expectedOutputs"' in page
    assert not Evaluator.objects.exists()


def test_a_wrong_option_is_marked_in_its_row(as_alice, project, connection):
    reply = as_alice.post(begin(project), judge_fields(connection, option_percentage=["100", "all"]))
    row = reply.context["options"][1]
    assert (reply.status_code, row.wrong) == (422, {"percentage"})
    assert 'value="all"' in reply.content.decode()


def test_nothing_typed_is_lost_when_saving_is_refused(as_alice, project, connection):
    as_alice.post(begin(project), judge_fields(connection, name="", guide="Think first."))
    page = as_alice.get(begin(project)).content.decode()
    assert "Think first." in page
    assert "It says something else." in page


def test_a_version_saved_meanwhile_is_not_written_over(as_alice, evaluator, connection):
    as_alice.post(edit(evaluator), judge_fields(connection, base="1", guide="Somebody else's."))
    reply = as_alice.post(edit(evaluator), judge_fields(connection, base="1", guide="Mine."), **HTMX)
    page = reply.content.decode()
    assert reply.status_code == 422
    assert "v2 was saved while you were editing" in page
    assert 'name="base" value="2"' in page
    assert evaluator.versions.count() == 2
    as_alice.post(edit(evaluator), judge_fields(connection, base="2", guide="Mine."))
    assert evaluator.versions.order_by("-number").first().config["guide"] == "Mine."


def test_a_draft_begun_before_that_version_opens_with_the_same_warning(as_alice, evaluator, connection, alice):
    fields = judge_fields(connection, base="1", guide="Mine.", evaluator=evaluator.pk)
    as_alice.post(reverse("evaluator-draft", args=[evaluator.project.slug]), fields)
    evaluator.revise(evaluator.published_version.config | {"guide": "Theirs."}, schema=1, author=alice)
    page = as_alice.get(edit(evaluator)).content.decode()
    assert "v2 was saved while you were editing" in page
    assert "Mine." in page


def test_options_are_added_and_removed_without_javascript(as_alice, project, connection):
    reply = as_alice.post(begin(project), judge_fields(connection, do="add-option"))
    assert [row.label for row in reply.context["options"]] == ["Right", "Wrong", ""]
    reply = as_alice.post(begin(project), judge_fields(connection, do="remove-option:0", option_label=["A", "B", "C"]))
    assert [row.label for row in reply.context["options"]] == ["B", "C"]
    assert not Evaluator.objects.exists()


def test_saving_with_htmx_leads_to_the_evaluators_page(as_alice, project, connection):
    reply = as_alice.post(begin(project), judge_fields(connection), **HTMX)
    evaluator = Evaluator.objects.get()
    assert reply.headers["HX-Redirect"] == evaluator.get_absolute_url()


def test_a_viewer_may_neither_open_nor_save(client, bob, project, evaluator, connection):
    client.force_login(bob)
    assert client.get(edit(evaluator)).status_code == 403
    assert client.post(edit(evaluator), judge_fields(connection, base="1", guide="x")).status_code == 403
    assert client.get(reverse("evaluator-new", args=[project.slug])).status_code == 403


def test_a_stranger_finds_nothing(client, charlie, evaluator):
    client.force_login(charlie)
    assert client.get(edit(evaluator)).status_code == 404


def test_an_unknown_kind_or_a_missing_evaluator_is_not_there(as_alice, project):
    assert as_alice.get(begin(project, "oracle")).status_code == 404
    assert as_alice.get(reverse("evaluator-edit", args=[project.slug, 999])).status_code == 404


def test_opening_the_editor_costs_the_same_whatever_the_number_of_versions(
    as_alice, evaluator, alice, django_assert_num_queries
):
    as_alice.get(edit(evaluator))
    with django_assert_num_queries(QUERIES):
        as_alice.get(edit(evaluator))
    for number in range(12):
        evaluator.revise(evaluator.published_version.config | {"guide": str(number)}, schema=1, author=alice)
    with django_assert_num_queries(QUERIES):
        as_alice.get(edit(evaluator))


QUERIES = 11


# Two steps, rows, scales


def test_a_judge_has_two_steps_and_a_heuristic_one(as_alice, project, connection):
    judge = as_alice.get(begin(project)).content.decode()
    assert 'id="mapping"' in judge
    assert "2 Mapping" in judge
    assert 'id="mapping"' not in as_alice.get(begin(project, "heuristic")).content.decode()


def test_variables_and_images_are_saved_and_shown_again(as_alice, project, connection):
    fields = judge_fields(
        connection,
        prompt="{{ Ground_Truth }} {{ outputs.value }}",
        variable_name=["Ground_Truth", ""],
        variable_path=["expectedOutputs.value", ""],
        image_path=["outputs.image"],
    )
    as_alice.post(begin(project), fields)
    evaluator = Evaluator.objects.get()
    config = evaluator.published_version.config
    assert config["variables"] == [{"name": "Ground_Truth", "path": "expectedOutputs.value"}]
    assert config["images"] == ["outputs.image"]
    page = as_alice.get(edit(evaluator)).content.decode()
    assert 'value="Ground_Truth"' in page
    assert 'value="outputs.image"' in page


def test_rows_of_the_mapping_are_added_and_removed_without_javascript(as_alice, project, connection):
    fields = judge_fields(connection, variable_name=["A", "B"], variable_path=["inputs.a", "inputs.b"])
    added = as_alice.post(begin(project), fields | {"do": "add-row:variable_name"})
    assert [row.texts["variable_name"] for row in added.context["rows"]["variable_name"]] == ["A", "B", ""]
    removed = as_alice.post(begin(project), fields | {"do": "remove-row:variable_name:0"})
    assert [row.texts["variable_path"] for row in removed.context["rows"]["variable_name"]] == ["inputs.b"]
    odd = as_alice.post(begin(project), fields | {"do": "remove-row:variable_name:²"})
    assert len(odd.context["rows"]["variable_name"]) == 2


def test_a_wrong_row_of_the_mapping_says_so_beside_it_although_a_blank_one_stands_before(as_alice, project, connection):
    fields = judge_fields(connection, variable_name=["", "Truth"], variable_path=["", "expectedOutput.value"])
    reply = as_alice.post(begin(project), fields, **HTMX)
    assert reply.status_code == 422
    assert 'id="fault-variable_name-1" hx-swap-oob="true"><p class="err" data-error-for="id_variable_path.1"' in (
        reply.content.decode()
    )


def test_a_template_error_names_the_line_and_a_variable_that_there_is_not(as_alice, project, connection):
    fields = judge_fields(
        connection,
        prompt="{{ outputs.value }}\n{{ Ground_Thruth }}",
        variable_name=["Ground_Truth"],
        variable_path=["expectedOutputs.value"],
    )
    page = as_alice.post(begin(project), fields, **HTMX).content.decode()
    assert 'data-error-for="id_prompt" data-line="2"' in page
    assert 'data-fix-to="Ground_Truth"' in page


def test_a_name_that_is_nowhere_says_where_names_of_ones_own_are_made(as_alice, project, connection):
    fields = judge_fields(connection, prompt="{{ Ground_Truth }}")
    assert "Mapping adds names of your own." in as_alice.post(begin(project), fields, **HTMX).content.decode()


@pytest.mark.parametrize("kind", ["human", "external"])
def test_what_is_not_judged_here_is_previewed_and_has_no_golden_cases(as_alice, project, kind):
    page = as_alice.get(begin(project, kind)).content.decode()
    assert "Preview</span>" in page
    assert "Run test" not in page
    assert "the verdicts are not given here" in page


def test_what_it_runs_on_is_saved_with_the_choice_of_orders(as_alice, project, connection):
    fields = judge_fields(connection, runs_on="comparison", prompt="{{ outputs.value }} {{ comparison.outputs.value }}")
    as_alice.post(begin(project), fields)
    config = Evaluator.objects.get().published_version.config
    assert (config["runs_on"], config["both_orders"], config["weighted"]) == ("comparison", True, False)


@pytest.fixture
def scale(project):
    options = [
        {"label": "HIGH", "percentage": 100, "description": "As expected."},
        {"label": "LOW", "percentage": 0, "description": ""},
    ]
    scoring = {"type": "enum", "options": options}
    return Scale.objects.create(project=project, name="Accuracy", description="How <b>right</b>.", scoring=scoring)


def test_a_scale_of_the_project_is_chosen_and_frozen_into_the_version(as_alice, project, connection, scale):
    assert "How &lt;b&gt;right&lt;/b&gt;." in as_alice.get(begin(project)).content.decode()
    as_alice.post(begin(project), judge_fields(connection, scale=scale.pk))
    config = Evaluator.objects.get().published_version.config
    assert config["scale"] == {"id": scale.pk, "name": "Accuracy", "description": "How <b>right</b>."}
    assert [option["label"] for option in config["scoring"]["options"]] == ["HIGH", "LOW"]


def test_the_editor_says_that_a_shared_scale_has_changed_since_the_latest_version(as_alice, project, connection, scale):
    as_alice.post(begin(project), judge_fields(connection, scale=scale.pk))
    evaluator = Evaluator.objects.get()
    assert "It has changed since" not in as_alice.get(edit(evaluator)).content.decode()
    scale.scoring["options"][1]["percentage"] = 25
    scale.save()
    page = as_alice.get(edit(evaluator)).content.decode()
    assert "It has changed since v1 was saved: <b>v1</b> keeps HIGH 100 %, LOW 0 %" in page
    as_alice.post(edit(evaluator), judge_fields(connection, scale=scale.pk, evaluator=evaluator.pk, base="1"))
    assert evaluator.versions.count() == 2
    assert "It has changed since" not in as_alice.get(edit(evaluator)).content.decode()


def test_an_archived_scale_stays_with_the_evaluator_that_chose_it_and_is_offered_to_no_other(
    as_alice, project, connection, scale
):
    as_alice.post(begin(project), judge_fields(connection, scale=scale.pk))
    Scale.objects.update(archived_at=timezone.now())
    assert as_alice.get(edit(Evaluator.objects.get())).context["scales"] == [scale]
    assert as_alice.get(begin(project)).context["scales"] == []


def test_a_number_has_ends_of_its_own(as_alice, project, connection):
    fields = judge_fields(connection, scoring="percentage", range_low="1", range_high="5")
    as_alice.post(begin(project), fields)
    evaluator = Evaluator.objects.get()
    assert evaluator.published_version.config["scoring"] == {"type": "percentage", "low": 1.0, "high": 5.0}
    assert 'name="range_high" type="text" inputmode="decimal" class="num" value="5"' in (
        as_alice.get(edit(evaluator)).content.decode()
    )


def test_an_end_that_is_no_number_says_so_beside_it(as_alice, project, connection):
    fields = judge_fields(connection, scoring="percentage", range_low="5", range_high="1")
    page = as_alice.post(begin(project), fields, **HTMX).content.decode()
    assert 'data-error-for="id_range_high"' in page
