"""Judges against people: figures by hand, corrections that find the truth, and refusals where nothing can be told."""

import math
import random
from datetime import timedelta

import pytest
from django.db.models import F

from annotations.answers import Answer
from annotations.beside import beside, people_of
from annotations.grading import Subject, submit
from annotations.judging import against, calibrate, calibrate_all, corrected, strata_of
from annotations.models import GradeState, Item, Order, Queue
from annotations.ordering import inclusion
from annotations.queueing import fill
from annotations.shootout import shootout
from evaluators.core import Status
from evaluators.golden import keep, stored_sample
from evaluators.models import GoldenCase
from experiments.analysis.columns import columns
from experiments.analysis.corrected import corrected_of
from experiments.models import Calibration, Evaluation, Output, Run
from experiments.samples import sample_of
from tests.annotations.conftest import SIDES
from tests.annotations.test_grading import BAD, GOOD

pytestmark = pytest.mark.django_db


def grade_all(queue, person, verdicts):
    """By the place of their outputs; None leaves one out."""
    items = Item.objects.filter(queue=queue).select_related("queue", "output__experiment").order_by("output")
    for item, good in zip(items, verdicts, strict=True):
        if good is not None:
            subject = Subject.of(item)
            submit(subject, person, {version.pk: GOOD if good else BAD for version in subject.versions})


def refer(run, queue):
    evaluator = run.version.evaluator
    evaluator.reference = queue.versions.get().evaluator
    evaluator.save()
    run = Run.objects.select_related("version__evaluator").get(pk=run.pk)
    return run, people_of(run)


def test_figures_of_a_judge_against_people_by_hand(make_queue, make_experiment, judged, people):
    """Of 10 outputs people pass 6; the judge passes 5 of those and 1 of the others."""
    experiment = make_experiment(10)
    run = judged(experiment, [True] * 5 + [False] + [True] + [False] * 3)
    queue = make_queue(experiment=experiment)
    grade_all(queue, people[0], [True] * 6 + [False] * 4)
    run, theirs = refer(run, queue)
    found = against(beside(run, theirs), columns([run])[0].figure)
    assert found.n == 10
    assert found.agreement.value == pytest.approx(0.8)
    assert found.sensitivity.value == pytest.approx(5 / 6)
    assert found.specificity.value == pytest.approx(3 / 4)
    assert found.kappa.value == pytest.approx((0.8 - (0.6 * 0.6 + 0.4 * 0.4)) / (1 - (0.6 * 0.6 + 0.4 * 0.4)))
    assert found.correlation == pytest.approx(7 / 12)
    assert found.table.counts == {("Good", "Good"): 5, ("Good", "Bad"): 1, ("Bad", "Good"): 1, ("Bad", "Bad"): 3}


def test_a_judge_of_known_error_is_corrected_to_the_truth_within_the_interval(
    make_queue, make_experiment, judged, people
):
    """A judge with sensitivity 0.9 and specificity 0.6 says far more than the truth of 0.5."""
    rng = random.Random(11)
    random.seed(5)  # the order of the queue is drawn, and must have nothing to do with what the judge says
    truth = [number % 2 == 0 for number in range(600)]
    said = [rng.random() < (0.9 if good else 0.4) for good in truth]
    experiment = make_experiment(600)
    run = judged(experiment, said)
    queue = make_queue(experiment=experiment, order=Order.RANDOM)
    first = set(queue.items.order_by("place").values_list("output", flat=True)[:200])
    order = queue.items.order_by("output").values_list("output", flat=True)
    grade_all(queue, people[0], [good if pk in first else None for pk, good in zip(order, truth, strict=True)])
    run, _ = refer(run, queue)
    own = columns([run])[0].figure
    assert own.value > 0.6
    calibrate(run)
    column = columns([Run.objects.select_related("version__evaluator").get(pk=run.pk)])[0]
    assert column.corrected.low < 0.5 < column.corrected.high
    assert abs(column.corrected.value - 0.5) < abs(own.value - 0.5) / 2
    assert column.corrected.n == 200


def test_outputs_that_were_picked_and_not_drawn_correct_nothing(make_queue, make_experiment, judged, people):
    experiment = make_experiment(40)
    run = judged(experiment, [number % 2 == 0 for number in range(40)])
    queue = make_queue(experiment=experiment, order=Order.WORST)
    grade_all(queue, people[0], [number % 2 == 0 if number < 20 else None for number in range(40)])
    run, theirs = refer(run, queue)
    figure = corrected(beside(run, theirs))
    assert figure.value is None
    assert "not drawn at random" in figure.refused


@pytest.mark.parametrize("order", [Order.OLDEST, Order.RANDOM])
def test_an_output_that_nobody_can_judge_is_left_out_and_the_rest_is_corrected(
    as_alice, make_queue, make_experiment, judged, people, order
):
    """All 40 are looked at, two of them in vain: people pass half of the 38 others, whatever the order was."""
    experiment = make_experiment(40)
    run = judged(experiment, [1.0] * 22 + [0.0] * 18)
    queue = make_queue(experiment=experiment, order=order)
    grade_all(queue, people[0], [True] * 19 + [False] + [None] * 2 + [False] * 18)
    for item in queue.items.select_related("queue", "output__experiment").order_by("output")[20:22]:
        subject = Subject.of(item)
        submit(subject, people[0], {version.pk: Answer(GradeState.CANNOT_JUDGE) for version in subject.versions})
    run, theirs = refer(run, queue)
    pair = beside(run, theirs)
    assert pair.cannot == 2
    figure = corrected(pair)
    assert (figure.value, figure.n, figure.asked) == (pytest.approx(0.5), 38, 40)
    assert sum(stratum.outputs for stratum in strata_of(pair).values()) == 38, "no plan asks for them again"
    place = f"evaluators/{run.version.evaluator_id}/people/"
    page = " ".join(as_alice.get(f"/p/support/{place}").content.decode().split())
    assert "38 outputs graded by people, 2 more that nobody could judge; what people would say" in page
    assert as_alice.get(f"/api/projects/support/{place}").json()["cannot_judge"] == 2


@pytest.fixture
def queue_of(project, alice, make_human):
    """queue_of(name, outputs, …) → a queue, whose order is drawn, over some outputs of one experiment."""
    version = make_human()

    def make(name, outputs, **settings):
        queue = Queue.objects.create(project=project, name=name, author=alice, **settings)
        queue.versions.add(version)
        fill(queue, outputs[0].experiment, None, Output.objects.filter(pk__in=[each.pk for each in outputs]), alice)
        return queue

    return make


def test_outputs_drawn_from_a_part_tell_of_the_whole_once_the_rest_is_drawn_from_as_well(
    queue_of, make_experiment, judged, people
):
    """The judge gives half of the outputs 0.9 and half 0.3; people pass all of those and a fifth of these."""
    experiment = make_experiment(100)
    run = judged(experiment, [0.9, 0.3] * 50)
    outputs = list(Output.objects.filter(experiment=experiment).order_by("pk"))
    low = queue_of("What scored low", outputs[1::2])
    grade_all(low, people[0], [number % 5 == 0 for number in range(50)])
    run, theirs = refer(run, low)
    figure = corrected(beside(run, theirs))
    assert figure.value is None
    assert "drawn from a part" in figure.refused
    high = queue_of("What scored high", outputs[::2])
    first = set(high.items.order_by("place").values_list("output", flat=True)[:25])
    grade_all(high, people[0], [each.pk in first or None for each in outputs[::2]])
    run.refresh_from_db()
    figure = corrected(beside(run, people_of(run)))
    assert figure.value == pytest.approx(0.6, abs=0.03)
    assert figure.n == 75


def test_what_two_queues_may_have_drawn_has_the_chance_of_both(queue_of, make_experiment, judged, people):
    """Graded in one of them, it counts with the chance that either would have come to it."""
    random.seed(3)
    experiment = make_experiment(60)
    run = judged(experiment, [number / 60 for number in range(60)])
    outputs = list(Output.objects.filter(experiment=experiment).order_by("pk"))
    every, some = queue_of("All", outputs), queue_of("Some", outputs[:30])
    for queue, number in ((every, 20), (some, 10)):
        first = set(queue.items.order_by("place").values_list("output", flat=True)[:number])
        order = queue.items.order_by("output").values_list("output", flat=True)
        grade_all(queue, people[0], [True if pk in first else None for pk in order])
    run, theirs = refer(run, every)
    pair = beside(run, theirs)
    chances = {
        queue: {Item.objects.get(pk=pk).output_id: one for pk, one in inclusion(queue).items()}
        for queue in (every, some)
    }
    seen = [0, 0, 0]
    for output, likely in zip(pair.outputs.tolist(), pair.likely.tolist(), strict=True):
        in_all, in_some = chances[every][output], chances[some].get(output)
        if in_all.is_settled or (in_some and in_some.is_settled):
            missed = (1 - in_all.share) * (1 - in_some.share if in_some else 1)
            assert likely == pytest.approx(1 - missed)
            seen[in_all.is_settled + 2 * bool(in_some and in_some.is_settled) - 1] += 1
        else:
            assert math.isnan(likely)
    assert min(seen) > 0, "some were graded in either queue alone, and some in both"


def test_a_share_of_what_came_stands_for_all_of_it(queue_of, make_experiment, judged, people):
    experiment = make_experiment(120)
    truth = [number % 2 == 0 for number in range(120)]
    run = judged(experiment, truth)
    outputs = list(Output.objects.filter(experiment=experiment).order_by("pk"))
    queue = queue_of("A half", outputs[:60], intake={"rule": "share", "share": 0.5})
    grade_all(queue, people[0], truth[:60])
    run, theirs = refer(run, queue)
    assert corrected(beside(run, theirs)).value == pytest.approx(0.5)


def test_grades_of_golden_cases_that_a_version_may_be_tuned_on_are_left_out(
    make_queue, make_experiment, judged, people, alice
):
    experiment = make_experiment(12)
    run = judged(experiment, [True] * 12)
    queue = make_queue(experiment=experiment, order=Order.OLDEST)
    grade_all(queue, people[0], [True] * 12)
    row = Evaluation.objects.filter(run=run).select_related("output__case", "output__body").first()
    case, _ = keep(run.version.evaluator, stored_sample(sample_of(row.output)), {"value": 1.0}, title="", author=alice)
    run, theirs = refer(run, queue)
    pair = beside(run, theirs)
    assert (pair.tuned_on, int(pair.both.sum())) == (0, 12), "this version was there before the case"
    GoldenCase.objects.filter(pk=case.pk).update(created_at=run.version.created_at - timedelta(minutes=1))
    pair = beside(run, theirs)
    assert (pair.tuned_on, int(pair.both.sum())) == (1, 11)
    assert pair.no_sample == "", "everything else is graded"


def test_corrections_follow_grades_and_go_with_the_reference(make_queue, make_experiment, judged, people):
    experiment = make_experiment(30)
    truth = [number % 2 == 0 for number in range(30)]
    run = judged(experiment, truth)
    queue = make_queue(experiment=experiment)
    run, _ = refer(run, queue)
    assert calibrate_all() == 1
    assert calibrate_all() == 0
    grade_all(queue, people[0], truth)
    assert calibrate_all() == 1
    assert Calibration.objects.get().figure["n"] == 30
    Calibration.objects.update(format=Calibration.FORMAT - 1, figure={**Calibration.objects.get().figure, "n": 7})
    run.refresh_from_db()
    assert corrected_of([run]) == {}, "what was told another way is not shown"
    assert calibrate_all() == 1
    assert Calibration.objects.get().figure["n"] == 30
    evaluator = run.version.evaluator
    evaluator.reference = None
    evaluator.save()
    calibrate(Run.objects.select_related("version__evaluator").get(pk=run.pk))
    assert not Calibration.objects.exists()


def test_the_cheapest_judge_that_is_not_worse_than_the_best_by_more_than_the_margin(
    make_queue, make_experiment, judged, people
):
    truth = [number % 2 == 0 for number in range(200)]
    experiment = make_experiment(200)
    queue = make_queue(experiment=experiment)
    grade_all(queue, people[0], truth)
    judged(experiment, truth, "Dear and right", cost=0.01)
    judged(experiment, [not truth[0], *truth[1:]], "Cheap and nearly right", cost=0.001)
    judged(experiment, [True] * 200, "Cheapest and useless", cost=0.0001)
    found = shootout(Run.objects.get(lane="people"), 0.05)
    assert [each.run.version.evaluator.name for each in found.contenders] == [
        "Dear and right",
        "Cheap and nearly right",
        "Cheapest and useless",
    ]
    assert [each.is_choice for each in found.contenders] == [False, True, False]
    assert [each.is_good_enough for each in found.contenders] == [True, True, False]
    assert found.contenders[1].cost_usd == pytest.approx(1.0)
    assert found.n == 200


def test_a_judge_that_nearly_always_failed_takes_no_other_out(as_alice, make_queue, make_experiment, judged, people):
    truth = [number % 2 == 0 for number in range(40)]
    experiment = make_experiment(40)
    queue = make_queue(experiment=experiment)
    grade_all(queue, people[0], truth)
    judged(experiment, truth, "Right")
    judged(experiment, [True] * 40, "Useless")
    broken = judged(experiment, truth, "Broken")
    failed = Evaluation.objects.filter(run=broken).order_by("output").values_list("pk", flat=True)[2:]
    Evaluation.objects.filter(pk__in=list(failed)).update(state=Status.FAILED, score=None, label_id=None, passed=None)
    Run.objects.filter(pk=broken.pk).update(revision=F("revision") + 1)
    useless = Run.objects.get(version__evaluator__name="Useless")
    last = Evaluation.objects.filter(run=useless).latest("output")
    Evaluation.objects.filter(pk=last.pk).update(state=Status.FAILED, score=None, label_id=None, passed=None)
    Run.objects.filter(pk=useless.pk).update(revision=F("revision") + 1)
    found = shootout(Run.objects.get(lane="people"), 0.05)
    assert found.n == 39
    assert [each.run.version.evaluator.name for each in found.contenders] == ["Right", "Useless"]
    assert [run.pk for run in found.left_out] == [broken.pk]
    human = queue.versions.get().evaluator
    page = as_alice.get(f"/p/support/evaluators/{human.pk}/judges/").content.decode()
    assert "fewer than half as many as another judge: Broken" in page
    assert "scored 39 of 40 in all" in page


def test_a_shoot_out_is_shown_for_every_pair_of_results_that_people_graded(
    as_alice, make_queue, make_human, make_experiment, judged, people
):
    """One result beside two baselines is graded twice, and either can be chosen."""
    version, compared = make_human(scoring=SIDES, runs_on="comparison"), make_experiment(4, "new")
    for name in ("old", "older"):
        baseline = make_experiment(4, name)
        queue = make_queue(name=name, versions=[version], experiment=compared, baseline=baseline)
        judged(compared, [1.0] * 4, f"Judge of {name}", baseline=baseline)
        item = Item.objects.filter(queue=queue).select_related("queue", "output__experiment").first()
        submit(Subject.of(item), people[0], {version.pk: Answer(GradeState.GRADED, "Second", 1.0)})
    place = f"evaluators/{version.evaluator_id}/judges/"
    for run in Run.objects.filter(lane="people").select_related("baseline__system"):
        page = as_alice.get(f"/p/support/{place}?run={run.pk}").content.decode()
        assert f"Judge of {run.baseline.system.name} <span" in page
        told = as_alice.get(f"/api/projects/support/{place}?run={run.pk}").json()
        assert [one["evaluator"] for one in told["judges"]] == [f"Judge of {run.baseline.system.name}"]


def test_the_pages_show_the_correction_and_choose_who_corrects(
    as_alice, make_queue, make_experiment, judged, people, django_assert_max_num_queries
):
    truth = [number % 3 > 0 for number in range(60)]
    experiment = make_experiment(60)
    run = judged(experiment, truth)
    queue = make_queue(experiment=experiment)
    grade_all(queue, people[0], truth[:50] + [not good for good in truth[50:]])
    human = queue.versions.get().evaluator
    page = f"/p/support/evaluators/{run.version.evaluator_id}/people/"
    assert "Choose the human evaluator" in as_alice.get(page).content.decode()
    as_alice.post(page, {"reference": human.pk})
    with django_assert_max_num_queries(40):
        shown = as_alice.get(page).content.decode()
    assert "people would say" in shown
    assert "Keep as golden case" in shown
    results = as_alice.get(f"/p/support/experiments/{experiment.pk}/").content.decode()
    assert "corrected by people" in results
    judges = as_alice.get(f"/p/support/evaluators/{human.pk}/judges/?margin=5").content.decode()
    assert "cheapest that is good enough" in judges
    for query in ("?within=x&run=x", "?within=-1", "?margin=nan"):
        assert as_alice.get(page + query).status_code == 200


def test_the_api_tells_what_the_pages_tell(as_alice, make_queue, make_experiment, judged, people):
    truth = [number % 3 > 0 for number in range(60)]
    experiment = make_experiment(60)
    run = judged(experiment, truth, cost=0.001)
    queue = make_queue(experiment=experiment)
    grade_all(queue, people[0], truth[:50] + [not good for good in truth[50:]])
    human = queue.versions.get().evaluator
    base = "/api/projects/support/evaluators/"
    address = f"{base}{run.version.evaluator_id}/people/"
    assert as_alice.get(address).status_code == 404
    assert as_alice.put(address, {"reference": 0}, content_type="application/json").status_code == 400
    chosen = as_alice.put(address, {"reference": human.pk}, content_type="application/json")
    assert chosen.json() == {"reference": human.pk}
    told = as_alice.get(address).json()
    assert told["n"] == 60
    assert told["agreement"]["value"] == pytest.approx(50 / 60)
    assert told["corrected"]["low"] < told["corrected"]["value"] < told["corrected"]["high"]
    assert sum(n for *_, n in told["counts"]) == 60
    judges = as_alice.get(f"{base}{human.pk}/judges/?margin=0.1").json()
    assert [(one["evaluator"], one["is_choice"]) for one in judges["judges"]] == [("Judge", True)]
    assert judges["judges"][0]["cost_usd"] == pytest.approx(1.0)
    assert as_alice.get(f"{base}{human.pk}/judges/?margin=2").status_code == 400
