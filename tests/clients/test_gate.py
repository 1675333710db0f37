"""What a gate decides, and how it says so."""

from xml.etree import ElementTree

import pytest
from evalstudio_client import Check, EvalStudioError, NotFound, Outcome, Report, Requirement

from experiments.models import Run
from tests.experiments.judged import experiment_of, judged, rehearsal_of, shuffled, version_of

N = 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Correctness >= 0.8", Requirement("Correctness", 0.8)),
        ("Toxic words<=5%", Requirement("Toxic words", 0.05, at_least=False)),
        ("Tone passes ≥ 90 %", Requirement("Tone", 0.9, passes=True)),
        (" a >= b >= 1 ", Requirement("a >= b", 1.0)),
    ],
)
def test_a_requirement_is_written_as_people_say_it(text, said):
    assert Requirement.parse(text) == said
    assert Requirement.parse(str(said)) == said


@pytest.mark.parametrize(
    "text", ["", "Correctness", "Correctness > 0.8", ">= 0.8", "Tone >= 80", "Tone >= 1.2.3", "Tone >= x"]
)
def test_what_is_no_requirement_is_refused(text):
    with pytest.raises(ValueError, match="is no requirement"):
        Requirement.parse(text)


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most"),
    [
        (0.81, 0.9, "passed", "failed"),
        (0.80, 0.9, "passed", "undecided"),
        (0.75, 0.85, "undecided", "undecided"),
        (0.70, 0.79, "failed", "passed"),
        (None, None, "undecided", "undecided"),
    ],
)
def test_the_interval_decides_and_not_the_mean(low, high, at_least, at_most):
    figure = {"value": 0.8, "low": low, "high": high, "n": 9, "asked": 9, "refused": "One case alone says nothing."}
    assert Requirement("x", 0.8).decide(figure)[0] == at_least
    assert Requirement("x", 0.8, at_least=False).decide(figure)[0] == at_most


def test_without_a_score_nothing_passes():
    figure = {"value": None, "low": None, "high": None, "n": 0, "asked": 9, "refused": "Nothing is scored yet."}
    assert Requirement("x", 0.0).decide(figure) == (Outcome.FAILED, "Nothing is scored yet.")


@pytest.fixture
def two(transactional_db, project):
    return experiment_of(project, N, "assistant 2"), experiment_of(project, N, "assistant 1")


def outcomes(report: Report) -> list[str]:
    return [str(check.outcome) for check in report.checks]


def test_requirements_on_means_and_on_what_passes(studio, two, project):
    judged(two[0], version_of(project, "tone"), ([1.0] * 9 + [0.0]) * 4)
    wanted = ["tone >= 0.7", "tone >= 99%", "tone >= 0.9", "tone <= 0.5", "tone passes >= 0.7"]
    report = studio.gate(two[0].pk, wanted)
    assert outcomes(report) == ["passed", "failed", "undecided", "failed", "passed"]
    assert not report.passed
    assert "90.0 %, interval 76.9 % to 96.0 %, from 40 rows" in report.checks[0].sentence
    assert studio.gate(two[0].pk, ["tone >= 0.9"]).passed
    assert not studio.gate(two[0].pk, ["tone >= 0.9"], strict=True).passed


def test_a_gate_is_shut_where_too_little_was_scored(studio, two, project):
    judged(two[0], version_of(project, "tone"), [1.0] * 20 + ["failed: timeout"] * 20)
    report = studio.gate(two[0].pk, ["tone >= 0.5"])
    assert outcomes(report) == ["failed"]
    assert "only 20 of 40 rows are scored" in str(report)
    assert studio.gate(two[0].pk, ["tone >= 0.5"], coverage=0.5).passed


def test_a_regression_is_what_the_interval_proves(studio, two, project):
    scores = shuffled(N)
    worse, noise = version_of(project, "worse"), version_of(project, "noise")
    judged(two[0], worse, [one * 0.7 for one in scores])
    judged(two[1], worse, scores)
    judged(two[0], noise, [*scores[1:], scores[0] / 2])
    judged(two[1], noise, scores)
    report = studio.gate(two[0].pk, baseline=two[1].pk)
    assert [(check.judge, check.outcome) for check in report.checks] == [("worse v1", "failed"), ("noise v1", "passed")]
    assert "from 40 pairs" in report.checks[0].sentence
    assert studio.gate(two[1].pk, baseline=two[0].pk).passed


def test_a_small_loss_that_is_proven_is_told_with_digits_that_show_it(studio, two, project):
    scores, version = shuffled(N), version_of(project, "tone")
    judged(two[0], version, [one * 0.999 for one in scores])
    judged(two[1], version, scores)
    (check,) = studio.gate(two[0].pk, baseline=two[1].pk).checks
    assert check.outcome == "failed"
    assert check.sentence == "worse: -0.05 points, interval -0.1 to -0.04, from 40 pairs"


def test_an_evaluator_that_judged_only_one_side_decides_nothing(studio, two, project):
    judged(two[0], version_of(project, "tone"), [1.0] * N)
    with pytest.raises(NotFound, match="No evaluator judged both"):
        studio.gate(two[0].pk, baseline=two[1].pk)
    for experiment in two:
        judged(experiment, version_of(project, "length"), [1.0] * N)
    report = studio.gate(two[0].pk, baseline=two[1].pk)
    assert sorted(outcomes(report)) == ["passed", "undecided"]
    assert report.passed


def test_the_highest_version_counts_unless_evaluators_are_named(studio, two, project, short, worker):
    judged(two[0], version_of(project, "tone", threshold=0.4), [0.0] * N)
    judged(two[0], version_of(project, "tone", threshold=0.6), [1.0] * N)
    assert [check.judge for check in studio.gate(two[0].pk, ["tone >= 0.5"]).checks] == ["tone v2"]
    report = studio.gate(two[0].pk, ["Short <= 0.5"], evaluators=["Short"], timeout_s=60)
    assert outcomes(report) == ["passed"]
    with pytest.raises(NotFound, match="“tone” has not judged"):
        studio.gate(two[0].pk, ["tone >= 0.5"], evaluators=["Short"])


def test_a_run_counts_no_more_once_a_later_one_took_its_place(studio, two, project):
    version = version_of(project, "tone")
    for experiment in two:
        judged(experiment, version, [0.0] * N)
    Run.objects.update(is_current=False)
    for experiment in two:
        judged(experiment, version, [1.0] * N)
    assert outcomes(studio.gate(two[0].pk, ["tone >= 0.7"])) == ["passed"]
    assert outcomes(studio.gate(two[0].pk, baseline=two[1].pk)) == ["passed"]


def test_a_comparative_evaluator_is_asked_who_wins(studio, two, project, shorter, worker):
    report = studio.gate(two[0].pk, baseline=two[1].pk, evaluators=["Shorter output"], timeout_s=60)
    assert outcomes(report) == ["passed"]
    assert report.checks[0].sentence.startswith("wins 50.0 %")


def test_a_rehearsal_is_never_unmarked(studio, two, project):
    judged(two[0], version_of(project, "tone"), [1.0] * N, connection=rehearsal_of(project))
    report = studio.gate(two[0].pk, ["tone >= 0.5"])
    for told in (str(report), report.markdown(), report.junit()):
        assert "rehearsal, no language model" in told


def test_a_gate_with_nothing_to_decide_is_no_open_gate(studio, two):
    with pytest.raises(EvalStudioError, match="nothing to decide"):
        studio.gate(two[0].pk)


HOSTILE = 'a | b <img src=x> `c` "d" & \x00\x1b \ud83d [e](f)\n# g'


def test_reports_hold_any_text_as_text():
    checks = [Check(HOSTILE, HOSTILE, outcome, HOSTILE, rehearsal=False) for outcome in Outcome]
    report = Report(7, 3, strict=False, checks=checks)
    suite = ElementTree.fromstring(report.junit().encode("utf-8"))[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "errors": "0",
        "skipped": "1",
    }
    assert [[child.tag for child in case] for case in suite] == [["system-out"], ["failure"], ["skipped"]]
    table = report.markdown().splitlines()
    assert len([line for line in table if line.startswith("| ")]) == 5
    assert "<img" not in report.markdown().replace("\\<img", "")


def test_a_strict_gate_counts_what_is_undecided_as_failures():
    report = Report(7, None, strict=True, checks=[Check("x", "x v1", Outcome.UNDECIDED, "?", rehearsal=False)])
    suite = ElementTree.fromstring(report.junit())[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "0")
    assert report.markdown().startswith("### EvalStudio: failed, experiment 7\n")
