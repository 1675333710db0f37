"""Statistics stand alone: they need no web framework, and load no arrays before they are asked for figures."""

import subprocess
import sys
from pathlib import Path

import evaluators.stats

HERE = Path(evaluators.stats.__file__).parent


def test_statistics_import_neither_django_nor_numpy():
    names = sorted(f"evaluators.stats.{path.stem}" for path in HERE.glob("*.py"))
    script = (
        f"import importlib, sys; [importlib.import_module(name) for name in {names!r}];"
        "print(sorted({'django', 'numpy', 'scipy', 'experiments', 'evaluators.core'} & set(sys.modules)))"
    )
    said = subprocess.run(
        [sys.executable, "-c", script], cwd=HERE.parents[1], capture_output=True, text=True, check=True
    )
    assert len(names) > 15
    assert said.stdout.strip() == "[]"
