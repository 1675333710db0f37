"""Every snippet of docs/api.md does what the page says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from evalstudio_client import EvalStudio

from evalstudio.calls.models import Connection
from evaluators.models import ProcessorVersion
from experiments.models import Dataset, Experiment
from tests.clients.conftest import outputs

PAGE = (settings.BASE_DIR / "docs" / "api.md").read_text()
SNIPPETS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
PYTHON = [text for language, text in SNIPPETS if language == "python"]
SHELL = [text for language, text in SNIPPETS if language == "sh"]
BIN = Path(sys.executable).parent


@pytest.fixture
def ready(studio, environment, make_experiment, short, worker):
    """The page's data set of 30 questions, its evaluator, and a baseline that was judged."""
    dataset = make_experiment(30).dataset_version.dataset
    Dataset.objects.filter(pk=dataset.pk).update(name="questions")
    dataset.case_set.update(split="test")
    short.evaluator.name = "Correctness"
    short.evaluator.save()
    return studio.submit("assistant 2", "questions", outputs(30))["id"]


def shell(snippet: str, **told: object) -> subprocess.CompletedProcess:
    environment = {
        **os.environ,
        "PATH": f"{BIN}:{os.environ['PATH']}",
        **{name: str(one) for name, one in told.items()},
    }
    command = ["bash", "-euo", "pipefail", "-c", snippet]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_the_page_has_the_snippets_that_are_run_here():
    assert (len(PYTHON), len(SHELL)) == (4, 6)


def test_the_pipeline_and_its_steps(ready, studio, capsys):
    pipeline, steps, _, _ = PYTHON
    known = {"answer": lambda inputs: inputs["question"][-1], "build": "build-7", "baseline": ready}
    exec(pipeline, known)
    assert known["report"].passed
    assert f"PASSED: experiment {known['experiment']['id']} against {ready}" in capsys.readouterr().out
    exec(steps, {**known, "studio": studio})
    assert "case-29 [1.0]" in capsys.readouterr().out
    exec(pipeline, known)
    assert Experiment.objects.filter(system__name="assistant 3").count() == 1


def test_a_prompt_instead_of_a_pipeline(ready, project, alice):
    Connection.add_rehearsal(project, alice)
    known = {"EvalStudio": EvalStudio}
    exec(PYTHON[2], known)
    assert [one["system"] for one in known["experiments"]] == [
        "Short answers v1 · rehearsal · temperature 0",
        "Short answers v1 · rehearsal · temperature 0.7",
    ]
    assert [len(report.checks) for report in known["reports"]] == [1, 1]


def test_the_gate_in_a_shell(ready, studio, tmp_path):
    experiment = studio.submit("assistant 3", "questions", outputs(30, "rather more than that"))["id"]
    snippet = f"cd {tmp_path}\n{SHELL[1]}"
    assert shell(snippet, EXPERIMENT=experiment, BASELINE=ready).returncode == 1
    assert "FAILED" not in (tmp_path / "gate.xml").read_text()
    assert "worse: -75.0 points" in (tmp_path / "gate.md").read_text()
    assert shell(snippet, EXPERIMENT=ready, BASELINE=experiment).returncode == 0
    assert shell(snippet, EXPERIMENT=ready, BASELINE=experiment, EVALSTUDIO_TOKEN="es_wrong").returncode == 2


def test_the_gate_in_a_pytest_suite(ready, tmp_path):
    (tmp_path / "test_quality.py").write_text(PYTHON[3])
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    told = {name: value for name, value in os.environ.items() if not name.startswith("DJANGO_")}
    ended = subprocess.run(command, cwd=tmp_path, env=told, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stdout
    assert "passed     Correctness ≥ 80.0 %: 100.0 %" in ended.stdout


def test_the_variables_are_the_ones_that_are_read(environment):
    assert set(re.findall(r"(EVALSTUDIO_\w+)=", SHELL[0])) == set(environment)


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_way_without_the_client(ready, studio):
    opened = studio._wire.post(
        "experiments/", {"system": "assistant 3", "dataset": "questions", "client_key": "build-7"}
    )
    ended = shell(SHELL[2], EXPERIMENT=opened["id"], BASELINE=ready)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f'"id":{opened["id"]},"system":"assistant 3"' in ended.stdout
    assert '"accepted":1,"unchanged":0' in ended.stdout
    assert '"outputs":1' in ended.stdout


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_a_prompt_is_run_without_the_client(ready, studio, project, alice):
    connection = Connection.add_rehearsal(project, alice)
    models = [{"connection": connection.pk, "model": "rehearsal"}]
    asked = {"title": "Short answers", "dataset": "questions", "user_message": "{{ inputs.question }}"}
    (told,) = studio._wire.post("experiments/prompt/", {**asked, "models": models, "client_key": "prompt-7"})
    known = "\n".join(SHELL[2].splitlines()[:3])
    ended = shell(
        f"{known}\n{SHELL[3]}", CONNECTION=connection.pk, EXPERIMENT=told["experiment"]["id"], RUN=told["run"]
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f'"run":{told["run"]}' in ended.stdout
    assert '"purpose":"answers"' in ended.stdout
    assert Experiment.objects.filter(source="prompt").count() == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_evaluators_files_and_a_processor_are_told_without_the_client(ready, studio, project, tmp_path, settings):
    settings.MEDIA_ROOT = tmp_path
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.7")
    known = "\n".join(SHELL[2].splitlines()[:3])

    ended = shell(f"cd {tmp_path}\n{known}\n{SHELL[4]}\n{SHELL[5]}")

    assert (ended.returncode, ended.stderr) == (0, "")
    assert Experiment.objects.get(system__name="assistant 3").runs.get().repeats == 2
    assert '"limit_minutes":30.0' in ended.stdout
    assert "report.pdf" in ended.stdout
    assert ProcessorVersion.objects.get(project=project).number == 1
