"""What runs measure besides their score: means in SQL, over cases, kept with the summary."""

import re

import pytest
from django.db.models import F
from django.urls import reverse

from evaluators.core import FLIPPED, Measure
from evaluators.stats.estimate import Moments, estimate
from experiments.analysis.columns import columns
from experiments.analysis.measured import measured, measures_of
from experiments.analysis.summary import Summary, summaries
from experiments.analysis.versus import Outcomes
from experiments.models import Evaluation, EvaluationBody, Output, Run, RunState
from tests.experiments.compared import comparative, compared, preference
from tests.experiments.judged import add_output, experiment_of, judged, rehearsal_of, version_of
from tests.experiments.small_kinds import Length

pytestmark = pytest.mark.django_db
PACE, WORDS = Measure("pace", "Pace"), Measure("words", "Words", unit="words")


class Measuring(Length):
    """A kind that measures a share and a count."""

    key = "measuring"

    def measures(self, config):
        return (PACE, WORDS)


@pytest.fixture
def measuring(monkeypatch):
    from evaluators import kinds

    monkeypatch.setitem(kinds.KINDS, "measuring", Measuring())


@pytest.fixture
def two(project):
    return experiment_of(project, 8, "new"), experiment_of(project, 8, "old")


@pytest.fixture
def run(project, two):
    """Four wins, a tie, a loss and two without a score; two of the six were judged otherwise in the other order."""
    told = [1.0, 1.0, 1.0, 0.9, 0.5, 0.0, "unscored: unparsed", "failed: unreachable"]
    return compared(*two, preference(project, rehearsal_of(project)), told, flipped=(3, 4))


def measure_run(project, experiment, values, version=None):
    """A run whose rows measure these pairs of numbers, one for each output in turn."""
    if version is None:
        version = version_of(project, "Measures")
        version.evaluator.kind = "measuring"
        version.evaluator.save()
    run = judged(experiment, version, [0.5] * len(values))
    for row, (pace, words) in zip(Evaluation.objects.filter(run=run).order_by("pk"), values, strict=True):
        EvaluationBody.objects.create(evaluation=row, measures={"pace": pace, "words": words, "unasked": 7})
    return run


def test_the_flip_rate_is_the_mean_of_what_flipped_with_its_interval(run):
    figure = summaries([run])[run.pk].measures[FLIPPED.name]
    assert (figure.value, figure.n, figure.asked) == (pytest.approx(2 / 6), 6, 8)
    assert figure == estimate(Moments.of(enumerate([0, 0, 0, 1, 1, 0])), 8)
    assert summaries([run])[run.pk].flips == 2


def test_wins_ties_and_losses_are_counted_by_the_side_of_a_half(run):
    assert summaries([run])[run.pk].outcomes == Outcomes(wins=4, ties=1, losses=1)


def test_a_result_alone_has_no_outcomes(project, two):
    run = judged(two[0], version_of(project, "Facts"), [1.0, 0.5])
    assert summaries([run])[run.pk].outcomes is None


def test_a_comparison_without_a_score_has_won_nothing_yet(project, two):
    run = compared(*two, comparative(project), ["pending"] * 8, state=RunState.ACTIVE)
    assert summaries([run])[run.pk].outcomes == Outcomes(0, 0, 0)


def test_outcomes_and_measures_are_kept_and_come_back(run, django_assert_num_queries):
    fresh = summaries([run])[run.pk]
    kept = Run.objects.get(pk=run.pk)
    with django_assert_num_queries(0):
        assert summaries([kept])[run.pk] == fresh
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    Evaluation.objects.filter(run=run, score=1.0).delete()
    assert summaries([Run.objects.get(pk=run.pk)])[run.pk].outcomes == Outcomes(1, 1, 1)


def test_summaries_that_were_kept_before_measures_existed_still_load():
    figure = {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "clusters": 9, "asked": 9, "method": "t", "refused": None}
    old = {"estimate": figure, "counts": {"scored": 9}, "below": 0, "mean_cost_usd": None, "mean_latency_ms": 1.0}
    summary = Summary.stored(old)
    assert (summary.measures, summary.outcomes, summary.flips) == ({}, None, 0)
    assert summary.estimate.standard_error is None


@pytest.mark.usefixtures("measuring")
def test_the_sums_of_sql_are_those_of_the_rows(project):
    experiment = experiment_of(project, 6)
    paces, words = [0.25, 0.5, 1.0, 0.0, 0.75, 1.0], [3, 14, 15, 9, 26, 5]
    run = measure_run(project, experiment, list(zip(paces, words, strict=True)))
    assert measured([run])[run.pk] == {PACE: Moments.of(enumerate(paces)), WORDS: Moments.of(enumerate(words))}


@pytest.mark.usefixtures("measuring")
def test_answers_to_one_case_are_one_cluster(project):
    experiment = experiment_of(project, 2)
    for output in list(experiment.output_set.order_by("pk")):
        add_output(experiment, output.case, attempt=1)
    paces = [0.0, 1.0, 0.5, 0.75]
    run = measure_run(project, experiment, [(pace, 1) for pace in paces])
    assert measured([run])[run.pk][PACE] == Moments.of(zip((1, 2, 1, 2), paces, strict=True))


@pytest.mark.usefixtures("measuring")
def test_counts_are_no_shares_and_are_not_cut_off_at_one(project):
    experiment = experiment_of(project, 4)
    run = measure_run(project, experiment, [(0.5, words) for words in (10, 20, 30, 40)])
    figure = summaries([run])[run.pk].measures["words"]
    assert (figure.value, figure.n) == (25.0, 4)
    assert 1 < figure.low < 25 < figure.high
    same = measure_run(project, experiment_of(project, 4, "other"), [(0.5, 10)] * 4, run.version)
    assert summaries([same])[same.pk].measures["words"].refused


@pytest.mark.usefixtures("measuring")
def test_what_is_no_number_is_no_measure(project):
    experiment = experiment_of(project, 3)
    run = measure_run(project, experiment, [(True, 1), ("0.5", 2), (None, 4)])
    found = measured([run])[run.pk]
    assert (found[PACE].n, found[WORDS].total) == (0, 7.0)


@pytest.mark.usefixtures("measuring")
def test_measures_cost_one_query_however_many_runs_there_are(project, django_assert_num_queries):
    first = measure_run(project, experiment_of(project, 3), [(0.5, 1)] * 3)
    runs = [first, measure_run(project, experiment_of(project, 3, "b"), [(0.25, 9)] * 3, first.version)]
    for run in runs:
        run.version.evaluator  # loaded here, as every reader of runs has it
    with django_assert_num_queries(1):
        assert {pk: found[PACE].total for pk, found in measured(runs).items()} == {runs[0].pk: 1.5, runs[1].pk: 0.75}


def test_runs_without_measures_ask_nothing(project, two, django_assert_num_queries):
    run = judged(two[0], version_of(project, "Facts"), [1.0])
    with django_assert_num_queries(0):
        assert measured([run]) == {}


def test_a_version_that_cannot_be_read_measures_nothing(project):
    version = version_of(project, "Facts")
    version.config.clear()
    assert measures_of(version) == ()


def test_columns_name_measures_by_their_titles(run):
    found = [(measure.title, figure.n) for measure, figure in columns([run])[0].measures]
    assert found == [("Orders disagree", 6), ("Wins in the order given", 6), ("Cohen’s kappa of the two orders", 6)]


def test_the_two_orders_agree_beyond_chance_as_kappa_says(run):
    # Given: four wins, two losses; exchanged: five wins, a loss; the same in five of six, by chance in 22 of 36.
    kappa = summaries([run])[run.pk].measures["orders_kappa"]
    assert (kappa.value, kappa.asked) == (pytest.approx((5 / 6 - 22 / 36) / (14 / 36)), 8)


def test_no_kappa_is_told_while_a_comparison_goes_on(run):
    Run.objects.filter(pk=run.pk).update(state=RunState.ACTIVE)
    assert "orders_kappa" not in summaries([Run.objects.get(pk=run.pk)])[run.pk].measures


@pytest.mark.usefixtures("measuring")
def test_the_charts_of_a_count_say_counts_in_their_tables_too(as_alice, project):
    version = None
    for name, words in (("new", (1210, 1220, 1230, 1240)), ("old", (14, 15, 9, 26))):
        experiment = experiment_of(project, 4, name)
        Output.objects.filter(experiment=experiment).update(cost_usd=0.00002)
        version = measure_run(project, experiment, [(0.5, each) for each in words], version).version
    query = {"by": f"{version.pk}:words", "also": f"{version.pk}:words"}
    charts = as_alice.get(reverse("leaderboard-charts", args=[project.slug]), query).context["charts"]
    paid, apart = charts
    said = {row[0].text: row[1] for row in paid.table.rows}
    assert re.fullmatch(r"1,225 words \(1,20\d(\.\d+)? to 1,24\d(\.\d+)?\)", said["new"])
    hovers = [each.split(": ")[1] for each in paid.figure["data"][0]["hovertext"]]
    assert hovers == [f"{row[1]}, {row[2]} per 1,000" for row in paid.table.rows]
    trace = apart.figure["data"][0]
    drawn = {name: [f"{value:,.0f}" for value in row] for name, row in zip(trace["y"], trace["z"], strict=True)}
    listed = {name: [row[at].text for row in apart.table.rows] for at, name in enumerate(apart.table.heads) if at}
    assert drawn == listed
