"""The rows of a run as arrays: kept packed beside it, and read again once it has changed."""

import math

import pytest
from django.db.models import F
from django_q.models import OrmQ

from evaluators.core import Status
from experiments.analysis.readying import ready
from experiments.analysis.vectors import MEASURE, columns_of, keep, vector
from experiments.ledger.finish import READY, finish_run
from experiments.models import Evaluation, Output, Run, RunState, RunVector
from tests.experiments.compared import compared, preference
from tests.experiments.judged import add_output, experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db
TOLD = [0.25, "unscored: unparsed", 1.0, 0.5]


@pytest.fixture
def run(project):
    return judged(experiment_of(project, 4), version_of(project, "Tone", threshold=0.5), TOLD)


def test_a_vector_has_an_entry_for_every_row_in_the_order_of_cases(run):
    found = vector(run)
    outputs = list(Output.objects.order_by("case", "pk"))
    assert found.outputs.tolist() == [output.pk for output in outputs]
    assert found.cases.tolist() == [output.case_id for output in outputs]
    assert found.attempts.tolist() == [0, 0, 0, 0]
    assert [None if math.isnan(score) else score for score in found.scores] == [0.25, None, 1.0, 0.5]
    assert found.states.tolist() == [Status.SCORED, Status.UNSCORED, Status.SCORED, Status.SCORED]
    assert found.passed.tolist() == [0, -1, 1, 1]
    assert found.labels.tolist() == found.expected.tolist() == [-1, -1, -1, -1]


def test_repeats_and_attempts_stand_beside_one_another(project, run):
    first = Output.objects.order_by("pk").first()
    second = add_output(run.experiment, first.case, attempt=1)
    row = {"run": run, "state": Status.SCORED, "settled_at": F("output__experiment__created_at")}
    for output, repeat in ((second, 0), (first, 1)):
        Evaluation.objects.create(output=output, repeat=repeat, score=0.75, **row | {"settled_at": run.created_at})
    found = vector(run)
    assert found.outputs.tolist()[:3] == [first.pk, first.pk, second.pk]
    assert found.scores.tolist()[:3] == [0.25, 0.75, 0.75]
    assert found.attempts.tolist()[:3] == [0, 0, 1]


def test_it_is_read_once_and_again_after_a_change(run, django_assert_num_queries):
    vector(run)
    with django_assert_num_queries(1):
        vector(run)
    Evaluation.objects.filter(run=run, score=0.25).update(score=0.75)
    assert vector(run).scores[0] == 0.25
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    run.refresh_from_db()
    assert vector(run).scores[0] == 0.75
    assert set(RunVector.objects.values_list("revision", flat=True)) == {run.revision}


def test_a_run_under_way_is_read_and_not_kept(project):
    run = judged(experiment_of(project, 4), version_of(project, "Tone"), [0.5, "pending"], state=RunState.ACTIVE)
    assert vector(run).states.tolist() == [Status.SCORED, Status.PENDING]
    assert not RunVector.objects.exists()


def test_a_column_of_equal_entries_takes_one(run):
    keep(run)
    sizes = {each.name: len(bytes(each.data)) for each in RunVector.objects.all()}
    assert (sizes["labels"], sizes["attempts"], sizes["scores"]) == (4, 2, 32)


def test_a_run_without_rows_has_empty_columns(project):
    run = judged(experiment_of(project, 4), version_of(project, "Tone"), [])
    assert len(vector(run)) == 0
    assert vector(run).scores.tolist() == []


def test_measures_are_columns_too_and_unknown_ones_are_nan(project):
    new, old = experiment_of(project, 4, "new"), experiment_of(project, 4, "old")
    version = preference(project, rehearsal_of(project))
    run = compared(new, old, version, [1.0, 0.0, "unscored: unparsed", 0.5], flipped=(1,))
    found = columns_of([run], (f"{MEASURE}flipped", f"{MEASURE}pace", "scores"))[run.pk]
    assert found[f"{MEASURE}flipped"].tolist()[:2] == [0.0, 1.0]
    assert math.isnan(found[f"{MEASURE}flipped"][2])
    assert all(map(math.isnan, found[f"{MEASURE}pace"]))


def test_several_runs_are_read_by_one_query(project, run, django_assert_num_queries):
    other = judged(experiment_of(project, 4, "assistant 2"), run.version, [1.0, 1.0, 0.0, 0.0])
    columns_of([run, other], ("scores",))
    with django_assert_num_queries(1):
        found = columns_of([run, other], ("cases", "scores"))
    assert found[other.pk]["scores"].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert found[run.pk]["cases"].tolist() == found[other.pk]["cases"].tolist()


def test_whoever_finishes_a_run_asks_for_its_arrays(run, django_capture_on_commit_callbacks):
    Run.objects.filter(pk=run.pk).update(state=RunState.ACTIVE)
    with django_capture_on_commit_callbacks(execute=True):
        assert finish_run(run.pk)
    task = OrmQ.objects.get().task
    assert (task["func"], task["args"]) == (READY, (run.pk,))
    ready(*task["args"])
    run.refresh_from_db()
    assert run.summary_revision == run.revision
    assert set(RunVector.objects.values_list("revision", flat=True)) == {run.revision}


def test_a_run_that_went_on_meanwhile_is_left_alone(run):
    Run.objects.filter(pk=run.pk).update(state=RunState.ACTIVE)
    ready(run.pk)
    ready(run.pk + 1000)
    assert not RunVector.objects.exists()
