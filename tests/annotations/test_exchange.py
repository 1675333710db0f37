"""Grades as files: what goes out comes in again, wrong rows are named, a file sent twice changes nothing."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.grading import Answer, Subject, skip, submit
from annotations.holding import at_hand
from annotations.models import Grade, GradeState, Item, ItemState, Rule
from evalstudio.projects.models import Membership, Role
from evaluators.core import Status
from experiments.models import Evaluation, EvaluationBody, Run, RunState
from tests.annotations.conftest import SIDES

pytestmark = pytest.mark.django_db

NUMBERS = {"type": "percentage", "low": 1.0, "high": 5.0}


def say(item, person, label, value, comment=""):
    subject = Subject.of(item)
    answer = Answer(GradeState.GRADED, label, value, comment)
    submit(subject, person, {version.pk: answer for version in subject.versions}, seconds=7.5)


@pytest.fixture
def export(as_alice, project):
    def go(queue, form):
        reply = as_alice.get(reverse("grades-export", args=[project.slug, queue.pk, form]))
        return b"".join(reply.streaming_content).decode()

    return go


@pytest.fixture
def bring(as_alice, project):
    def go(queue, text, name="grades.csv"):
        text = text if isinstance(text, str) else json.dumps(text)
        file = SimpleUploadedFile(name, text.encode())
        return as_alice.post(reverse("grades-import", args=[project.slug, queue.pk]), {"file": file})

    return go


def states(queue):
    return sorted(queue.items.values_list("output__case__key", "state"))


def test_every_grade_goes_out_with_its_history(make_queue, people, export):
    queue = make_queue(2)
    item = queue.items.order_by("output").first()
    say(item, people[0], "Good", 1.0, "=cmd()")
    say(item, people[0], "Bad", 0.0, "No")
    rows = list(csv.DictReader(io.StringIO(export(queue, "csv"))))
    assert [(row["label"], row["is_current"], row["comment"]) for row in rows] == [
        ("Good", "False", "'=cmd()"),
        ("Bad", "True", "No"),
    ]
    assert {row["case"] for row in rows} == {"case-0"}
    assert (rows[1]["person"], rows[1]["evaluator"], rows[1]["seconds"]) == ("rita", "Helpful", "7.5")
    lines = [json.loads(line) for line in export(queue, "jsonl").splitlines()]
    assert [line["score"] for line in lines] == [1.0, 0.0]


def test_label_studio_gets_a_task_for_each_output_with_what_everybody_said(make_queue, people, export):
    queue = make_queue(1, graders=2)
    item = queue.items.get()
    say(item, people[0], "Good", 1.0, "Fine")
    say(item, people[1], "Bad", 0.0)
    (task,) = json.loads(export(queue, "json"))
    assert task["data"]["case"] == "case-0"
    first, second = task["annotations"]
    assert first["completed_by"] == {"username": "rita"}
    assert [region["value"] for region in first["result"]] == [{"choices": ["Good"]}, {"text": ["Fine"]}]
    assert second["result"][0]["value"] == {"choices": ["Bad"]}


def test_an_empty_queue_is_an_empty_list_of_tasks(make_queue, export):
    assert json.loads(export(make_queue(1), "json")) == []


def test_grades_come_in_settle_rows_and_take_seats(make_queue, people, bring):
    queue = make_queue(3)
    reply = bring(queue, "case,person,label,comment\ncase-0,rita,Good,\ncase-1,ravi,bad,Wrong date\ncase-2,,Good,\n")
    assert reply.url == queue.get_absolute_url()
    assert states(queue) == [(f"case-{n}", ItemState.DONE) for n in range(3)]
    assert sorted(Evaluation.objects.values_list("output__case__key", "score")) == [
        ("case-0", 1.0),
        ("case-1", 0.0),
        ("case-2", 1.0),
    ]
    assert Run.objects.get().state == RunState.FINISHED
    assert sorted(Grade.objects.values_list("person__username", flat=True)) == ["alice", "ravi", "rita"]
    assert queue.items.filter(reservations__is_done=1, reservations__person__isnull=False).count() == 3


def test_a_tie_that_comes_in_goes_to_another_person(make_queue, people, bring):
    queue = make_queue(1, graders=2)
    bring(queue, "case,person,label\ncase-0,rita,Good\ncase-0,ravi,Bad\n")
    assert states(queue) == [("case-0", ItemState.OPEN)]
    assert [seat.item_id for seat in at_hand(queue, people[2])] == [queue.items.get().pk]


def test_what_goes_out_comes_in_again_in_every_format(make_queue, make_human, make_experiment, people, export, bring):
    version, experiment = make_human(), make_experiment(3)
    queue = make_queue(versions=[version], experiment=experiment, graders=2)
    for item, (one, other) in zip(queue.items.order_by("output"), ("GG", "GB", "BB"), strict=True):
        for person, letter in zip(people, (one, other), strict=False):
            say(item, person, *(("Good", 1.0) if letter == "G" else ("Bad", 0.0)))
    before = sorted(Grade.objects.values_list("output", "person", "label", "value", "comment"))
    for form in ("csv", "jsonl", "json"):
        sent = export(queue, form)
        Grade.objects.all().delete()
        Item.objects.update(state=ItemState.OPEN)
        Evaluation.objects.update(state=Status.AWAITING, score=None, label_id=None, settled_at=None, passed=None)
        Run.objects.update(state=RunState.ACTIVE)
        EvaluationBody.objects.all().delete()
        assert bring(queue, sent, f"grades.{form}").status_code == 302, form
        assert sorted(Grade.objects.values_list("output", "person", "label", "value", "comment")) == before
        scores = Evaluation.objects.order_by("output").values_list("score", flat=True)
        assert list(scores) == [1.0, None, 0.0], "two who differ wait for a third"


def test_sent_again_nothing_changes_and_another_grade_replaces(make_queue, people, bring):
    queue = make_queue(1)
    bring(queue, "case,person,label\ncase-0,rita,Good\n")
    bring(queue, "case,person,label\ncase-0,rita,Good\n")
    assert Grade.objects.count() == 1
    bring(queue, "case,person,label\ncase-0,rita,Bad\n")
    assert sorted(Grade.objects.values_list("label", "is_current")) == [("Bad", True), ("Good", False)]
    assert Evaluation.objects.get().score == 0.0


def test_wrong_rows_are_named_and_the_others_go_in(make_queue, people, bring):
    queue = make_queue(3)
    sent = "case,person,label,said\ncase-0,rita,Good,\ncase-9,rita,Good,\ncase-1,rita,Great,\n,,Good,\n"
    reply = bring(queue, sent + "case-2,rita,,cannot judge\n")
    page = reply.content.decode()
    assert reply.status_code == 422
    for said in ("Not in this queue.", "none of the options", "Give the key of the case."):
        assert said in page
    assert "3 rows are wrong" in page
    assert states(queue) == [("case-0", ItemState.DONE), ("case-1", ItemState.OPEN), ("case-2", ItemState.DONE)]
    assert Evaluation.objects.get(output__case__key="case-2").why == "cannot judge"


def test_numbers_come_on_the_scale_or_as_scores(make_queue, make_human, people, bring):
    queue = make_queue(2, versions=[make_human("Stars", NUMBERS)])
    bring(queue, [{"case": "case-0", "number": 4}, {"case": "case-1", "score": 0.25}], "grades.json")
    assert sorted(Evaluation.objects.values_list("score", flat=True)) == [0.25, 0.75]


def test_an_export_of_label_studio_itself_comes_in(make_queue, people, bring):
    queue = make_queue(2)
    tasks = [
        {
            "id": 1,
            "data": {"case": "case-0", "text": "…"},
            "annotations": [
                {
                    "completed_by": 3,
                    "lead_time": 12.5,
                    "result": [
                        {"from_name": "Helpful", "type": "choices", "value": {"choices": ["Good"]}},
                        {"from_name": "note", "type": "textarea", "value": {"text": ["As it should be"]}},
                    ],
                }
            ],
        },
        {"id": 2, "data": {"case": "case-1"}, "annotations": [{"was_cancelled": True, "result": []}]},
    ]
    assert bring(queue, tasks, "export.json").status_code == 302
    good, none = Grade.objects.order_by("output")
    assert (good.label, good.comment, good.seconds) == ("Good", "As it should be", 12.5)
    assert good.person.username == "Label Studio 3, imported by alice"
    assert none.state == GradeState.CANNOT_JUDGE


def test_differing_grades_from_a_file_wait_for_a_decision(make_queue, people, bring):
    queue = make_queue(1, graders=2, rule=Rule.ADJUDICATION)
    bring(queue, "case,person,label\ncase-0,rita,Good\ncase-0,ravi,Bad\n")
    assert states(queue) == [("case-0", ItemState.DISPUTED)]


def test_pairs_come_in_by_their_case(make_queue, make_human, make_experiment, people, bring):
    experiment, baseline = make_experiment(2), make_experiment(2, "another")
    version = make_human("Better", SIDES, "comparison")
    queue = make_queue(versions=[version], experiment=experiment, baseline=baseline)
    bring(queue, "case,person,label\ncase-0,rita,Second\n")
    assert Evaluation.objects.get(output__case__key="case-0").score == 1.0


def test_people_who_are_not_known_here_stay_apart_and_cannot_sign_in(make_queue, people, export, bring):
    queue = make_queue(1, graders=2)
    for _ in range(2):
        bring(queue, "case,person,label\ncase-0,zoe,Good\ncase-0,Max M.,Good\n")
    bring(queue, export(queue, "csv"))
    zoe, max_m = (grade.person for grade in Grade.objects.order_by("pk"))
    assert (zoe.username, max_m.username) == ("zoe, imported by alice", "Max M., imported by alice")
    assert not zoe.is_active
    assert not zoe.has_usable_password()
    assert Evaluation.objects.get().score == 1.0


def test_an_export_keeps_its_times_and_brings_no_decision_as_a_grade(make_queue, people, alice, export, bring):
    queue = make_queue(1, graders=2, rule=Rule.ADJUDICATION)
    item = queue.items.get()
    say(item, people[0], "Good", 1.0, "=1+1 is his answer")
    say(item, people[1], "Bad", 0.0)
    subject = Subject.of(item)
    answer = Answer(GradeState.GRADED, "Good", 1.0)
    submit(subject, people[0], {subject.versions[0].pk: answer}, is_decision=True)
    Grade.objects.update(created_at="2026-01-05T10:00:00Z")
    sent = export(queue, "csv")
    assert "unchanged" not in bring(queue, sent).content.decode()
    assert Grade.objects.count() == 3
    Grade.objects.all().delete()
    bring(queue, sent)
    told = [(grade.comment, grade.created_at.month, grade.is_decision) for grade in Grade.objects.order_by("pk")]
    assert told == [("=1+1 is his answer", 1, False), ("", 1, False)]


def test_a_choice_between_two_sides_comes_from_label_studio(make_queue, make_human, make_experiment, bring):
    experiment, baseline = make_experiment(2), make_experiment(2, "another")
    version = make_human("Better", SIDES, "comparison")
    queue = make_queue(versions=[version], experiment=experiment, baseline=baseline)
    tasks = [
        {
            "data": {"case": f"case-{number}", "baseline": baseline.pk},
            "annotations": [{"result": [{"from_name": "Better", "type": "pairwise", "value": {"selected": side}}]}],
        }
        for number, side in enumerate(("left", "right"))
    ]
    assert bring(queue, tasks, "export.json").status_code == 302
    assert list(Grade.objects.order_by("output").values_list("label", "value")) == [("First", 0.0), ("Second", 1.0)]


def test_without_history_only_what_counts_goes_out(as_alice, project, make_queue, people):
    queue = make_queue(1)
    item = queue.items.get()
    say(item, people[0], "Good", 1.0)
    say(item, people[0], "Bad", 0.0)
    for name, pk in (("grades-export", queue.pk), ("evaluator-grades", queue.versions.get().evaluator_id)):
        place = reverse(name, args=[project.slug, pk, "jsonl"])
        lines = [
            len(b"".join(as_alice.get(place, said).streaming_content).splitlines()) for said in ({}, {"current": 1})
        ]
        assert lines == [2, 1]


def test_a_viewer_learns_no_names_from_a_blind_queue(client, dora, project, make_queue, people):
    Membership.objects.create(project=project, user=dora, role=Role.VIEWER)
    queue = make_queue(1)
    say(queue.items.get(), people[0], "Good", 1.0)
    client.force_login(dora)
    for form in ("csv", "jsonl", "json"):
        reply = client.get(reverse("grades-export", args=[project.slug, queue.pk, form]))
        sent = b"".join(reply.streaming_content).decode()
        assert ("rita" in sent, "Person 1" in sent) == (False, True)


def test_grades_over_rest_are_kept_and_wrong_ones_named(client, alice, project, make_queue, people):
    queue = make_queue(2)
    client.force_login(alice)
    place = f"/api/projects/{project.slug}/queues/{queue.pk}/grades/"
    sent = {"grades": [{"case": "case-0", "person": "rita", "label": "Good"}, {"case": "case-1", "score": 0.5}]}
    reply = client.post(place, sent, content_type="application/json")
    assert reply.status_code == 422
    assert (reply.json()["accepted"], reply.json()["errors"][0]["field"]) == (1, "grades[1].label")
    sent["grades"][1]["score"] = 0
    reply = client.post(place, sent, content_type="application/json")
    assert reply.json() == {"accepted": 1, "unchanged": 1}


@pytest.mark.parametrize(
    "sent", ["", "[" * 50_000, '{"case": 1}', "a\0b,c\n1,2\n", '[{"data": {}, "annotations": 3}]', "case\n\n"]
)
def test_nonsense_in_a_file_breaks_nothing(make_queue, bring, sent):
    assert bring(make_queue(1), sent, "grades.json").status_code in (302, 422)


def test_a_number_beyond_every_float_is_named_over_rest(client, alice, project, make_queue, make_human):
    queue = make_queue(1, versions=[make_human(scoring={"type": "percentage", "low": 1, "high": 7})])
    client.force_login(alice)
    place = f"/api/projects/{project.slug}/queues/{queue.pk}/grades/"
    sent = {"grades": [{"case": "case-0", "number": 10**400}]}
    reply = client.post(place, sent, content_type="application/json")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "grades[0].number")
    sent["grades"][0]["number"] = 7
    assert client.post(place, sent, content_type="application/json").json() == {"accepted": 1, "unchanged": 0}


@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_what_cannot_be_judged_and_what_was_skipped_come_in_as_they_went_out(
    make_queue, make_human, make_experiment, people, export, bring, form
):
    """By two evaluators at once, with comments that a spreadsheet or a line would take for something else."""
    versions, comments = (
        [make_human(), make_human("How good", NUMBERS)],
        ["=1+1", 'two\nlines, "quoted"', "  é\u200f🙂 \t|"],
    )
    queue = make_queue(4, versions=versions, experiment=make_experiment(4), graders=3)
    items = list(queue.items.select_related("queue", "output__experiment", "baseline_output").order_by("output"))
    for item, comment in zip(items, comments, strict=False):
        said = {
            versions[0].pk: Answer(GradeState.GRADED, "Good", 1.0, comment),
            versions[1].pk: Answer(GradeState.GRADED, "", 0.375, comment),
        }
        submit(Subject.of(item), people[0], said, seconds=3.25)
        cannot = Answer(GradeState.CANNOT_JUDGE, comment=comment)
        submit(Subject.of(item), people[1], {version.pk: cannot for version in versions})
        skip(item, people[2], "I do not know enough about it")
    known = ("output", "version", "person", "state", "label", "value", "comment", "seconds")
    before = sorted(Grade.objects.exclude(state=GradeState.SKIPPED).values_list(*known))
    sent = export(queue, form)
    Grade.objects.all().delete()
    assert bring(queue, sent, f"grades.{form}").status_code == 302
    assert [(*row[:6], row[6].strip(), row[7]) for row in sorted(Grade.objects.values_list(*known))] == [
        (*row[:6], row[6].strip(), row[7]) for row in before
    ]
