"""Configurations as people type them: one form for page, API and command line."""

import pytest
from django.http import QueryDict

from evalstudio.calls.models import Connection, ModelTraits
from evaluators.kinds import KINDS, get_kind
from evaluators.models import Evaluator
from evaluators.starters import STARTERS
from tests.evaluators.editor_forms import heuristic_fields, judge_fields, rehearsal


def typed(fields):
    data = QueryDict(mutable=True)
    for name, value in fields.items():
        data.setlist(name, value if isinstance(value, list) else [value])
    return data


def judge_form(project, connection, **more):
    return get_kind("judge").form(typed(judge_fields(connection, **more)), project=project)


def faults(form):
    assert not form.is_valid()
    return {(error.field, error.line, error.suggestion) for error in form.field_errors}


@pytest.fixture
def connection(project):
    return rehearsal(project)


def test_a_judge_is_stored_with_every_key(project, connection):
    form = judge_form(
        project, connection, guide=" Think.\r\nThen say. ", threshold="60.5 %", prompt="A\r\n{{ inputs }}"
    )
    assert form.is_valid(), form.field_errors
    assert form.to_config() == {
        "prompt": "A\n{{ inputs }}",
        "guide": "Think.\nThen say.",
        "connection_id": connection.pk,
        "model": "rehearsal",
        "scoring": {
            "type": "enum",
            "options": [
                {"label": "Right", "percentage": 100.0, "description": "It says what is expected."},
                {"label": "Wrong", "percentage": 0.0, "description": "It says something else."},
            ],
        },
        "threshold": 0.605,
        "direction": "higher",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": None,
        "runs_on": "result",
        "scale": None,
        "both_orders": True,
        "weighted": False,
        "variables": [],
        "images": [],
    }


def test_a_heuristic_is_stored_with_every_key(project):
    form = get_kind("heuristic").form(typed(heuristic_fields(seed="", threshold="")), project=project)
    assert form.is_valid(), form.field_errors
    config = form.to_config()
    assert config.pop("code").startswith("function evaluate")
    assert config == {
        "scoring": {"type": "percentage"},
        "scale": None,
        "threshold": None,
        "direction": "higher",
        "seed": 0,
        "runs_on": "result",
    }


@pytest.mark.parametrize("key", [key for key, starter in STARTERS.items() if starter.kind in ("judge", "heuristic")])
def test_a_configuration_survives_being_typed(project, connection, key):
    starter = STARTERS[key]
    form_class = get_kind(starter.kind).form
    config = starter.config
    if "connection_id" in config:
        config = config | {"connection_id": connection.pk, "model": "other-model"}
    form = form_class.from_config(config, project)
    assert form.is_valid(), form.field_errors
    again = form_class.from_config(form.to_config(), project)
    assert again.is_valid()
    assert again.to_config() == form.to_config()
    assert form.to_config()["scoring"] == config["scoring"]


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"prompt": ""}, ("prompt", None, None)),
        ({"prompt": "a\n{{ expectedOutput.x }}"}, ("prompt", 2, "expectedOutputs")),
        ({"prompt": "{{ outputs.value|uper }}"}, ("prompt", 1, "upper")),
        ({"model": ""}, ("model", None, None)),
        ({"model": "999:tiny"}, ("model", None, None)),
        ({"model": "tiny"}, ("model", None, None)),
        ({"scoring": "stars"}, ("scoring", None, None)),
        ({"direction": "up"}, ("direction", None, None)),
        ({"threshold": "101"}, ("threshold", None, None)),
        ({"threshold": "half"}, ("threshold", None, None)),
        ({"temperature": "3"}, ("temperature", None, None)),
        ({"max_tokens": "0"}, ("max_tokens", None, None)),
        (
            {"option_label": ["Right"], "option_percentage": ["1"], "option_description": []},
            ("option_label", None, None),
        ),
        ({"option_label": ["Right", "right"]}, ("option_label.1", None, None)),
        ({"option_label": ["Right", ""]}, ("option_label.1", None, None)),
        ({"option_percentage": ["100", ""]}, ("option_percentage.1", None, None)),
        ({"option_percentage": ["100", "a few"]}, ("option_percentage.1", None, None)),
        ({"option_percentage": ["100", "nan"]}, ("option_percentage.1", None, None)),
        ({"option_percentage": ["100.5", "0"]}, ("option_percentage.0", None, None)),
    ],
)
def test_every_wrong_field_is_named(project, connection, changed, fault):
    assert fault in faults(judge_form(project, connection, **changed))


def test_everything_wrong_is_said_at_once(project, connection):
    form = judge_form(
        project, connection, prompt="{{ expectedOutput }}", model="", threshold="x", option_percentage=["", "0"]
    )
    assert faults(form) == {
        ("prompt", 1, "expectedOutputs"),
        ("model", None, None),
        ("threshold", None, None),
        ("option_percentage.0", None, None),
    }


def test_a_blank_row_is_left_out_and_the_others_keep_their_place(project, connection):
    form = judge_form(
        project,
        connection,
        option_label=["Right", "", "Wrong", ""],
        option_percentage=["100", "", "zero", ""],
        option_description=["", "", "", ""],
    )
    assert faults(form) == {("option_percentage.2", None, None)}


def test_code_with_a_syntax_error_says_its_line(project):
    form = get_kind("heuristic").form(
        typed(heuristic_fields(code="function evaluate() {\r\n  return 1 +;\r\n}")), project=project
    )
    assert faults(form) == {("code", 2, None)}


def test_the_models_on_offer_are_those_of_the_project(project, connection, alice):
    Connection.objects.create(
        project=project, name="Gone", base_url="http://x", model="old", archived_at="2026-01-01T00:00Z"
    )
    ModelTraits.objects.create(connection=connection, model="met-before")
    version_config = judge_form(project, connection, model=f"{connection.pk}:in-use")
    assert version_config.is_valid()
    Evaluator.objects.create(project=project, name="Used", kind="judge").revise(
        version_config.to_config(), schema=1, author=alice
    )
    choices = judge_form(project, connection).fields["model"].choices
    assert [label for _, label in choices] == [
        "rehearsal · Rehearsal",
        "in-use · Rehearsal",
        "met-before · Rehearsal",
    ]


def test_a_connection_of_another_project_is_refused(project, connection, charlie):
    theirs = rehearsal(type(project).start("Theirs", charlie))
    assert ("model", None, None) in faults(judge_form(project, connection, model=f"{theirs.pk}:rehearsal"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_a_blank_can_be_opened_but_says_what_is_missing(project, kind):
    form = kind.form.from_config(kind.blank(), project)
    kind.load(kind.blank(), kind.schema)
    assert form.is_valid() or form.field_errors
