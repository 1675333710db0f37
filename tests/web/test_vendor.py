"""What is vendored is what vendor.toml says, whole and with its licence."""

import hashlib
import json
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VENDORED = tomllib.loads((ROOT / "static/vendor/vendor.toml").read_text())


@pytest.mark.parametrize("name", VENDORED)
def test_every_file_has_its_hash_and_its_licence(name):
    entry = VENDORED[name]
    folder = ROOT / entry["folder"]
    actual = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    assert actual == entry["sha256"]
    assert any(file.startswith("LICENSE") for file in actual)


def test_nothing_is_vendored_without_an_entry():
    folders = {
        path for parent in ("static/vendor", "tests/vendor") for path in (ROOT / parent).iterdir() if path.is_dir()
    }
    assert folders == {ROOT / entry["folder"] for entry in VENDORED.values()}


def test_the_versions_are_those_of_the_locked_packages():
    locked = json.loads((ROOT / "evalstudio/web/vendoring/package-lock.json").read_text())["packages"]
    for entry in VENDORED.values():
        assert locked[f"node_modules/{entry['package']}"]["version"] == entry["version"]
