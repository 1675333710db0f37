"""The pytest plugin, in the suite of a pipeline: a pytest of its own."""

import os
import subprocess
import sys

import pytest

from tests.experiments.judged import experiment_of, judged, version_of


@pytest.fixture
def experiment(transactional_db, project, environment):
    experiment = experiment_of(project, 40, "assistant 2")
    judged(experiment, version_of(project, "tone"), ([1.0] * 9 + [0.0]) * 4)
    return experiment


@pytest.fixture
def run_suite(tmp_path, environment):
    """Run one test function in a suite that has the address and the project in its ini file."""

    def run(body: str, *words: str, **changed: str) -> subprocess.CompletedProcess:
        url, project = environment["EVALSTUDIO_URL"], environment["EVALSTUDIO_PROJECT"]
        (tmp_path / "pytest.ini").write_text(f"[pytest]\nevalstudio_url = {url}\nevalstudio_project = {project}\n")
        (tmp_path / "test_quality.py").write_text(body)
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
        told = {**kept, "EVALSTUDIO_TOKEN": environment["EVALSTUDIO_TOKEN"], **changed}
        return subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=60)

    return run


GATE = "def test_quality(evalstudio_gate):\n    evalstudio_gate({pk}, ['tone >= {limit}'])\n"


def test_an_open_gate_passes_its_test_and_is_told(experiment, run_suite, tmp_path):
    ended = run_suite(GATE.format(pk=experiment.pk, limit=0.7), "--evalstudio-markdown", "new/gate.md")
    assert ended.returncode == 0, ended.stdout
    assert "passed     tone ≥ 70.0 %: 90.0 %" in ended.stdout
    assert (tmp_path / "new" / "gate.md").read_text().startswith("### EvalStudio: passed")


def test_a_shut_gate_fails_its_test(experiment, run_suite, tmp_path):
    ended = run_suite(GATE.format(pk=experiment.pk, limit=0.99), "--junitxml", "suite.xml")
    assert ended.returncode == 1
    assert f"FAILED: experiment {experiment.pk}" in ended.stdout
    assert "tone ≥ 99.0 %" in (tmp_path / "suite.xml").read_text()


@pytest.mark.parametrize("token", ["es_wrong", ""])
def test_without_the_right_token_pytest_ends_with_2(experiment, run_suite, token):
    ended = run_suite(GATE.format(pk=experiment.pk, limit=0.7), EVALSTUDIO_TOKEN=token)
    assert ended.returncode == 2, ended.stdout
    assert "EvalStudio could not decide: test_quality.py::test_quality" in ended.stdout


def test_what_workers_decided_and_could_not_decide_is_told_by_who_started_them(experiment, run_suite, tmp_path):
    body = (
        GATE.format(pk=experiment.pk, limit=0.7)
        + "\n\ndef test_none(evalstudio):\n    evalstudio.gate(0, ['tone >= 0'])\n"
    )
    ended = run_suite(body, "-n", "2", "--evalstudio-markdown", "gate.md")
    assert ended.returncode == 2, ended.stdout
    assert "passed     tone ≥ 70.0 %: 90.0 %" in ended.stdout
    assert "EvalStudio could not decide: test_quality.py::test_none" in ended.stdout
    assert (tmp_path / "gate.md").read_text().startswith("### EvalStudio: passed")


def test_the_client_is_a_fixture(experiment, run_suite):
    body = "def test_cases(evalstudio):\n    assert len(list(evalstudio.get_cases('40 questions'))) == 40\n"
    assert run_suite(body).returncode == 0


def test_a_suite_that_does_not_use_it_notices_nothing(experiment, run_suite):
    body = "import sys\n\ndef test_other():\n    assert 'httpx' not in sys.modules\n"
    ended = run_suite(body, EVALSTUDIO_TOKEN="")
    assert ended.returncode == 0
    assert "EvalStudio" not in ended.stdout
