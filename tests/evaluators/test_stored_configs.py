"""Configurations that were ever stored load for good: one file of each kind and schema released."""

import json
from pathlib import Path

import pytest

from evaluators.core import Comparand, Sample
from evaluators.kinds import KINDS, BadConfig, get_kind
from evaluators.starters import STARTERS

STORED = sorted((Path(__file__).parent / "stored_configs").glob("*.json"))


@pytest.mark.parametrize("path", STORED, ids=[path.stem for path in STORED])
def test_it_loads_and_may_be_run(path):
    name, _, schema = path.stem.partition("-")
    kind = get_kind(name)
    stored = json.loads(path.read_text())
    config = kind.load(stored, int(schema))
    assert kind.check(config) == []
    assert kind.load(kind.upgraded(stored, int(schema)), kind.schema) == config
    assert hash(config), "a configuration is a key of caches"


def test_every_kind_and_schema_has_a_file():
    released = {f"{kind.key}-{schema}" for kind in KINDS.values() for schema in range(1, kind.schema + 1)}
    assert released == {path.stem for path in STORED}


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_another_shape_is_refused(kind):
    with pytest.raises(BadConfig):
        kind.load({}, kind.schema)
    if "scoring" in kind.blank():
        with pytest.raises(BadConfig):
            kind.load(kind.blank() | {"scoring": {"type": "stars"}}, kind.schema)
    with pytest.raises(BadConfig):
        kind.load(kind.blank(), kind.schema + 1)


def test_an_unknown_kind_is_named():
    with pytest.raises(KeyError, match="There is no kind “oracle”"):
        get_kind("oracle")


@pytest.mark.parametrize("starter", STARTERS.values(), ids=list(STARTERS))
def test_a_starting_point_lacks_nothing_but_a_model(starter):
    kind = get_kind(starter.kind)
    config = kind.load(starter.config, kind.schema)
    must_be_given = {"model", "parameter_keyword", "parameter_substring", "parameter_pattern"}
    assert {error.field for error in kind.check(config)} <= must_be_given
    assert starter.title
    assert starter.summary


def test_the_judges_among_them_ask_about_a_plain_sample():
    answered, other = {"value": "Because."}, Comparand({"value": "Therefore."})
    sample = Sample({"question": "Why?"}, {"value": "So."}, answered, comparison=other)
    for starter in STARTERS.values():
        kind = get_kind(starter.kind)
        config = kind.load(starter.config, kind.schema)
        if kind.needs(config).lane == "net":
            assert "Because." in kind.message(config, sample).messages[1]["content"]
