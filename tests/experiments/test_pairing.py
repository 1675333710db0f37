"""Which outputs of two results make a pair, and who won."""

import pytest

from evaluators.stats.estimate import Moments, estimate
from experiments.analysis.comparing.judges import judges_of
from experiments.analysis.comparing.kept import comparison
from experiments.analysis.pairing import comparable, in_common, names_of, outputs_of, partner_of
from experiments.analysis.versus import Outcomes, exactly, verdict
from experiments.ledger.start import start
from experiments.models import Case, Dataset, DatasetVersion, Evaluation, Experiment, Output
from tests.experiments.compared import comparative
from tests.experiments.judged import add_output, experiment_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(project):
    """Two results over five cases; one lacks the first case, the other the last."""
    mine, theirs = experiment_of(project, 5, "new"), experiment_of(project, 5, "old")
    mine.output_set.first().delete()
    theirs.output_set.last().delete()
    return mine, theirs


def keys(outputs) -> list[str]:
    return list(outputs.order_by("pk").values_list("case__key", flat=True))


def test_only_cases_that_both_answered_make_pairs(two):
    assert keys(outputs_of(*two)) == ["case-001", "case-002", "case-003"]


def test_attempts_pair_with_the_same_attempt_only(two):
    mine, theirs = two
    case = mine.output_set.first().case
    second = add_output(mine, case, attempt=1)
    assert second not in outputs_of(mine, theirs)
    partner = add_output(theirs, case, attempt=1)
    assert second in outputs_of(mine, theirs)
    assert partner_of(second, theirs) == partner


def test_a_run_judges_the_pairs_that_the_page_shows(project, two):
    run = start(comparative(project), two[0], baseline=two[1])
    rows = Evaluation.objects.filter(run=run).order_by("pk")
    assert [row.output for row in rows] == list(outputs_of(*two).order_by("pk"))
    assert all(row.output.case_id == row.baseline_output.case_id for row in rows)
    assert {row.baseline_output.experiment_id for row in rows} == {two[1].pk}


def facts_of(mine, theirs) -> dict:
    return comparison(mine, theirs, judges_of(mine, theirs).subjects).facts


def test_what_only_one_side_has_is_counted_and_named(two):
    facts = facts_of(*two)
    assert facts["outputs"] == 3
    assert [(side["count"], side["keys"], side["more"], side["edited"]) for side in facts["alone"]] == [
        (1, ["case-004"], 0, 0),
        (1, ["case-000"], 0, 0),
    ]


def test_a_case_whose_content_was_edited_is_told_from_one_that_is_missing(two):
    mine, _ = two
    dataset = mine.dataset_version.dataset
    add_output(mine, Case.objects.create(dataset=dataset, key="case-000", content_hash="edited", inputs={"q": "new"}))
    facts = facts_of(*two)
    assert [side["edited"] for side in facts["alone"]] == [1, 1]
    assert facts["outputs"] == 3


def test_a_result_that_still_grows_is_counted_anew(two):
    Experiment.objects.filter(pk=two[0].pk).update(is_open=True)
    mine = Experiment.objects.select_related("system").get(pk=two[0].pk)
    assert facts_of(mine, two[1])["outputs"] == 3
    Output.objects.filter(experiment=mine).first().delete()
    assert facts_of(mine, two[1])["outputs"] == 2


def test_what_was_worked_out_is_read_in_two_queries(two, django_assert_num_queries):
    facts_of(*two)
    with django_assert_num_queries(2):
        facts_of(*two)


def test_only_other_results_of_the_same_data_set_can_be_compared(project, two):
    mine, theirs = two
    experiment_of(project, 2, "elsewhere")
    later = DatasetVersion.objects.create(dataset=Dataset.objects.get(name="5 questions"), number=2, n_cases=5)
    newer = Experiment.objects.create(project=project, system=mine.system, dataset_version=later, source="file")
    assert set(comparable(mine)) == {theirs, newer}


def test_cases_in_common_are_counted_for_many_results_at_once(project, two, django_assert_num_queries):
    mine, theirs = two
    third = experiment_of(project, 5, "third")
    add_output(third, third.output_set.last().case, attempt=1)
    with django_assert_num_queries(1):
        assert in_common(mine, [theirs, third]) == {theirs.pk: 3, third.pk: 4}


def test_two_results_of_one_system_are_told_apart_by_when_they_were_made(project, two):
    mine, theirs = two
    assert names_of(mine, theirs) == ("new", "old")
    again = experiment_of(project, 5, "new")
    assert all(name.startswith("new of ") and "UTC" in name for name in names_of(mine, again))
    again.created_at = mine.created_at
    assert [name[-len(f" #{each.pk}") :] for name, each in zip(names_of(mine, again), (mine, again), strict=True)] == [
        f" #{mine.pk}",
        f" #{again.pk}",
    ]


# --- Outcomes ---------------------------------------------------------------------------------------------------------
def test_the_bar_of_outcomes_fills_its_width_from_wins_to_losses():
    parts = Outcomes(wins=5, ties=1, losses=2).parts
    assert [(part.words, part.x, part.width) for part in parts] == [
        ("5 wins", "0.00%", "62.50%"),
        ("1 tie", "62.50%", "12.50%"),
        ("2 losses", "75.00%", "25.00%"),
    ]
    assert sum(part.share for part in parts) == 1
    assert Outcomes(0, 0, 0).parts == []


@pytest.mark.parametrize(
    ("wins", "n", "expected"), [(90, 100, "better"), (10, 100, "worse"), (52, 100, "same"), (0, 0, "same")]
)
def test_only_an_interval_on_one_side_of_a_half_proves_anything(wins, n, expected):
    scores = [(case, 1.0 if case < wins else 0.0) for case in range(n)]
    assert verdict(estimate(Moments.of(scores), n)) == expected


def test_a_win_rate_is_said_with_its_standard_error_in_points():
    figure = estimate(Moments.of(enumerate([0.0, 1.0, 0.5, 0.5, 1.0, 0.0, 0.25, 0.75])), 8)
    # mean 0.5; deviations squared sum to 1.125, over 7, then over 8, the root of it: 0.14174
    # in log-odds 0.14174 / 0.25, times 2.36462 for 7 degrees of freedom: 1.34063, back as a share 0.79259
    said = "50.000 % (20.741 to 79.259), standard error 14.174 points"
    assert figure.standard_error == pytest.approx((1.125 / 7 / 8) ** 0.5)
    assert exactly(figure).replace("\N{NO-BREAK SPACE}", " ") == said


def test_a_figure_of_one_case_is_refused_in_words():
    assert exactly(estimate(Moments.of([(1, 1.0)]), 1)).startswith("One case alone")
