"""The pytest plugin of EvalStudio: a client and a gate as fixtures.

    def test_answers_are_good_enough(evalstudio, evalstudio_gate):
        experiment = evalstudio.submit("assistant", "questions", answers())
        evalstudio_gate(experiment, ["Correctness >= 0.8"], evaluators=["Correctness"], baseline=11)

The address and the project come from the ini settings `evalstudio_url` and `evalstudio_project`, or from EVALSTUDIO_URL
and EVALSTUDIO_PROJECT; the token comes from EVALSTUDIO_TOKEN alone. A gate that is shut fails its test. Where nothing
could be decided, because EvalStudio did not answer or refused, pytest ends with exit code 2 instead of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # the package is loaded by the first test that needs it
    from evalstudio_client import EvalStudio, Report

REPORTS: pytest.StashKey[list[tuple[str, str]]] = pytest.StashKey()  # each as text and as Markdown
ERRORS: pytest.StashKey[list[str]] = pytest.StashKey()
ERROR = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("evalstudio_url", "Address of EvalStudio")
    parser.addini("evalstudio_project", "The project, as its address names it")
    group = parser.getgroup("evalstudio")
    group.addoption("--evalstudio-markdown", type=Path, metavar="FILE", help="write what gates decided as Markdown")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[REPORTS], config.stash[ERRORS] = [], []


@pytest.fixture(scope="session")
def evalstudio(pytestconfig: pytest.Config) -> Iterator[EvalStudio]:
    """The project, opened."""
    from evalstudio_client import EvalStudio

    ini = pytestconfig.getini
    with EvalStudio.from_environment(ini("evalstudio_url"), ini("evalstudio_project")) as studio:
        yield studio


@pytest.fixture
def evalstudio_gate(evalstudio: EvalStudio, pytestconfig: pytest.Config) -> Callable[..., Report]:
    """`EvalStudio.gate`, which fails the test where it is shut."""

    def gate(*words: Any, **more: Any) -> Report:
        __tracebackhide__ = True
        report = evalstudio.gate(*words, **more)
        pytestconfig.stash[REPORTS].append((str(report), report.markdown()))
        if not report.passed:
            pytest.fail(str(report), pytrace=False)
        return report

    return gate


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[Any]:
    report = yield
    if call.excinfo is not None and "evalstudio" in getattr(item, "fixturenames", ()):
        from evalstudio_client import EvalStudioError

        if isinstance(call.excinfo.value, EvalStudioError):
            item.config.stash[ERRORS].append(f"{item.nodeid}: {call.excinfo.value}")
    return report


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: who started it tells and decides
        config.workeroutput["evalstudio"] = config.stash[REPORTS], config.stash[ERRORS]
        return
    if config.stash[ERRORS]:
        session.exitstatus = ERROR
    path, reports = config.getoption("--evalstudio-markdown"), config.stash[REPORTS]
    if path is not None and reports:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(markdown for _, markdown in reports), encoding="utf-8")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a worker of pytest-xdist has to tell; one that was killed tells nothing."""
    reports, errors = getattr(node, "workeroutput", {}).get("evalstudio", ((), ()))
    node.config.stash[REPORTS] += reports
    node.config.stash[ERRORS] += errors


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for text, _ in config.stash[REPORTS]:
        terminalreporter.section("EvalStudio", sep="-")
        terminalreporter.write_line(text)
    for line in config.stash[ERRORS]:
        terminalreporter.write_line(f"EvalStudio could not decide: {line}", red=True)
