"""The leaderboard in pairs: each pair counts once, strengths from all of them, refusals in words."""

import math
import re

import pytest
from django.urls import reverse

from experiments.analysis.leaderboard import datasets_of
from experiments.analysis.pairwise import pairs_of
from experiments.models import Run, RunState
from tests.experiments.compared import comparative, compared
from tests.experiments.judged import experiment_of

pytestmark = pytest.mark.django_db
WON_75, WON_25 = [1.0, 1.0, 1.0, 0.0] * 5, [0.0, 0.0, 0.0, 1.0] * 5


@pytest.fixture
def shorter(project):
    return comparative(project)


@pytest.fixture
def four(project):
    return {name: experiment_of(project, 20, name) for name in ("base", "strong", "weak", "apart")}


def asked(project, **wanted):
    return pairs_of(project, datasets_of(project), *(wanted.get(name) for name in ("dataset", "version", "baseline")))


def open_page(client, project, query=""):
    response = client.get(f"{reverse('leaderboard-pairs', args=[project.slug])}{query}")
    assert response.status_code == 200
    plain = re.sub(r"<[^>]+>", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", plain)


def test_win_rates_stand_with_their_standard_errors(project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], four["base"], shorter, [*WON_25[:-2], 0.5, 0.5])
    pairs = asked(project)
    assert pairs.baseline == four["base"]
    # 15 wins of 20: the deviation of such a share is √(15/20 · 5/20 / 19) = 0.0993.
    assert [(met.one.system.name, *pairs.exactly(met)) for met in pairs.rates] == [
        ("strong", "75.000", "9.934"),
        ("weak", "25.000", "9.248"),  # 4 wins, 2 ties, 14 losses: √((4 · 0.75² + 2 · 0.25² + 14 · 0.25²) / 19 / 20)
    ]


def test_several_verdicts_on_win_rates_say_that_they_are_not_corrected(as_alice, project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    assert "no correction for their number" not in open_page(as_alice, project)
    compared(four["weak"], four["base"], shorter, WON_25)
    assert "with no correction for their number" in open_page(as_alice, project)


def test_strengths_against_one_baseline_are_its_log_odds(project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], four["base"], shorter, WON_25)
    found = {each.experiment.system.name: each for each in asked(project).strengths}
    assert found["strong"].figure.value == pytest.approx(math.log(3))
    assert found["weak"].figure.value == pytest.approx(-math.log(3))
    assert found["base"].figure.value == 0
    assert found["strong"].share.value == pytest.approx(0.75)
    assert found["strong"].share.low < 0.75 < found["strong"].share.high


def test_a_run_and_its_mirror_count_once(project, four, shorter):
    run = compared(four["strong"], four["base"], shorter, WON_75)
    mirror = compared(four["base"], four["strong"], shorter, WON_75)
    pairs = asked(project, baseline=four["base"].pk)
    assert [each.run for each in pairs.mirrors] == [mirror]
    assert [(met.column.run, met.figure.value) for met in pairs.rates] == [(run, 0.75)]
    assert {each.figure.n for each in pairs.strengths} == {20}
    turned = asked(project, baseline=four["strong"].pk)
    assert [each.run for each in turned.mirrors] == [run]


def test_a_mirror_alone_is_read_from_the_other_side(project, four, shorter):
    compared(four["base"], four["strong"], shorter, [*WON_25[:-1], 0.5])
    pairs = asked(project, baseline=four["base"].pk)
    (met,) = pairs.rates
    assert met.is_mirrored
    assert met.figure.value == pytest.approx(1 - 4.5 / 20)
    assert (met.outcomes.wins, met.outcomes.ties, met.outcomes.losses) == (15, 1, 4)
    assert met.figure.low < met.figure.value < met.figure.high


def test_of_a_pair_away_from_the_baseline_the_run_with_more_scores_counts(project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    thin = compared(four["strong"], four["weak"], shorter, [*WON_75[:-1], "unscored: unparsed"])
    full = compared(four["weak"], four["strong"], shorter, WON_25)
    pairs = asked(project, baseline=four["base"].pk)
    assert [each.run for each in pairs.mirrors] == [thin]
    assert pairs.met[four["strong"].pk, four["weak"].pk].column.run == full


def test_sets_that_never_met_are_refused_with_a_sentence(as_alice, project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], four["apart"], shorter, WON_75)
    pairs = asked(project)
    assert pairs.strengths is None
    assert "were never compared, not even through others" in pairs.refused
    assert re.search(r"No strengths: “\w+” and “\w+” were never compared", open_page(as_alice, project))


def test_results_of_one_system_that_never_met_are_called_by_more_than_its_name(project, four, shorter):
    like = experiment_of(project, 20, "base", created_at=four["base"].created_at)
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], like, shorter, WON_75)
    refused = asked(project, baseline=four["base"].pk).refused
    assert refused.startswith("“base of ")
    assert f" #{four['base'].pk}” and “" in refused


def test_a_judge_that_says_the_same_of_every_case_leaves_no_strength_that_is_sure(as_alice, project, four, shorter):
    compared(four["strong"], four["base"], shorter, [0.75] * 20)
    assert "Every case tells the same" in open_page(as_alice, project)
    assert [each.place for each in asked(project).strengths] == ["1–2", "1–2"]


def test_too_few_scores_conclude_nothing(as_alice, project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], four["base"], shorter, [1.0] * 5 + ["failed: time limit"] * 15)
    compared(four["apart"], four["base"], shorter, [1.0, "pending"], state=RunState.ACTIVE)
    pairs = asked(project)
    assert {met.one.system.name: met.verdict for met in pairs.rates}["weak"] == "same"
    assert len(pairs.unfit) == 2
    assert {each.experiment.system.name for each in pairs.strengths} == {"base", "strong"}
    text = open_page(as_alice, project)
    assert "Only 5 of 20 have a score" in text
    assert "It is still running." in text


def test_cells_of_the_matrix_open_the_pair(as_alice, project, four, shorter):
    run = compared(four["strong"], four["base"], shorter, WON_75)
    page = as_alice.get(reverse("leaderboard-pairs", args=[project.slug])).content.decode()
    assert page.count(f'href="{four["strong"].url_against(four["base"].pk)}?by={run.pk}"') == 3
    assert "75.0" in page
    assert "25.0" in page


def test_nothing_compared_says_what_to_do(as_alice, project, four):
    assert "Nothing compared yet" in open_page(as_alice, project)


@pytest.mark.parametrize("systems", [2, 8])
def test_it_takes_few_queries_however_many_pairs_there_are(
    as_alice, project, shorter, systems, django_assert_max_num_queries
):
    base = experiment_of(project, 12, "base")
    for number in range(systems):
        compared(experiment_of(project, 12, f"system {number}"), base, shorter, [1.0, 0.5, 0.0] * 4)
    open_page(as_alice, project)
    with django_assert_max_num_queries(12):
        open_page(as_alice, project)


def test_samples_and_former_runs_do_not_count(project, four, shorter):
    compared(four["strong"], four["base"], shorter, WON_75)
    compared(four["weak"], four["base"], shorter, WON_75, purpose="trial", is_current=False)
    Run.objects.create(
        version=shorter,
        experiment=four["apart"],
        baseline=four["base"],
        lane="cpu",
        state=RunState.FINISHED,
        is_current=False,
    )
    assert [met.one.system.name for met in asked(project).rates] == ["strong"]
