"""What two results come to against one another: figures by hand, pairs in their order, and what is kept of it."""

import math

import pytest

from evaluators.core import Status
from evaluators.stats.correction import holm
from evaluators.stats.paired import paired
from experiments.analysis.comparing import asking
from experiments.analysis.comparing.apart import unmatched
from experiments.analysis.comparing.changed import changed
from experiments.analysis.comparing.judges import judges_of
from experiments.analysis.comparing.kept import comparison
from experiments.models import Evaluation, Experiment, Output, OutputBody, PairColumn, Run, RunState
from tests.experiments.compared import comparative, compared
from tests.experiments.judged import add_output, experiment_of, judged, shuffled, version_of

pytestmark = pytest.mark.django_db
OLD = [0.5, 0.75, 0.25, 1.0, 0.5, 0.0]
NEW = [0.25, 0.75, 0.5, 0.5, 0.75, 0.0]
COLUMNS = ["worst", "best", "outputs", "flags", "partners"]


@pytest.fixture
def two(project):
    return experiment_of(project, 6, "new"), experiment_of(project, 6, "old")


def compare(mine, theirs, wanted=()):
    return comparison(mine, theirs, judges_of(mine, theirs).subjects, wanted)


def keys_of(mine, theirs, **query) -> list[str]:
    """The keys of the cases that an address shows, in their order."""
    subjects = judges_of(mine, theirs, query.get("by", "")).subjects
    view = asking.View.of(query, subjects)
    found = comparison(mine, theirs, subjects, view.columns)
    texts = changed(mine, theirs) if view.show == "changed" else None
    page = asking.listing(view, found, texts).page(query, 50)
    outputs = Output.objects.select_related("case").in_bulk(page.rows)
    return [outputs[pk].case.key for pk in page.rows]


# --- Figures ----------------------------------------------------------------------------------------------------------
def test_the_difference_is_the_one_worked_out_by_hand(project, two):
    version = version_of(project, "facts")
    judged(two[0], version, NEW)
    judged(two[1], version, OLD)
    (figure,) = compare(*two).figures
    # differences −.25, 0, .25, −.5, .25, 0: mean −1/24; their squares sum to .4375, less 6/576, over 5, over 6
    error = math.sqrt((0.4375 - 6 / 576) / 5 / 6)
    told = figure.difference
    assert told.value == pytest.approx(-1 / 24)
    assert told.standard_error == pytest.approx(error)
    # Two of six cases are tied: half a third of a case more is taken to lie on either side, as `paired` explains.
    assert told == paired(((case, new - old) for case, (new, old) in enumerate(zip(NEW, OLD, strict=True))), 6)
    assert (figure.baseline.value, figure.compared.value) == (pytest.approx(0.5), pytest.approx(2.75 / 6))
    assert (figure.counts["regressed"], figure.counts["improved"], figure.counts["same"]) == (2, 2, 2)
    assert figure.verdict == "cannot tell"
    assert figure.advice.startswith("about ")
    assert "more cases to tell 4.2" in figure.advice


def test_where_lower_is_better_a_drop_is_an_improvement(project, two):
    version = version_of(project, "toxicity", direction="lower")
    judged(two[0], version, [0.1, 0.1, 0.1, 0.1, 0.1, 0.9])
    judged(two[1], version, [0.8, 0.7, 0.8, 0.7, 0.8, 0.8])
    (figure,) = compare(*two).figures
    assert figure.difference.value < 0
    assert (figure.counts["improved"], figure.counts["regressed"]) == (5, 1)
    assert keys_of(*two) == ["case-005", "case-001", "case-003", "case-000", "case-002", "case-004"]


def test_verdicts_of_several_evaluators_are_corrected_together(project):
    two = experiment_of(project, 40, "new"), experiment_of(project, 40, "old")
    for number in range(5):
        version = version_of(project, f"evaluator {number}")
        noise = shuffled(40, f"a{number}")
        judged(two[1], version, [0.4 + one / 10 for one in noise])
        judged(two[0], version, [0.4 + 0.0046 * number + one / 10 for one in shuffled(40, f"b{number}")])
    figures = compare(*two).figures
    expected = holm([figure.difference.p_value for figure in figures])
    assert [figure.adjusted_p for figure in figures] == pytest.approx(expected)
    assert {figure.judged for figure in figures} == {5}
    lost = [figure for figure in figures if figure.difference.p_value < 0.05 <= figure.adjusted_p]
    for figure in lost:
        assert (figure.alone_verdict, figure.verdict) != (figure.verdict, figure.alone_verdict)
        assert figure.advice == "told alone, but among 5 judged at once it may be chance"
    assert lost, "the made-up scores leave none that only the correction undoes"


def test_few_scores_tell_nothing_however_clear_they_are(project):
    two = experiment_of(project, 30, "new"), experiment_of(project, 30, "old")
    version = version_of(project, "facts")
    judged(two[0], version, [0.9, 0.95] * 7 + ["pending"] * 16)
    judged(two[1], version, [0.1, 0.12] * 15)
    (figure,) = compare(*two).figures
    assert figure.difference.low > 0
    assert figure.verdict == "cannot tell"
    assert figure.advice == "only 14 of 30 pairs have a score from both"


def test_a_comparative_evaluator_counts_wins_ties_losses_and_flips(project, two):
    compared(*two, comparative(project), [1.0, 0.5, 0.0, 0.75, "failed: thrown", 1.0])
    (figure,) = compare(*two).figures
    counts = figure.counts
    assert (counts["improved"], counts["same"], counts["regressed"], counts["failed"]) == (3, 1, 1, 1)
    assert (figure.baseline, figure.compared) == (None, None)
    assert figure.difference.value == pytest.approx((1 + 0 - 1 + 0.5 + 1) / 5)
    assert figure.advice.endswith("more cases to tell 15.0\N{NO-BREAK SPACE}points from an even score")  # 65 % are won


def test_several_judgements_of_an_output_count_once_with_their_mean(project, two):
    version = version_of(project, "facts")
    mine, _ = judged(two[0], version, [0.5] * 6), judged(two[1], version, [0.5] * 6)
    Run.objects.filter(pk=mine.pk).update(repeats=2)
    for row in list(mine.evaluation_set.all()):
        Evaluation.objects.create(
            run=mine, output=row.output, repeat=1, state=Status.SCORED, score=1.0, settled_at=row.settled_at
        )
    (figure,) = compare(*two).figures
    assert (figure.difference.n, figure.difference.value) == (6, 0.25)
    assert figure.counts["only_experiment"] == 0


def test_attempts_at_one_case_are_one_cluster(project, two):
    version = version_of(project, "facts")
    for experiment in two:
        add_output(experiment, experiment.output_set.order_by("pk")[0].case, attempt=1)
    judged(two[0], version, [*NEW, 1.0])
    judged(two[1], version, [*OLD, 0.5])
    (figure,) = compare(*two).figures
    assert (figure.difference.n, figure.difference.clusters) == (7, 6)


def test_versions_are_never_mixed(project, two):
    first, second = version_of(project, "facts"), version_of(project, "facts", threshold=0.9)
    judged(two[0], second, NEW)
    judged(two[1], first, OLD)
    only = judged(two[0], version_of(project, "tone"), NEW)
    judges = judges_of(*two)
    assert judges.subjects == []
    told = unmatched(judges.alone, two[0])
    assert [(each.evaluator.name, each.reason) for each in told] == [
        ("facts", "different versions"),
        ("tone", "judged only one of the two"),
    ]
    assert told[1].mine == [only]


# --- The pairs --------------------------------------------------------------------------------------------------------
@pytest.fixture
def judged_two(project, two):
    """One evaluator by which cases 0 and 3 regressed; another by which 3 improved and 4 has no score."""
    facts, tone = version_of(project, "facts"), version_of(project, "tone")
    runs = judged(two[0], facts, NEW), judged(two[0], tone, [0.5, 0.5, 0.5, 0.9, "unscored: unparsed", 0.5])
    judged(two[1], facts, OLD)
    judged(two[1], tone, [0.5] * 6)
    return runs


@pytest.mark.parametrize(
    ("show", "expected"),
    {
        "regressed": ["case-003", "case-000"],
        "improved": ["case-003", "case-002", "case-004"],  # by sort=low: the worst of any evaluator comes first
        "disagree": ["case-003"],
        "same": ["case-001", "case-005"],
        "errors": ["case-004"],
        "changed": ["case-001"],
        "nonsense": ["case-003", "case-000", "case-001", "case-002", "case-005", "case-004"],
    }.items(),
)
def test_pairs_are_filtered_over_all_evaluators(two, judged_two, show, expected):
    OutputBody.objects.filter(output=two[0].output_set.order_by("pk")[1]).update(outputs={"value": "another answer"})
    assert keys_of(*two, show=show) == expected


def test_pairs_are_sorted_by_any_evaluator(two, judged_two):
    facts, tone = judged_two
    assert keys_of(*two, by=str(facts.pk))[:3] == ["case-003", "case-000", "case-001"]
    assert keys_of(*two, by=str(facts.pk), sort="high")[:2] == ["case-002", "case-004"]
    assert keys_of(*two, by=str(tone.pk), sort="high")[0] == "case-003"
    assert keys_of(*two, by=str(tone.pk))[-1] == "case-004"  # without a score
    assert keys_of(*two, sort="case") == [f"case-00{number}" for number in range(6)]


def test_a_bar_of_a_distribution_shows_its_pairs(two, judged_two):
    figure = compare(*two).figures[0]
    assert (sum(figure.steps), figure.reach) == (6, 0.5)
    from experiments.analysis.comparing.figures import edges

    ends = edges(figure.reach)
    for low, high, n in zip(ends[:-1], ends[1:], figure.steps, strict=True):
        shown = keys_of(*two, by=str(judged_two[0].pk), **{"from": repr(low), "to": repr(high)})
        assert len(shown) == n, (low, high)


def test_pages_walk_every_pair_once_in_both_directions(project):
    two = experiment_of(project, 60, "new"), experiment_of(project, 60, "old")
    version = version_of(project, "facts")
    judged(two[0], version, shuffled(60, "new"))  # with many ties
    judged(two[1], version, [0.5] * 58 + ["pending", "failed: thrown"])
    subjects = judges_of(*two).subjects
    view = asking.View.of({}, subjects)
    listed = asking.listing(view, comparison(*two, subjects, view.columns))
    pages, query = [], {}
    while True:
        page = listed.page(query, 7)
        pages.append(page)
        if page.next is None:
            break
        query = {"after": page.next}
    walked = [pk for page in pages for pk in page.rows]
    assert len(walked) == 60 == len(set(walked))
    back, page = [], pages[-1]
    while page.previous:
        page = listed.page({"before": page.previous}, 7)
        back = page.rows + back
    assert back == walked[: len(back)]
    assert len(back) >= 53
    for at, pk in enumerate(walked):
        place = listed.neighbours(pk)
        assert (place.number, place.total) == (at + 1, 60)
        assert place.previous == (walked[at - 1] if at else None)
        assert place.next == (walked[at + 1] if at < 59 else None)
    assert listed.page({"after": "999999999"}, 7).rows == walked[:7]
    assert listed.neighbours(0).number is None


# --- What is kept -----------------------------------------------------------------------------------------------------
def test_what_is_kept_is_read_in_two_queries_and_holds_until_a_score_changes(
    two, judged_two, django_assert_num_queries
):
    before = compare(*two, COLUMNS)
    with django_assert_num_queries(2):
        again = compare(*two, COLUMNS)
    assert again.figures == before.figures
    assert (again.array("worst") == before.array("worst")).all()
    run = judged_two[0]
    run.evaluation_set.filter(score=0.25).update(score=0.0)
    Run.objects.filter(pk=run.pk).update(revision=2)
    assert compare(*two).figures[0].compared.value == pytest.approx(2.5 / 6)
    assert PairColumn.objects.filter(name="figures").count() == 1


def test_nothing_is_kept_of_what_is_still_running(project, two):
    version = version_of(project, "facts")
    judged(two[0], version, ["pending"] * 6, state=RunState.ACTIVE)
    judged(two[1], version, OLD)
    assert compare(*two).figures[0].counts["pending"] == 6
    assert not PairColumn.objects.exists()


def test_a_deleted_result_takes_its_comparisons_along(two, judged_two):
    compare(*two)
    Experiment.objects.filter(pk=two[1].pk).delete()
    assert not PairColumn.objects.exists()


def test_a_system_that_failed_is_an_error_of_its_pair(project, two):
    Output.objects.filter(pk=two[1].output_set.order_by("pk")[2].pk).update(error="time-out")
    version = version_of(project, "facts")
    for experiment in two:
        judged(experiment, version, OLD)
    assert keys_of(*two, show="errors") == ["case-002"]


def test_without_any_judge_the_pairs_can_be_read(two):
    assert keys_of(*two) == [f"case-00{number}" for number in range(6)]
