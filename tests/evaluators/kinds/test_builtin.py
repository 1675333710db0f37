"""The built-in kind: stored shapes, what may be saved, what is read and typed in its form, and asking a model."""

import json
from contextlib import asynccontextmanager

import pytest

from evalstudio.calls.chat import ONCE, open_chat
from evalstudio.calls.models import Connection
from evaluators import catalogue
from evaluators.core import Sample, Status, Why
from evaluators.editing import as_typed
from evaluators.engine import evaluate_now
from evaluators.kinds import BadConfig, get_kind
from evaluators.tools import Tools
from tests.evaluators.catalogue.examples import WEATHER, config, score

BUILTIN = get_kind("builtin")
ENTRIES = catalogue.entries()
ASKED = Sample(
    inputs={"question": "Will it rain in Oslo?"}, outputs={"toolCalls": [{"name": "f", "arguments": {"x": 1}}]}
)


def stored(entry, **more):
    return BUILTIN.start(catalogue.get(entry)) | more


def form(project, fields):
    return BUILTIN.form(
        as_typed({name: [value] if isinstance(value, str) else value for name, value in fields.items()}),
        project=project,
    )


def faults(project, **fields):
    typed = form(project, fields)
    assert not typed.is_valid()
    return {fault.field: fault for fault in typed.field_errors}


# What is stored


def test_parameters_added_since_have_their_defaults():
    old = stored("contains", parameters={"keyword": "a"})
    assert BUILTIN.load(old, 1).parameters == {"keyword": "a", "case_sensitive": True}


@pytest.mark.parametrize(
    "wrong",
    [
        {"entry": "tea_leaves"},
        {"entry": ["contains"]},
        {"parameters": {"colour": "red"}},
        {"parameters": []},
        {"mapping": {"contexts": "outputs.a"}},
        {"mapping": {"text": {"path": "outputs.a"}}},
        {"mapping": {"text": 3}},
        {"mapping": []},
    ],
)
def test_what_the_entry_does_not_have_cannot_be_loaded(wrong):
    with pytest.raises(BadConfig):
        BUILTIN.load(stored("contains") | wrong, 1)


def test_the_threshold_decides_and_may_be_another_than_the_entry_s():
    strict = BUILTIN.load(stored("looping_detection", threshold=1.0), 1)
    plain = BUILTIN.load(stored("looping_detection", threshold=None), 1)
    text = Sample(outputs={"value": "I like green tea. I like green tea. I like black tea."})
    assert evaluate_now(BUILTIN, strict, text, None).passed is False
    assert evaluate_now(BUILTIN, plain, text, None).passed is None


def test_inputs_come_from_paths_and_constants():
    mapped = config("equals", mapping={"text": "steps[0].output", "expected": {"literal": ["yes", "no"]}})
    assert BUILTIN.paths(mapped) == ("steps[0].output",)
    assert evaluate_now(BUILTIN, mapped, Sample(steps=[{"output": "no"}]), None).passed
    missing = evaluate_now(BUILTIN, mapped, Sample(steps=[]), None)
    assert (missing.why, missing.reason) == (Why.MISSING, "The case has no steps[0].output.")


def test_a_list_of_places_is_read_as_texts():
    every = config("pii_leakage", mapping={"contexts": "outputs.documents[*].text"})
    sample = Sample(outputs={"value": "a", "documents": [{"text": "b"}, {"text": "jo@corp.org"}]})
    assert evaluate_now(BUILTIN, every, sample, None).measures["retrieval_failure_rate"] == 1


def test_an_answer_of_one_field_is_that_field():
    assert score("looping_detection", output={"text": "Same words here. Same words here."}).value == 0.5
    assert score("pii_leakage", output={"a": "x", "mail": "jo@corp.org"}).value == 0


# Checks


def test_a_place_that_is_none_is_told_with_the_nearest_right_word():
    (fault,) = BUILTIN.check(config("contains", keyword="a", mapping={"text": "output.value"}))
    assert (fault.field, fault.suggestion, fault.found) == ("input_text", "outputs", "output")


def test_a_constant_of_the_wrong_type_is_told():
    (fault,) = BUILTIN.check(config("function_calling", mapping={"tools": {"literal": "hammer"}}))
    assert (fault.field, fault.message) == (
        "input_tools",
        "This should be a list of tools, each an object with a name.",
    )


def test_without_an_entry_there_is_nothing_to_save():
    (fault,) = BUILTIN.check(BUILTIN.load(BUILTIN.blank(), 1))
    assert fault.field == "entry"


# The form


@pytest.mark.django_db
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry.key for entry in ENTRIES])
def test_what_is_stored_is_typed_and_read_again(project, entry):
    given = {"keyword": " a ", "substring": "b", "pattern": r"\d+"}
    parameters = entry.start() | {name: value for name, value in given.items() if name in entry.start()}
    config = BUILTIN.start(entry) | {"parameters": parameters}
    typed = BUILTIN.form.from_config(config, project)
    assert typed.is_valid(), typed.field_errors
    assert typed.to_config() == config


@pytest.mark.django_db
def test_every_shape_of_a_mapping_and_a_list_survives_the_form(project):
    mapping = {"text": "outputs.answer", "expected": {"literal": ["a", "b"]}}
    for kept in (
        stored("equals", mapping=mapping),
        stored("equals", mapping={"text": {"literal": "=x"}, "expected": {"literal": "Paris"}}),
        stored("contains_any", parameters={"keywords": ["one", "two words", " x"], "case_sensitive": False}),
        stored("contains_any", parameters={"keywords": ["two\nlines", ""], "case_sensitive": True}),
        stored("contains_any", parameters={"keywords": ["[not json"], "case_sensitive": True}),
        stored("contains_valid_link", parameters={"check_reachable": True, "timeout_s": 2.5}),
        stored("pii_leakage", parameters={"entities": ["email"], "detector": "regex", "min_score": 0.25}),
        stored("json_schema", parameters={"json_schema": {"type": "array"}, "validations": ["enum", "range"]}),
        stored("looping_detection", threshold=None),
    ):
        typed = BUILTIN.form.from_config(kept, project)
        assert typed.is_valid(), typed.field_errors
        assert typed.to_config() == kept


@pytest.mark.django_db
def test_keywords_are_typed_one_a_line(project):
    typed = form(project, {"entry": "contains_any", "parameter_keywords": "one\r\ntwo words\r\n\r\n", "threshold": ""})
    assert typed.is_valid()
    assert typed.to_config()["parameters"] == {"keywords": ["one", "two words"], "case_sensitive": False}


@pytest.mark.django_db
def test_a_path_as_it_is_by_default_is_not_stored(project):
    typed = form(project, {"entry": "equals", "input_text": " outputs.value ", "input_expected": ""})
    assert typed.is_valid()
    assert typed.to_config()["mapping"] == {}


@pytest.mark.django_db
def test_faults_stand_beside_their_fields_with_their_lines(project):
    schema = faults(project, entry="json_schema", parameter_json_schema='{\n "type": }')["parameter_json_schema"]
    assert (schema.message, schema.line) == ("This is no JSON: Expecting value.", 2)
    listed = faults(project, entry="json_schema", parameter_json_schema="[1]")
    assert listed["parameter_json_schema"].message == "This is a JSON object, { … }."
    wrong = faults(
        project, entry="length_between", parameter_min_length="ten", parameter_max_length="5.5", threshold="x"
    )
    assert set(wrong) == {"parameter_min_length", "parameter_max_length", "threshold"}
    assert faults(project, entry="regex_match", parameter_pattern="(").keys() == {"parameter_pattern"}
    assert faults(project, entry="contains", parameter_keyword="a\0").keys() == {"parameter_keyword"}
    assert faults(project, entry="tea_leaves").keys() == {"entry"}
    assert faults(project, entry="contains", parameter_keyword="a", input_text="=a\0").keys() == {"input_text"}
    chosen = faults(project, entry="pii_leakage", parameter_detector="regex", parameter_entities=["iban"])
    assert chosen.keys() == {"parameter_entities"}


@pytest.mark.django_db
def test_settings_that_only_an_api_could_send_are_refused():
    for wrong in (
        {"entry": "tea_leaves"},
        {"parameters": {"colour": 1}},
        {"parameters": {"keyword": 3}},
        {"parameters": {"case_sensitive": "yes"}},
        {"mapping": {"colour": "outputs.a"}},
        {"mapping": {"text": 3}},
    ):
        with pytest.raises((ValueError, TypeError, KeyError)):
            BUILTIN.form.typed(stored("contains") | wrong)


# Asking a model


@pytest.fixture
def judging(project, chat_server):
    connection = Connection.objects.create(project=project, name="Local", base_url=chat_server.url, model="tiny")
    return BUILTIN.load(stored("function_calling", connection_id=connection.pk, model="tiny"), 1)


def asked(settings, sample):
    """The score, as the bench gets it."""

    @asynccontextmanager
    async def open_tools():
        async with open_chat(patience=ONCE) as chat:
            yield Tools(chat=chat)

    return evaluate_now(BUILTIN, settings, sample, open_tools)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("verdict", "value"), [("pass", 1.0), ("fail", 0.0), (" PASS ", 1.0)])
@pytest.mark.parametrize("key", ["verdict", "label"])
def test_a_model_says_pass_or_fail(judging, chat_server, key, verdict, value):
    chat_server.reply = json.dumps({"reason": "The city is missing.", key: verdict})
    found = asked(judging, ASKED)
    assert (found.status, found.value, found.passed, found.label) == (Status.SCORED, value, value == 1, None)
    assert found.measures == {"pass_rate": value, "failure_rate": 1 - value, "parse_failure_rate": 0}
    assert found.reason == "The city is missing."
    assert len(found.replies) == 1


@pytest.mark.django_db(transaction=True)
def test_a_verdict_that_is_none_is_asked_for_again_and_then_left_unscored(judging, chat_server):
    chat_server.reply = json.dumps({"reason": "Hm.", "verdict": "perhaps"})
    found = asked(judging, ASKED)
    assert (found.status, found.measures, chat_server.calls) == (Status.UNSCORED, {"parse_failure_rate": 1}, 2)


@pytest.mark.django_db(transaction=True)
def test_a_model_is_not_asked_what_the_case_tells_itself(judging, chat_server):
    tools = Sample(inputs={"tools": [WEATHER]}, outputs=ASKED.outputs)
    assert asked(judging, tools).reason == "There is no tool f."
    assert asked(judging, Sample()).why is Why.MISSING
    assert chat_server.calls == 0


@pytest.mark.django_db(transaction=True)
def test_an_endpoint_that_fails_fails_the_evaluation(judging, chat_server):
    chat_server.models = ["other"]
    found = asked(judging, ASKED)
    assert (found.status, found.measures) == (Status.FAILED, {})


def test_a_model_is_asked_only_by_entries_that_may_ask_one():
    assert BUILTIN.needs(config("contains", keyword="a")).lane == "cpu"
    assert BUILTIN.needs(config("function_calling")).lane == "cpu"
    with_model = BUILTIN.load(stored("function_calling", connection_id=7, model="m"), 1)
    assert (BUILTIN.needs(with_model).lane, BUILTIN.needs(with_model).connection_id) == ("net", 7)
    by_schema = stored("function_calling", connection_id=7, model="m")
    by_schema["parameters"]["method"] = "schema"
    assert BUILTIN.needs(BUILTIN.load(by_schema, 1)).lane == "cpu"


def test_the_question_shows_request_and_calls_as_data():
    with_model = BUILTIN.load(stored("function_calling", connection_id=7, model="m"), 1)
    system, user = BUILTIN.message(with_model, ASKED).messages
    assert "correct function and parameters" in system["content"]
    assert "Will it rain in Oslo?" in user["content"]
    assert '"x"' in user["content"]
    assert "tools that it could call" not in user["content"]
    with_tools = Sample(inputs={"tools": [WEATHER]}, outputs=ASKED.outputs)
    assert BUILTIN.message(with_model, with_tools) is None, "the tools tell, nobody is asked"
    assert BUILTIN.message(with_model, Sample()) is None
