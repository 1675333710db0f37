"""Grades settle the runs of people: once enough have said enough, again when somebody changes their mind."""

from dataclasses import replace

import pytest

from annotations.answers import Answer, BadAnswer, read, shown_answer
from annotations.grading import Gone, Subject, skip, submit, undo
from annotations.holding import at_hand
from annotations.models import Grade, GradeState, Item, ItemState, Rule
from annotations.ordering import inclusion
from annotations.queueing import ask_again
from evaluators.core import Status
from experiments.models import Evaluation, Experiment, Run, RunState
from tests.annotations.conftest import SIDES
from tests.annotations.test_holding import grade

pytestmark = pytest.mark.django_db
GOOD, BAD = Answer(GradeState.GRADED, "Good", 1.0), Answer(GradeState.GRADED, "Bad", 0.0, "Wrong amount.")
CANNOT = Answer(GradeState.CANNOT_JUDGE, comment="It is in German.")


def only_row():
    return Evaluation.objects.select_related("run").get()


def test_a_grade_settles_the_row_and_the_last_one_finishes_the_run(make_queue, people):
    queue = make_queue(2)
    run = Run.objects.get()
    assert run.lane == "people"
    for seat in at_hand(queue, people[0]):
        before = run.revision
        grade(seat.item, people[0], BAD)
        run.refresh_from_db()
        assert run.revision > before
    assert run.state == RunState.FINISHED
    rows = Evaluation.objects.filter(run=run).select_related("body")
    assert [(row.state, row.score) for row in rows] == [(Status.SCORED, 0.0)] * 2
    assert [row.body.reason for row in rows] == ["Wrong amount."] * 2


def test_the_same_grade_twice_counts_once_and_a_change_leaves_a_trace(make_queue, people):
    queue = make_queue(1)
    item = queue.items.get()
    grade(item, people[0])
    grade(item, people[0])
    assert Grade.objects.count() == 1
    grade(item, people[0], BAD)
    assert [(one.label, one.is_current) for one in Grade.objects.order_by("pk")] == [("Good", False), ("Bad", True)]
    assert only_row().score == 0.0
    assert only_row().run.state == RunState.FINISHED


def test_a_row_awaits_as_many_graders_as_its_queue_wants(make_queue, people):
    queue = make_queue(1, graders=3)
    item = queue.items.get()
    for person, answer in zip(people[:2], (GOOD, BAD), strict=True):
        grade(item, person, answer)
        assert only_row().state == Status.AWAITING
    grade(item, people[2], GOOD)
    assert only_row().score == 1.0
    item.refresh_from_db()
    assert item.state == ItemState.DONE


def test_a_tie_asks_one_more_person(make_queue, people):
    queue = make_queue(1, graders=2)
    item = queue.items.get()
    grade(item, people[0], GOOD)
    grade(item, people[1], BAD)
    assert only_row().state == Status.AWAITING
    (seat,) = at_hand(queue, people[2])
    grade(seat.item, people[2], BAD)
    assert only_row().score == 0.0


def test_the_mean_of_grades(make_queue, people):
    queue = make_queue(1, graders=2, rule=Rule.MEAN)
    item = queue.items.get()
    grade(item, people[0], GOOD)
    grade(item, people[1], BAD)
    assert only_row().score == 0.5


def test_differing_grades_wait_for_the_adjudicator_whose_word_stands(make_queue, people, alice):
    queue = make_queue(1, graders=2, rule=Rule.ADJUDICATION, adjudicator=alice)
    item = queue.items.get()
    grade(item, people[0], GOOD)
    grade(item, people[1], BAD)
    item.refresh_from_db()
    assert item.state == ItemState.DISPUTED
    assert only_row().state == Status.AWAITING
    subject = Subject.of(item)
    submit(subject, alice, {version.pk: BAD for version in subject.versions}, is_decision=True)
    item.refresh_from_db()
    assert item.state == ItemState.DONE
    assert only_row().score == 0.0


def test_what_nobody_can_judge_is_unscored_and_says_why(make_queue, people):
    queue = make_queue(1)
    grade(queue.items.get(), people[0], CANNOT)
    row = only_row()
    assert (row.state, row.why) == (Status.UNSCORED, "cannot judge")
    assert row.body.reason == "It is in German."


@pytest.mark.parametrize(
    "act",
    [
        lambda item, subject, person, said: submit(subject, person, said),
        lambda item, subject, person, said: submit(replace(subject, item=None), person, said),
        lambda item, subject, person, said: skip(item, person, "It does not load"),
    ],
    ids=["grade", "grade without a queue", "skip"],
)
def test_what_was_deleted_while_somebody_graded_it_is_gone(make_queue, people, act):
    item = make_queue(1).items.select_related("queue", "output__experiment", "baseline_output").get()
    subject = Subject.of(item)
    said = {version.pk: GOOD for version in subject.versions}
    Experiment.objects.get().delete()
    with pytest.raises(Gone):
        act(item, subject, people[0], said)
    assert not Grade.objects.exists()


def test_undo_gives_the_item_back_as_it_was_graded(make_queue, people):
    queue = make_queue(2)
    first, second = at_hand(queue, people[0])
    grade(first.item, people[0])
    grade(second.item, people[0], BAD)
    assert undo(queue, people[0]).pk == second.item_id
    back = next(seat for seat in at_hand(queue, people[0]) if seat.item_id == second.item_id)
    assert back.draft["comment"] == "Wrong amount."
    assert "Bad" in back.draft.values()
    assert Evaluation.objects.filter(state=Status.SCORED).count() == 1
    assert Run.objects.get().state == RunState.ACTIVE
    assert undo(queue, people[1]) is None


def test_hidden_repeats_are_about_the_person_and_settle_nothing(make_queue, people):
    queue = make_queue(2)
    assert ask_again(queue, 0.5) == 1
    repeat = queue.items.get(repeats__isnull=False)
    grade(repeat, people[0], BAD)
    assert Evaluation.objects.filter(state=Status.SCORED).count() == 0
    grade(repeat.repeats, people[0], GOOD)
    current = Grade.objects.filter(is_current=True, output=repeat.output)
    assert {(one.label, one.is_repeat) for one in current} == {("Bad", True), ("Good", False)}
    repeat.refresh_from_db()
    assert repeat.state == ItemState.DONE


def test_sides_that_were_exchanged_mean_the_opposite(make_experiment, make_queue, make_human, people):
    baseline, experiment = make_experiment(30), make_experiment(30, "another system")
    version = make_human(scoring=SIDES, runs_on="comparison")
    queue = make_queue(versions=[version], baseline=baseline, experiment=experiment)
    flips = set()
    for item in Item.objects.filter(queue=queue).select_related("queue", "output__experiment"):
        flips.add(item.is_flipped)
        submit(
            Subject.of(item),
            people[0],
            read({f"grade-{version.pk}": "First"}, [version], is_flipped=item.is_flipped),
        )
        shown_first = 1.0 if item.is_flipped else 0.0  # the compared output, or the baseline's
        assert Evaluation.objects.get(output=item.output).score == shown_first
        stored = Grade.objects.get(item=item)
        assert shown_answer(version, stored.label, stored.value, is_flipped=item.is_flipped) == "First"
    assert flips == {True, False}


def test_an_answer_that_is_no_option_or_no_number_is_refused_by_field(make_human):
    choice = make_human()
    number = make_human("Stars", {"type": "percentage", "low": 1, "high": 5})
    with pytest.raises(BadAnswer) as error:
        read({f"grade-{number.pk}": "six"}, [choice, number], is_flipped=False)
    assert set(error.value.faults) == {f"grade-{choice.pk}", f"grade-{number.pk}"}
    answers = read({f"grade-{choice.pk}": "good", f"grade-{number.pk}": "4,0"}, [choice, number], is_flipped=False)
    assert (answers[choice.pk].label, answers[number.pk].value) == ("Good", 0.75)


def settled(queue):
    """The chances of the items that were settled in their turn."""
    return {pk: chance.share for pk, chance in inclusion(queue).items() if chance.is_settled}


def test_items_drawn_at_random_have_known_inclusion_probabilities(make_queue, people):
    queue = make_queue(60)
    for _ in range(20):
        (seat,) = at_hand(queue, people[0], 1)
        grade(seat.item, people[0])
    known = settled(queue)
    assert len(known) == 20
    assert len(set(known.values())) == 1  # all weigh the same
    assert sum(1 / share for share in known.values()) == pytest.approx(60, rel=0.5)


def test_what_people_differ_on_is_not_left_out_of_a_sample(make_queue, people):
    """Of six items the third waits for a third person, so only two stand before what is to be settled."""
    queue = make_queue(6, graders=2)
    items = list(queue.items.order_by("place"))
    for number, item in enumerate(items):
        grade(item, people[0], GOOD)
        grade(item, people[1], BAD if number == 2 else GOOD)
    assert set(settled(queue)) == {item.pk for item in items[:2]}
    grade(items[2], people[2], GOOD)
    assert settled(queue) == {item.pk: 1.0 for item in items}


def test_what_was_only_skipped_does_not_hold_a_sample_up(make_queue, people):
    queue = make_queue(4)
    first, *others = queue.items.order_by("place")
    skip(first, people[0], "Another language")
    for item in others:
        grade(item, people[0], GOOD)
    assert set(settled(queue)) >= {item.pk for item in others}
