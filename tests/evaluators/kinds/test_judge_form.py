"""Variables, images and orders of a judge, as people type them."""

import json

import pytest

from evalstudio.projects.models import ApiToken, Scope
from evaluators.kinds import get_kind
from evaluators.models import EvaluatorVersion
from tests.evaluators.editor_forms import judge_fields, rehearsal
from tests.evaluators.kinds.test_forms import faults, judge_form, typed

PAIR = {"runs_on": "comparison", "prompt": "{{ outputs.value }} or {{ comparison.outputs.value }}?"}


@pytest.fixture
def connection(project):
    return rehearsal(project)


def test_rows_are_stored_in_order_without_the_blank_ones(project, connection):
    form = judge_form(
        project,
        connection,
        prompt="{{ Ground_Truth }} {{ Doc.text }}",
        variable_name=["Ground_Truth", "", " Doc "],
        variable_path=["expectedOutputs.value", "", "inputs.docs.0 "],
        image_path=["", "inputs.picture"],
        weighted="on",
    )
    assert form.is_valid(), form.field_errors
    config = form.to_config()
    assert config["variables"] == [
        {"name": "Ground_Truth", "path": "expectedOutputs.value"},
        {"name": "Doc", "path": "inputs.docs.0"},
    ]
    assert (config["images"], config["both_orders"], config["weighted"]) == (["inputs.picture"], True, True)
    again = get_kind("judge").form.from_config(config, project)
    assert again.is_valid()
    assert again.to_config() == config


def test_what_is_not_ticked_is_off(project, connection):
    fields = judge_fields(connection, **PAIR)
    del fields["both_orders"]
    form = get_kind("judge").form(typed(fields), project=project)
    assert form.is_valid(), form.field_errors
    assert form.to_config()["both_orders"] is False
    assert get_kind("judge").form.typed(form.to_config())["both_orders"] == []


@pytest.mark.parametrize(
    ("name", "path", "fault"),
    [
        ("", "inputs.a", ("variable_name.1", None, None)),
        ("Ground Truth", "inputs.a", ("variable_name.1", None, None)),
        ("2nd", "inputs.a", ("variable_name.1", None, None)),
        ("outputs", "inputs.a", ("variable_name.1", None, None)),
        ("comparison", "inputs.a", ("variable_name.1", None, None)),
        ("loop", "inputs.a", ("variable_name.1", None, None)),
        ("Wahrheit\0", "inputs.a", ("variable_name.1", None, None)),
        ("Truth", "", ("variable_path.1", None, None)),
        ("Truth", "expectedOutput.value", ("variable_path.1", None, "expectedOutputs")),
        ("Truth", "inputs..a", ("variable_path.1", None, None)),
        ("Truth", "comparison.outputs.a", ("variable_path.1", None, None)),
    ],
)
def test_a_wrong_variable_is_named_in_its_row(project, connection, name, path, fault):
    form = judge_form(project, connection, variable_name=["", name], variable_path=["", path])
    assert fault in faults(form)


def test_two_variables_of_one_name_are_both_named(project, connection):
    form = judge_form(project, connection, variable_name=["T", "T"], variable_path=["inputs.a", "inputs.b"])
    assert faults(form) == {("variable_name.0", None, None), ("variable_name.1", None, None)}


def test_a_variable_with_a_wrong_path_is_no_unknown_name_in_the_prompt(project, connection):
    form = judge_form(project, connection, prompt="{{ T }}", variable_name=["T"], variable_path=["input.a"])
    assert faults(form) == {("variable_path.0", None, "inputs")}


def test_a_wrong_path_of_an_image_is_named_in_its_row(project, connection):
    form = judge_form(project, connection, image_path=["", "output.picture", "comparison.outputs.picture"])
    assert faults(form) == {("image_path.1", None, "outputs"), ("image_path.2", None, None)}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"prompt": "{{ outputs.value }}"}, "compared output"),
        ({"prompt": "{{ comparison.outputs.value }} {{ inputs }}"}, "baseline's output"),
        ({"prompt": "Which?"}, "compared output"),
    ],
)
def test_a_comparison_that_shows_one_output_is_refused(project, connection, changed, says):
    form = judge_form(project, connection, **(PAIR | changed))
    assert not form.is_valid()
    (error,) = form.field_errors
    assert (error.field, says in error.message) == ("prompt", True)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"prompt": "{actualOutput} {{ comparison }}"},
        {"prompt": "{{ steps }}{{ comparison.steps }}"},
        {
            "prompt": "{{ Old }}{{ New }}",
            "variable_name": ["Old", "New"],
            "variable_path": ["outputs", "comparison.steps"],
        },
        {"prompt": "Which?", "image_path": ["outputs.picture", "comparison.outputs.picture"]},
    ],
)
def test_both_outputs_may_be_shown_in_any_way(project, connection, changed):
    form = judge_form(project, connection, **(PAIR | changed))
    assert form.is_valid(), form.field_errors


def test_the_measures_and_calls_follow_from_the_settings():
    judge = get_kind("judge")
    options = {"type": "enum", "options": [{"label": "A", "percentage": 1}, {"label": "B", "percentage": 0}]}

    def loaded(**more):
        return judge.load(judge.blank() | {"scoring": options} | more, judge.schema)

    def names(config):
        return [measure.name for measure in judge.measures(config)], judge.needs(config).calls

    assert names(loaded()) == ([], 1)
    assert names(loaded(runs_on="comparison")) == (["flipped", "as_given"], 2)
    assert names(loaded(runs_on="comparison", both_orders=False, weighted=True)) == (["weighed"], 1)
    assert names(loaded(weighted=True, scoring={"type": "percentage"})) == ([], 1), "a number has no options"


@pytest.mark.parametrize(
    "odd",
    [
        {"images": "inputs.picture"},
        {"images": [7]},
        {"variables": [{"name": "T"}]},
        {"variables": ["T"]},
        {"variables": [{"name": "T", "path": None}]},
        {"both_orders": "yes"},
        {"weighted": 1},
    ],
)
def test_a_configuration_of_another_shape_is_never_typed(odd):
    judge = get_kind("judge")
    with pytest.raises((TypeError, KeyError)):
        judge.form.typed(judge.blank() | odd)


def test_the_api_takes_and_names_the_same_settings(client, project, connection, alice):
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def post(name, **config):
        return client.post(
            f"/api/projects/{project.slug}/evaluators/",
            json.dumps({"name": name, "kind": "judge", "config": config}),
            content_type="application/json",
            headers={"Authorization": f"Bearer {secret}"},
        )

    config = {
        "prompt": "{{ Old }} {{ comparison.outputs.value }}",
        "connection_id": connection.pk,
        "model": "rehearsal",
        "runs_on": "comparison",
        "scoring": {"type": "percentage"},
        "variables": [{"name": "Old", "path": "outputs.value"}],
        "images": ["inputs.picture"],
        "weighted": True,
    }
    assert post("Which", **config).status_code == 201
    assert EvaluatorVersion.objects.get().config["both_orders"] is True
    assert post("Other", **(config | {"images": "inputs.picture"})).status_code == 400
    wrong = config | {"variables": [{"name": "Old", "path": "output.value"}], "images": ["output"]}
    reply = post("Other", **wrong)
    assert reply.status_code == 400
    assert {error["field"] for error in reply.json()["errors"]} == {"config.variable_path.0", "config.image_path.0"}
