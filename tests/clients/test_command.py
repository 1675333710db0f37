"""`evalstudio-gate` as CI runs it."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from evalstudio_client.command import main

from tests.experiments.judged import experiment_of, judged, version_of

N = 40


@pytest.fixture
def experiment(transactional_db, project, environment):
    experiment = experiment_of(project, N, "assistant 2")
    judged(experiment, version_of(project, "tone"), ([1.0] * 9 + [0.0]) * 4)
    return experiment


def test_an_open_gate_is_0_and_writes_its_reports(experiment, tmp_path, capsys):
    files = ["--junit", str(tmp_path / "new" / "gate.xml"), "--markdown", str(tmp_path / "gate.md")]
    assert main([str(experiment.pk), "--require", "tone >= 0.7", *files]) == 0
    assert "PASSED: experiment" in capsys.readouterr().out
    assert ElementTree.parse(tmp_path / "new" / "gate.xml").getroot()[0].get("failures") == "0"
    assert "| passed | tone ≥ 70.0 % |" in (tmp_path / "gate.md").read_text()


def test_a_shut_gate_is_1(experiment, capsys):
    assert main([str(experiment.pk), "--require", "tone >= 0.99"]) == 1
    assert "failed     tone ≥ 99.0 %: 90.0 %" in capsys.readouterr().out


def test_strict_and_coverage_are_passed_on(experiment):
    assert main([str(experiment.pk), "--require", "tone >= 0.9"]) == 0
    assert main([str(experiment.pk), "--require", "tone >= 0.9", "--strict"]) == 1
    assert main([str(experiment.pk), "--require", "tone >= 0.7", "--coverage", "1.01"]) == 1


def test_evaluators_judge_first_and_a_baseline_is_not_lost_to(experiment, project, short, worker, capsys):
    baseline = experiment_of(project, N, "assistant 1")
    words = [str(experiment.pk), "--evaluator", "Short", "--baseline", str(baseline.pk), "--timeout", "60"]
    assert main(words) == 0
    assert "passed     Short against the baseline: cannot tell: +0.0 points" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "changed", "said"),
    [
        (["--require", "tone >= 0.7"], {"EVALSTUDIO_TOKEN": "es_wrong"}, "unknown or was revoked"),
        (["--require", "tone >= 0.7"], {"EVALSTUDIO_TOKEN": ""}, "Set EVALSTUDIO_TOKEN."),
        (["--require", "tone >= 0.7"], {"EVALSTUDIO_URL": "nowhere"}, "nowhere"),
        (["--require", "tone >= 0.7"], {"EVALSTUDIO_PROJECT": "elsewhere"}, "nothing here"),
        (["--require", "length >= 0.7"], {}, "“length” has not judged"),
        (["--evaluator", "length"], {}, "no evaluator “length”"),
        (["--require", "tone"], {}, "is no requirement"),
        (["--baseline", "999999"], {}, "another experiment of this data set"),
        ([], {}, "nothing to decide"),
    ],
)
def test_what_cannot_be_decided_is_2_and_says_why(experiment, words, changed, said, monkeypatch, tmp_path, capsys):
    for name, value in changed.items():
        monkeypatch.setenv(name, value)
    assert main([str(experiment.pk), *words, "--junit", str(tmp_path / "gate.xml")]) == 2
    assert said in capsys.readouterr().err
    error = ElementTree.parse(tmp_path / "gate.xml").getroot().find(".//error")
    assert said in error.get("message")


@pytest.mark.parametrize("option", ["--junit", "--markdown"])
def test_a_report_that_cannot_be_written_is_2(experiment, option, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    words = [str(experiment.pk), "--require", "tone >= 0.7", option, str(tmp_path / "file" / "gate")]
    assert main(words) == 2
    told = capsys.readouterr()
    assert "PASSED: experiment" in told.out
    assert str(tmp_path / "file") in told.err


@pytest.mark.parametrize(("limit", "code"), [(0.7, 0), (0.99, 1)])
def test_a_log_that_lacks_a_sign_decides_nothing(experiment, limit, code):
    command = [Path(sys.executable).parent / "evalstudio-gate", str(experiment.pk), "--require", f"tone >= {limit}"]
    ended = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (code, b"")
    assert b"tone \\u2265" in ended.stdout


def test_the_command_is_installed_with_the_package(experiment):
    command = [Path(sys.executable).parent / "evalstudio-gate", str(experiment.pk), "--require", "tone >= 0.99"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.endswith(f"FAILED: experiment {experiment.pk}\n")
