"""What is said about the catalogue elsewhere agrees with it: the documentation and the REST API."""

from pathlib import Path

import pytest
from jsonschema_rs import validator_for

from evaluators import catalogue
from evaluators.catalogue.__main__ import page
from tests.evaluators.catalogue.examples import EXAMPLES

DOCUMENT = Path(__file__).parents[3] / "docs" / "catalogue.md"


def test_the_document_is_made_from_the_code():
    assert DOCUMENT.read_text(encoding="utf-8") == page(), "run python -m evaluators.catalogue > docs/catalogue.md"


@pytest.fixture
def told(as_alice, project):
    """The entries as the API lists them, by key."""
    reply = as_alice.get(f"/api/projects/{project.slug}/catalogue/")
    assert reply.status_code == 200
    return {entry["key"]: entry for entry in reply.json()["results"]}


@pytest.mark.django_db
def test_the_api_lists_every_entry_with_the_schema_of_its_parameters(told):
    assert list(told) == [entry.key for entry in catalogue.entries()]
    for key, parameters, _, _ in EXAMPLES:
        validator_for(told[key]["parameters"]).validate(catalogue.get(key).start() | parameters)
    assert told["contains"]["parameters"]["required"] == ["keyword"]
    assert told["equals"]["inputs"][1] == {
        "key": "expected",
        "path": "expectedOutputs.value",
        "description": "The expected text, or a list of which any one will do.",
        "required": True,
    }
    assert told["looping_detection"]["measures"][0] == {
        "name": "unique_sentences",
        "title": "Unique sentences",
        "direction": "higher",
        "threshold": 0.75,
    }


@pytest.mark.django_db
def test_a_stranger_is_told_nothing(client, project, charlie):
    client.force_login(charlie)
    assert client.get(f"/api/projects/{project.slug}/catalogue/").status_code == 404
