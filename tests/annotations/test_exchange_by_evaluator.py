"""Grades that come in by a human evaluator, of outputs in a queue or in none; pairs and predictions of Label Studio."""

import csv
import io
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from annotations.models import Grade, ItemState, Reservation
from evalstudio.projects.models import AuditEntry, Project
from evaluators.core import Status
from evaluators.models import Evaluator
from experiments.models import Evaluation, Run, RunState
from tests.annotations.conftest import SIDES
from tests.annotations.test_exchange import say

pytestmark = pytest.mark.django_db


@pytest.fixture
def human(make_human):
    """A human evaluator; `human(scoring, runs_on)` for another scale."""

    def make(*args):
        return make_human("Better" if args else "Helpful", *args)

    return make


@pytest.fixture
def bring(as_alice, project):
    def go(version, sent, name="grades.csv"):
        text = sent if isinstance(sent, str) else json.dumps(sent)
        file = SimpleUploadedFile(name, text.encode())
        place = reverse("evaluator-grades-import", args=[project.slug, version.evaluator_id])
        return as_alice.post(place, {"file": file})

    return go


@pytest.fixture
def export(as_alice, project):
    def go(version, form):
        reply = as_alice.get(reverse("evaluator-grades", args=[project.slug, version.evaluator_id, form]))
        return b"".join(reply.streaming_content).decode()

    return go


def test_grades_of_outputs_in_no_queue_come_in_and_settle(human, make_experiment, bring, people):
    version, experiment = human(), make_experiment(3)
    reply = bring(version, "case,person,label,comment\ncase-0,rita,Good,\ncase-1,ravi,Bad,Wrong date\ncase-2,,Good,\n")
    assert reply.url == version.evaluator.get_absolute_url()
    run = Run.objects.get(version=version, experiment=experiment)
    assert run.state == RunState.FINISHED
    scores = Evaluation.objects.filter(run=run).order_by("output").values_list("score", "body__reason")
    assert list(scores) == [(1.0, None), (0.0, "Wrong date"), (1.0, None)]
    assert list(Grade.objects.order_by("output").values_list("person__username", "item", "instructions_version")) == [
        ("rita", None, 0),
        ("ravi", None, 0),
        ("alice", None, 0),
    ]
    assert AuditEntry.objects.filter(act="imported grades into", subject=version.evaluator.name).exists()
    again = bring(version, "case,person,label\ncase-0,rita,Good\n")
    assert again.status_code == 302
    assert Grade.objects.count() == 3


def test_wrong_rows_are_named_by_line_and_field_and_the_others_go_in(human, make_experiment, bring):
    version, one = human(), make_experiment(2)
    make_experiment(2, "another system")
    rows = (
        f"case,experiment,baseline,label\ncase-0,{one.pk},,Good\ncase-0,,,Good\ncase-9,,,Good\ncase-1,{one.pk},,Fine\n"
    )
    reply = bring(version, rows + f"case-1,{one.pk},{one.pk + 1},Good\n")
    page = reply.content.decode()
    assert reply.status_code == 422
    assert "4 rows are wrong" in page
    for line, field, why in (
        (3, "experiment", "Several results have this case"),
        (4, "case", "No result of this project has this case."),
        (5, "label", "“Fine”"),
        (6, "baseline", "grades single results"),
    ):
        assert f'<td class="r">{line}</td><td><code>{field}</code></td>' in page, why
        assert why in page
    assert Grade.objects.count() == 1


def test_results_of_another_project_are_not_there(human, make_experiment, bring, charlie):
    version, experiment = human(), make_experiment(1)
    experiment.project = Project.start("Elsewhere", charlie)
    experiment.save()
    page = bring(version, f"case,experiment,label\ncase-0,{experiment.pk},Good\n").content.decode()
    assert "No result of this project has this case." in page
    assert not Grade.objects.exists()


def test_what_a_queue_asks_for_counts_there(human, make_queue, bring, people):
    version = human()
    queue = make_queue(2, versions=[version], graders=2)
    assert bring(version, "case,person,label\ncase-0,rita,Good\ncase-0,ravi,Good\ncase-1,rita,Bad\n").status_code == 302
    assert sorted(queue.items.values_list("output__case__key", "state")) == [
        ("case-0", ItemState.DONE),
        ("case-1", ItemState.OPEN),
    ]
    assert Reservation.objects.filter(is_done=1).count() == 3
    assert set(Grade.objects.values_list("item__queue", flat=True)) == {queue.pk}
    assert Evaluation.objects.filter(state=Status.SCORED).count() == 1


def test_pairs_are_named_by_both_experiments(human, make_experiment, bring):
    version = human(SIDES, "comparison")
    baseline, experiment = make_experiment(2, "Old"), make_experiment(2, "New")
    page = bring(version, f"case,experiment,label\ncase-0,{experiment.pk},First\n").content.decode()
    assert "Give the id of the experiment that it was compared with." in page
    rows = f"case,experiment,baseline,label\ncase-0,{experiment.pk},{baseline.pk},Second\ncase-1,,{baseline.pk},Equal\n"
    assert bring(version, rows).status_code == 302
    run = Run.objects.get(version=version, experiment=experiment, baseline=baseline)
    assert list(Evaluation.objects.filter(run=run).order_by("output").values_list("score", flat=True)) == [1.0, 0.5]
    page = bring(version, f"case,experiment,baseline,label\ncase-0,{experiment.pk},999999,First\n").content.decode()
    assert "It has no output for this case." in page


@pytest.mark.parametrize("form", ["csv", "jsonl", "json"])
def test_pairs_go_out_and_come_in_again(human, make_experiment, bring, export, form):
    version = human(SIDES, "comparison")
    baseline, experiment = make_experiment(3, "Old"), make_experiment(3, "New")
    rows = "".join(
        f"case-{number},{experiment.pk},{baseline.pk},{label}\n"
        for number, label in enumerate(("First", "Equal", "Second"))
    )
    bring(version, "case,experiment,baseline,label\n" + rows)
    sent, before = (
        export(version, form),
        sorted(Grade.objects.values_list("output", "baseline_output", "label", "value")),
    )
    Grade.objects.all().delete()
    assert bring(version, sent, f"grades.{form}").status_code == 302
    assert sorted(Grade.objects.values_list("output", "baseline_output", "label", "value")) == before
    assert len(before) == 3


def test_label_studio_gets_a_side_where_one_was_chosen_and_a_choice_of_a_tie(
    human, make_queue, make_experiment, people, as_alice, project
):
    version = human(SIDES, "comparison")
    baseline, experiment = make_experiment(2, "Old"), make_experiment(2, "New")
    queue = make_queue(versions=[version], baseline=baseline, experiment=experiment)
    first, second = queue.items.order_by("output")
    say(first, people[0], "Second", 1.0)
    say(second, people[0], "Equal", 0.5)
    reply = as_alice.get(reverse("grades-export", args=[project.slug, queue.pk, "json"]))
    tasks = json.loads(b"".join(reply.streaming_content))
    (chosen,), (tied,) = (task["annotations"][0]["result"] for task in tasks)
    assert (chosen["type"], chosen["value"]) == ("pairwise", {"selected": "right"})
    assert chosen["to_name"] == "baseline_outputs,outputs"
    assert (tied["type"], tied["value"]) == ("choices", {"choices": ["Equal"]})
    assert tasks[0]["data"]["baseline"] == baseline.pk


def test_a_region_that_names_the_compared_output_first_is_turned_round(human, make_experiment, bring):
    version = human(SIDES, "comparison")
    baseline, experiment = make_experiment(1, "Old"), make_experiment(1, "New")
    region = {"from_name": "Better", "to_name": "outputs,baseline_outputs", "type": "pairwise"}
    task = {
        "data": {"case": "case-0", "experiment": experiment.pk, "baseline": baseline.pk},
        "annotations": [{"result": [region | {"value": {"selected": "left"}}]}],
    }
    assert bring(version, [task], "export.json").status_code == 302
    assert Grade.objects.get().label == "Second"


def test_what_judges_say_goes_out_as_predictions(
    human, make_queue, make_experiment, judged, people, as_alice, project, django_assert_max_num_queries
):
    version, experiment = human(), make_experiment(3)
    run = judged(experiment, [1, 0, 1], name="Strict", reason="It names the date.")
    Evaluator.objects.filter(pk=run.version.evaluator_id).update(reference=version.evaluator)
    queue = make_queue(versions=[version], experiment=experiment)
    for item in queue.items.all():
        say(item, people[0], "Good", 1.0)
    place = reverse("grades-export", args=[project.slug, queue.pk, "json"])
    with django_assert_max_num_queries(16):
        tasks = json.loads(b"".join(as_alice.get(place).streaming_content))
    assert [task["predictions"][0]["score"] for task in tasks] == [1.0, 0.0, 1.0]
    (prediction,) = tasks[1]["predictions"]
    assert prediction["model_version"] == f"Strict {run.version}"
    choice, reason = prediction["result"]
    assert (choice["from_name"], choice["type"], choice["value"]) == ("Helpful", "choices", {"choices": ["Bad"]})
    assert reason["value"] == {"text": ["It names the date."]}


def test_predictions_of_a_pair_are_those_of_the_same_two(human, make_queue, make_experiment, judged, people, as_alice):
    version = human(SIDES, "comparison")
    experiment, one, other = (make_experiment(1, name) for name in ("New", "Old", "Older"))
    judged(experiment, [0.5], name="Against old", baseline=one)
    judged(experiment, [1], name="Against older", baseline=other)
    judged(experiment, [0], name="Alone")
    queue = make_queue(versions=[version], baseline=one, experiment=experiment)
    say(queue.items.get(), people[0], "Equal", 0.5)
    (task,) = json.loads(b"".join(as_alice.get(f"{queue.get_absolute_url()}grades.json").streaming_content))
    assert [each["model_version"].split(" v")[0] for each in task["predictions"]] == ["Against old"]


def test_an_evaluator_that_nobody_published_says_so(as_alice, project, human):
    version = human()
    Evaluator.objects.update(published_version=None)
    place = reverse("evaluator-grades-import", args=[project.slug, version.evaluator_id])
    assert "Publish a version of it." in as_alice.get(place).content.decode()
    reply = as_alice.post(
        f"/api/projects/support/evaluators/{version.evaluator_id}/grades/", {"grades": [{}]}, "application/json"
    )
    assert reply.status_code == 400


def test_the_page_is_found_from_the_evaluator_and_over_rest(as_alice, project, human, make_experiment):
    version = human()
    make_experiment(2)
    place = reverse("evaluator-grades-import", args=[project.slug, version.evaluator_id])
    assert (
        place
        in as_alice.get(reverse("evaluator-agreement", args=[project.slug, version.evaluator_id])).content.decode()
    )
    assert "Where a queue asks for the same" in as_alice.get(place).content.decode()
    sent = {"grades": [{"case": "case-0", "person": "rita", "label": "Good"}, {"case": "case-7", "label": "Good"}]}
    api = f"/api/projects/support/evaluators/{version.evaluator_id}/grades/"
    reply = as_alice.post(api, sent, "application/json")
    assert reply.status_code == 422
    assert (reply.json()["accepted"], reply.json()["errors"][0]["field"]) == (1, "grades[1].case")
    rows = csv.DictReader(
        io.StringIO(b"".join(as_alice.get(place.replace("/import/", ".csv")).streaming_content).decode())
    )
    assert [row["person"] for row in rows] == ["rita, imported by alice"]
