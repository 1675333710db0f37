"""`evalstudio-gate`: has an experiment judged, waits, and decides. Exit code 0 passed, 1 failed, 2 could not decide."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from evalstudio_client.client import EvalStudio
from evalstudio_client.errors import EvalStudioError
from evalstudio_client.gate import LEAST_COVERAGE, Requirement
from evalstudio_client.report import Report, junit_of_error

PASSED, FAILED, ERROR = 0, 1, 2
EPILOG = """The token comes from EVALSTUDIO_TOKEN, address and project also from EVALSTUDIO_URL and EVALSTUDIO_PROJECT.
Exit codes: 0 the gate is open, 1 a check failed, 2 nothing could be decided."""


def main(words: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(words)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a log that lacks “≥” must not decide
    try:
        report = _decide(asked)
        print(report)
        _write(asked.junit, report.junit())
        _write(asked.markdown, report.markdown())
    except Exception as error:  # noqa: BLE001 - whatever it is, an exit code of 1 would call it a failed check
        expected = isinstance(error, EvalStudioError | ValueError | OSError)
        sentence = str(error) if expected else f"{type(error).__name__}: {error}"
        print(f"evalstudio-gate: {sentence}", file=sys.stderr)
        with suppress(OSError):
            _write(asked.junit, junit_of_error(sentence))
        return ERROR
    return PASSED if report.passed else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="evalstudio-gate",
        description="Fail a build whose experiment is not good enough or worse than a baseline.",
        epilog=EPILOG,
    )
    add = parser.add_argument
    add("experiment", type=int, help="id of the experiment")
    add(
        "--require",
        action="append",
        default=[],
        metavar="TEXT",
        help='e.g. "Correctness >= 0.8", "Tone passes >= 90%%"',
    )
    add("--baseline", type=int, metavar="ID", help="an experiment that it must not be worse than")
    add(
        "--evaluator", action="append", default=[], metavar="NAME", help="let it judge before; by its published version"
    )
    add("--coverage", type=float, default=LEAST_COVERAGE, help="least share of rows with a score (%(default)s)")
    add("--strict", action="store_true", help="fail also where the interval cannot tell")
    add("--timeout", type=float, default=3600.0, metavar="S", help="seconds to wait for runs (%(default)s)")
    add("--junit", type=Path, metavar="FILE", help="write JUnit XML")
    add("--markdown", type=Path, metavar="FILE", help="write Markdown")
    add("--url", help="address of EvalStudio")
    add("--project", help="the project, as its address names it")
    return parser


def _decide(asked: argparse.Namespace) -> Report:
    # The token is never an argument: those are seen by every process of a machine.
    require = [Requirement.parse(text) for text in asked.require]
    with EvalStudio.from_environment(asked.url, asked.project) as studio:
        return studio.gate(
            asked.experiment,
            require,
            baseline=asked.baseline,
            evaluators=asked.evaluator,
            coverage=asked.coverage,
            strict=asked.strict,
            timeout_s=asked.timeout,
            progress=_tell,
        )


def _tell(runs: Sequence[Mapping[str, Any]]) -> None:
    """One line a look, on standard error, while something is still to come."""
    settled = sum(sum(run["counts"].get(name, 0) for name in ("scored", "unscored", "failed")) for run in runs)
    total = sum(sum(run["counts"].values()) for run in runs)
    if settled < total:
        print(f"judged {settled:,} of {total:,}", file=sys.stderr)


def _write(path: Path | None, text: str) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
