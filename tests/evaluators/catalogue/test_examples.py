"""Every worked example of the catalogue gives its numbers."""

import pytest

from evaluators import catalogue
from evaluators.core import Status
from evaluators.tools import Tools
from tests.evaluators.catalogue.examples import BUILTIN, EXAMPLES, config, sample


@pytest.mark.parametrize(("entry", "parameters", "inputs", "measures"), EXAMPLES)
def test_it_gives_its_numbers(entry, parameters, inputs, measures):
    settings = config(entry, **parameters)
    assert BUILTIN.check(settings) == []
    (found,) = BUILTIN.prepare(settings, Tools())([sample(**inputs)])
    assert found.status is Status.SCORED
    assert {name: found.measures[name] for name in measures} == pytest.approx(measures, abs=1e-6)
    assert found.value == found.measures[catalogue.get(entry).primary.name]
    assert found.passed is (found.value >= catalogue.get(entry).primary.threshold)


def test_every_entry_has_two_examples():
    shown = [entry for entry, *_ in EXAMPLES]
    assert [entry.key for entry in catalogue.entries() if shown.count(entry.key) < 2] == []
