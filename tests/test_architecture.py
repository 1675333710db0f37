"""What the house promises about itself: arrows, heavy imports, kinds that no page names, nothing from elsewhere."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = ("evalstudio", "evaluators", "experiments", "annotations")
ENTRY_POINTS = {"settings.py", "urls.py", "api_urls.py"}
PURE = (
    "evaluators/core.py",
    "evaluators/paths.py",
    "evaluators/prompts",
    "evaluators/scoring.py",
    "evaluators/stats",
    "evaluators/verdicts.py",
    "evalstudio/calls/javascript",
    "evalstudio/calls/rehearsal.py",
    "evalstudio/calls/replies.py",
)


def python_files(*folders: str) -> list[Path]:
    return [
        path
        for folder in folders
        for path in ([ROOT / folder] if folder.endswith(".py") else sorted((ROOT / folder).rglob("*.py")))
        if "migrations" not in path.parts
    ]


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_never_point_upwards(floor):
    above = FLOORS[FLOORS.index(floor) + 1 :]
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in python_files(floor)
        if path.name not in ENTRY_POINTS and "management" not in path.parts
        for name in imports_of(path)
        if name.split(".")[0] in above
    ]
    assert wrong == []


def test_pure_modules_import_no_django():
    wrong = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in python_files(*PURE)
        for name in imports_of(path)
        if name.split(".")[0] in ("django", "rest_framework")
    ]
    assert wrong == []


def test_there_are_no_signals():
    signals = "django.db.models.signals"
    wrong = [str(path.relative_to(ROOT)) for path in python_files(*FLOORS) if signals in imports_of(path)]
    assert wrong == []


def test_no_column_of_states_or_kinds_has_choices():
    wrong = [
        str(path.relative_to(ROOT))
        for path in python_files(*FLOORS)
        if ("models" in path.parts or path.name == "models.py") and re.search(r"\bchoices=", path.read_text())
    ]
    assert wrong == []


def test_the_web_process_stays_light():
    heavy = (
        "torch",
        "plotly",
        "sentence_transformers",
        "openai",
        "aiohttp",
        "wasmtime",
        "numpy",
        "drf_spectacular.views",
    )
    script = (
        "import sys, django; django.setup(); from django.urls import get_resolver;"
        "import evalstudio.wsgi; get_resolver().reverse_dict;"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "evalstudio.settings"}
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "[]"


def test_no_template_or_exporter_names_a_kind():
    from evaluators.kinds import KINDS

    words = "|".join(KINDS)
    named = re.compile(rf"""["']({words})["']""")
    places = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "experiments").rglob("*.py")]
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in places
        if "migrations" not in path.parts
        for found in named.finditer(path.read_text())
    ]
    assert wrong == []


def test_pages_load_nothing_from_elsewhere():
    remote = re.compile(r"""(?:src|href)=["'](?:https?:)?//[^"']+""")
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        for found in remote.finditer(path.read_text())
    ]
    assert wrong == []


def test_pages_hold_no_inline_script_style_or_handler():
    inline = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)|<style|\sstyle=|\son[a-z]+=[\"']|hx-on")
    wrong = [
        f"{path.relative_to(ROOT)}: {found.group()}"
        for path in (ROOT / "templates").rglob("*.html")
        for found in inline.finditer(path.read_text())
    ]
    assert wrong == []
