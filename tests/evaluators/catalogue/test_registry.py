"""The registry as a whole: nothing is forgotten, everything explains itself, and nothing breaks on odd samples."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators import catalogue
from evaluators.catalogue.parameters import REQUIRED, parameters_of
from evaluators.core import Sample, Status, Why
from evaluators.kinds import get_kind
from evaluators.tools import Tools
from tests.evaluators.catalogue.examples import BUILTIN, EXAMPLES, config, sample

FOLDER = Path(catalogue.__file__).parent
ENTRIES = catalogue.entries()
IDS = [entry.key for entry in ENTRIES]
GIVEN = {"keyword": "a", "substring": "a", "pattern": "a"}  # for the parameters that must be given


def _settings(entry):
    return config(entry.key, **{one.name: GIVEN[one.name] for one in entry.parameters if one.is_required})


def _of_text(text):
    """A sample whose every text is this one."""
    return Sample(
        {"question": text}, {"value": text, "condition": '"a"'}, {"value": text, "contexts": [text], "toolCalls": []}
    )


def _scores(entry, *samples):
    return BUILTIN.prepare(_settings(entry), Tools())(samples)


def test_no_file_of_a_family_is_forgotten():
    decorated = {
        node.name
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(isinstance(mark, ast.Call) and getattr(mark.func, "id", "") == "entry" for mark in node.decorator_list)
    }
    assert decorated == set(IDS)
    assert len(IDS) == 23


def test_it_loads_no_library_before_it_is_used():
    heavy = ("regex", "jsonschema_rs", "email_validator", "pysbd", "aiohttp", "django")
    script = f"import sys, evaluators.catalogue; print([name for name in {heavy!r} if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_an_entry_explains_itself(entry):
    assert entry.title
    assert entry.summary.endswith(".")
    assert entry.primary.direction
    assert entry.primary.threshold is not None
    assert set(entry.tags) <= set(catalogue.TAGS)
    assert len({measure.name for measure in entry.measures}) == len(entry.measures)
    for parameter in entry.parameters:
        assert parameter.doc
        assert parameter.is_required or parameter.fault(parameter.start) == ""


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_a_sample_that_lacks_an_input_is_unscored_and_the_path_is_named(entry):
    (found,) = _scores(entry, Sample())
    assert (found.status, found.why) == (Status.UNSCORED, Why.MISSING)
    first = next(one for one in entry.inputs if one.key not in entry.optional)
    assert found.reason == f"The case has no {first.path}."
    (null,) = _scores(entry, Sample(outputs={"value": None, "toolCalls": None}))
    assert null.why is Why.MISSING


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
def test_an_empty_text_is_a_value(entry):
    (found,) = _scores(entry, _of_text(""))
    assert found.status is Status.SCORED or entry.key in ("function_calling", "json_schema")


@pytest.mark.parametrize("entry", ENTRIES, ids=IDS)
@given(text=st.text(max_size=200))
def test_any_text_has_measures_in_range_and_always_the_same(entry, text):
    first, second = _scores(entry, _of_text(text), _of_text(text))
    assert first == second
    if first.status is Status.SCORED:
        assert set(first.measures) <= {measure.name for measure in entry.measures}
        assert all(0 <= value <= 1 for value in first.measures.values())
        assert first.value == first.measures[entry.primary.name]
        if "failure_rate" in first.measures:
            assert first.measures["failure_rate"] == 1 - first.measures["pass_rate"]
    elif first.why is Why.UNPARSED:
        assert first.measures == {"parse_failure_rate": 1}


def test_the_measures_of_an_example_are_those_of_its_entry():
    for key, parameters, inputs, _ in EXAMPLES:
        (found,) = BUILTIN.prepare(config(key, **parameters), Tools())([sample(**inputs)])
        names = {measure.name for measure in catalogue.get(key).measures}
        assert set(found.measures) <= names
        assert names - set(found.measures) <= {"retrieval_failure_rate"}, "only what was not checked is left out"


def test_a_parameter_without_words_is_refused():
    def silent(text: str, *, limit: int = 3) -> None: ...

    with pytest.raises(TypeError, match="limit says nothing about itself"):
        parameters_of(silent)


def test_the_schema_of_a_parameter_holds_its_default_unless_it_must_be_given():
    contains = {one.name: one for one in catalogue.get("contains").parameters}
    assert contains["keyword"].default is REQUIRED
    assert contains["keyword"].schema() == {
        "title": "Keyword",
        "description": "The text to look for",
        "type": "string",
    }
    assert contains["case_sensitive"].schema()["default"] is True
    between = catalogue.get("contains_valid_link").parameters[1].schema()
    assert (between["title"], between["type"], between["minimum"], between["maximum"]) == ("Timeout", "number", 0.1, 15)


def test_entries_stand_family_by_family():
    assert [entry for family in catalogue.families().values() for entry in family] == list(ENTRIES)
    with pytest.raises(KeyError):
        catalogue.get("tea_leaves")


def test_the_kind_starts_from_any_of_them():
    kind = get_kind("builtin")
    for entry in ENTRIES:
        loaded = kind.load(kind.start(entry), kind.schema)
        assert loaded.entry is entry
        assert kind.measures(loaded) == entry.measures[1:]
        assert kind.paths(loaded) == tuple(one.path for one in entry.inputs if one.key not in entry.optional)
