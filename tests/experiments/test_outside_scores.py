"""Scores that another program made: a file or a batch becomes a run, each row once, and wrong rows are named."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.urls import reverse
from django_q.models import OrmQ

from evalstudio.projects.models import ApiToken, Scope
from evaluators.core import Status
from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.ledger import verbs
from experiments.ledger.blocked import why_not_yet, why_row_waits
from experiments.ledger.outside import take
from experiments.ledger.progress import progress
from experiments.ledger.start import CannotStart, start
from experiments.models import Evaluation, Run, RunState
from tests.experiments.judged import experiment_of, version_of

pytestmark = pytest.mark.django_db

OPTIONS = [
    {"label": "good", "percentage": 100.0, "description": ""},
    {"label": "poor", "percentage": 25.0, "description": ""},
]


@pytest.fixture
def experiment(project):
    return experiment_of(project, 4)


def outside_version(project, name="Theirs", **more):
    evaluator = Evaluator.objects.get_or_create(project=project, name=name, kind="external")[0]
    return evaluator.revise(get_kind("external").blank() | more, schema=1, author=None)


@pytest.fixture
def run(project, experiment, alice):
    return start(outside_version(project, threshold=0.5), experiment, alice)


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def told(run: Run) -> dict[str, tuple]:
    rows = Evaluation.objects.filter(run=run, state=Status.SCORED).select_related("output__case")
    return {row.output.case.key: (row.score, row.passed) for row in rows}


def send(run: Run, *rows):
    return take(run, enumerate(rows, 1))


# --- The ledger -------------------------------------------------------------------------------------------------------
def test_its_rows_await_scores_and_no_worker_is_called(run):
    assert (run.state, run.lane, progress(run).awaiting) == (RunState.ACTIVE, "outside", 4)
    assert not OrmQ.objects.exists()
    why = "Another program makes the scores; they have not been sent yet."
    assert [(group.rows, group.why) for group in why_not_yet(run)] == [(4, why)]
    assert why_row_waits(run.evaluation_set.first()).why == why


def test_rows_are_settled_and_the_run_ends_with_the_last(run):
    taken = send(run, {"case": "case-000", "score": 0.75, "reason": "Fine."}, {"key": "case-001", "score": "0.25"})
    assert (taken.accepted, taken.unchanged, taken.wrong) == (2, 0, 0)
    assert told(run) == {"case-000": (0.75, True), "case-001": (0.25, False)}
    assert run.evaluation_set.get(output__case__key="case-000").body.reason == "Fine."
    send(run, {"case": "case-002", "score": 1, "passed": "no"}, {"case": "case-003", "score": 0, "attempt": ""})
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert told(run)["case-002"] == (1.0, False)


def test_sending_again_changes_nothing(run):
    rows = [{"case": "case-000", "score": 0.75, "label": "good", "reason": "Fine."}, {"case": "case-001", "score": 0.5}]
    send(run, *rows)
    before = list(Evaluation.objects.order_by("pk").values())
    again = send(run, *rows, rows[0])
    assert (again.accepted, again.unchanged, again.wrong) == (0, 3, 0)
    assert list(Evaluation.objects.order_by("pk").values()) == before


def test_of_two_that_send_at_once_one_is_refused_where_they_differ(run):
    others = [{"case": "case-000", "score": 0.25}, {"case": "case-001", "score": 0.5}]

    def interrupted(execute, sql, *more):
        if others and sql.startswith("UPDATE experiments_evaluation"):
            sent, others[:] = list(others), []
            assert send(run, *sent).accepted == 2
        return execute(sql, *more)

    with connection.execute_wrapper(interrupted):
        taken = send(run, {"case": "case-000", "score": 0.75}, {"case": "case-001", "score": 0.5})
    assert (taken.accepted, taken.unchanged, taken.wrong) == (0, 1, 1)
    assert "It has another score already, 0.25." in taken.faults[0].reason


def test_another_score_for_a_row_that_has_one_is_refused(run):
    send(run, {"case": "case-000", "score": 0.75})
    taken = send(
        run, {"case": "case-000", "score": 0.5}, {"case": "case-001", "score": 1}, {"case": "case-001", "score": 0}
    )
    assert (taken.accepted, taken.wrong) == (1, 2)
    assert [(fault.place, fault.field) for fault in taken.faults] == [(1, "score"), (3, "score")]
    assert "It has another score already, 0.75." in taken.faults[0].reason
    assert told(run)["case-000"] == (0.75, True)


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ({"score": 1}, "case", "Give the key of the case."),
        ({"case": "nobody", "score": 1}, "case", "This result has no output for “nobody”."),
        ({"case": "case-000", "attempt": 3, "score": 1}, "case", "no output for attempt 3 of “case-000”"),
        ({"case": "case-000", "attempt": "x", "score": 1}, "attempt", "Give the number of the attempt"),
        ({"case": "case-000"}, "score", "Give a score from 0 to 1, or a label"),
        ({"case": "case-000", "score": 1.5}, "score", "A score is a number from 0 to 1, not 1.5."),
        ({"case": "case-000", "score": "nan"}, "score", "not nan"),
        ({"case": "case-000", "score": "0_1"}, "score", "not 0_1"),
        ({"case": "case-000", "score": True}, "score", "not True"),
        ({"case": "case-000", "score": [1]}, "score", "not [1]"),
        ({"case": "case-000", "label": "good"}, "label", "What “good” counts is not known."),
        ({"case": "case-000", "score": 1, "passed": "perhaps"}, "passed", "Say true or false, not perhaps."),
        ({"case": "case-000", "score": 1, "reason": {"a": 1}}, "reason", "Give the reason as text."),
        ({"case": "case-000", "score": 1, "reason": "a\0b"}, "reason", "characters that can be stored"),
        ("a row", "", "A row is an object"),
    ],
)
def test_a_wrong_row_names_its_field_and_spoils_no_other(run, row, field, said):
    taken = send(run, {"case": "case-001", "score": 1}, row, {"case": "case-002", "score": 1})
    (fault,) = taken.faults
    assert (fault.place, fault.field, taken.accepted) == (2, field, 2)
    assert said in fault.reason


def test_labels_count_what_the_scale_says(project, experiment, alice):
    run = start(outside_version(project, scoring={"type": "enum", "options": OPTIONS}), experiment, alice)
    taken = send(run, {"case": "case-000", "label": "Poor"}, {"case": "case-001", "label": "fair"})
    assert told(run) == {"case-000": (0.25, None)}
    assert taken.faults[0].field == "label"
    assert "good, poor" in taken.faults[0].reason


def test_a_stopped_run_takes_nothing_until_it_is_resumed(run):
    verbs.stop(run)
    assert "Resume it, then send again." in send(run, {"case": "case-000", "score": 1}).faults[0].reason
    verbs.resume(run)
    assert send(run, {"case": "case-000", "score": 1}).accepted == 1


def test_repeats_and_limits_make_no_sense(project, experiment):
    from experiments.ledger.asked import Asked

    with pytest.raises(CannotStart):
        start(outside_version(project), experiment, asked=Asked(repeats=2))


@pytest.mark.parametrize("n", [10, 400])
def test_a_batch_costs_the_same_queries_however_many_rows(project, alice, n, django_assert_max_num_queries):
    run = start(outside_version(project), experiment_of(project, n), alice)
    rows = [{"case": f"case-{number:03}", "score": 0.5, "reason": "So."} for number in range(n)]
    with django_assert_max_num_queries(20):
        assert send(run, *rows).accepted == n


# --- The page ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def upload(as_alice, project, experiment):
    url = reverse("scores-upload", args=[project.slug, experiment.pk])

    def upload(content: bytes, name="scores.csv", evaluator="Theirs", **more):
        return as_alice.post(url, {"evaluator": evaluator, "file": SimpleUploadedFile(name, content), **more})

    return upload


CSV = b"case,score,passed,reason\ncase-000,0.75,true,Fine\ncase-001,0.25,false,Not so\n"


def test_a_file_makes_an_evaluator_and_a_run(as_alice, upload, experiment):
    response = upload(CSV)
    run = Run.objects.get()
    assert response.url == run.results_url
    assert told(run) == {"case-000": (0.75, True), "case-001": (0.25, False)}
    said = text_of(as_alice.get(response.url))
    assert "2 scores stored." in said
    assert "50.0 %" in said
    assert "awaits scores" in said
    said = text_of(upload(CSV) and as_alice.get(experiment.get_absolute_url()))
    assert "0 scores stored, 2 were there already." in said


def test_json_lines_do_as_well_and_a_new_round_is_a_new_run(upload):
    upload(b'{"case": "case-000", "score": 0.5}\n', "scores.jsonl")
    assert upload(b'{"case": "case-000", "score": 1}\n', "scores.jsonl", again="on").status_code == 302
    former, latest = Run.objects.order_by("pk")
    assert (former.is_current, latest.is_current) == (False, True)
    assert told(former) | {"new": told(latest)["case-000"]} == {"case-000": (0.5, None), "new": (1.0, None)}


def test_wrong_rows_are_named_with_line_and_field(upload):
    response = upload(CSV + b"case-002,much,,\n<b>,1,,\n")
    assert response.status_code == 422
    said = text_of(response)
    assert '<td class="r">4</td><td><code>score</code></td><td class="mono">case-002</td>' in said
    assert "A score is a number from 0 to 1, not much." in said
    assert "&lt;b&gt;" in said
    assert "2 stored, 0 there already." in said
    assert 'value="Theirs"' in said


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [(b"", "scores.csv", "The file is empty."), (b"PK\x03\x04....", "scores.xlsx", ""), (b"{oops", "scores.jsonl", "")],
)
def test_a_file_that_is_none_is_refused(upload, content, name, said):
    response = upload(content, name)
    assert response.status_code == 422
    assert said in text_of(response)


@pytest.mark.parametrize("header", [b'"case,score', b"case,case"])
def test_a_header_that_cannot_be_read_begins_no_round(upload, header):
    upload(CSV)
    response = upload(header + b"\ncase-000,1\n", again="on")
    assert response.status_code == 422
    assert "rows are wrong" not in text_of(response)
    assert Run.objects.get().is_current


def test_rows_that_are_all_wrong_begin_no_round(upload, post):
    upload(CSV)
    response = upload(b"case,score\ncase-000,much\ncase-999,1\n", again="on")
    assert response.status_code == 422
    said = text_of(response)
    assert "2 rows are wrong" in said
    assert "This result has no output for “case-999”." in said
    reply = post({"evaluator": "Theirs", "again": True, "scores": [{"case": "case-000", "score": 2}]})
    assert (reply.status_code, reply.json()["run"]) == (422, None)
    assert post({"evaluator": "Others", "scores": [{"case": "case-000", "score": 2}]}).status_code == 422
    assert Run.objects.get().is_current


def test_a_name_that_judges_here_is_refused(project, upload):
    version_of(project, "Facts")
    response = upload(CSV, evaluator="Facts")
    assert response.status_code == 422
    assert "“Facts” is another kind of evaluator here" in text_of(response)
    assert not Run.objects.exists()


def test_its_run_leads_to_where_scores_are_sent(as_alice, project, run):
    said = text_of(as_alice.get(run.get_absolute_url()))
    assert "Awaits scores" in said
    assert "4 to come" in said
    assert f"/experiments/{run.experiment_id}/scores/?evaluator=Theirs" in said


# --- The API ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def post(client, alice, project, experiment):
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)
    url = f"/api/projects/{project.slug}/experiments/{experiment.pk}/scores/"
    headers = {"Authorization": f"Bearer {secret}"}

    def post(data):
        body = data if isinstance(data, str) else json.dumps(data)
        return client.post(url, body, content_type="application/json", headers=headers)

    return post


def test_a_pipeline_sends_scores_and_may_send_them_again(post):
    batch = {"evaluator": "Theirs", "scores": [{"case": "case-000", "score": 0.5, "weight": 3}]}
    first, again = post(batch).json(), post(batch).json()
    assert (first["accepted"], first["unchanged"], first["ignored"]) == (1, 0, ["weight"])
    assert (again["accepted"], again["unchanged"], again["run"]) == (0, 1, first["run"])


def test_a_score_beyond_every_float_costs_its_row_and_no_other(post):
    reply = post('{"evaluator": "Theirs", "scores": [{"case": "case-000", "score": 1}, {"score": 1e999, "case": 1}]}')
    assert (reply.status_code, reply.json()["accepted"]) == (422, 1)
    assert [error["field"] for error in reply.json()["errors"]] == ["scores[1].score"]


def test_the_api_names_the_wrong_ones_and_keeps_the_others(post):
    reply = post(
        {"evaluator": "Theirs", "scores": [{"case": "case-000", "score": 2}, {"case": "case-001", "score": 1}]}
    )
    assert reply.status_code == 422
    assert reply.json()["accepted"] == 1
    (error,) = reply.json()["errors"]
    assert (error["field"], error["case"]) == ("scores[0].score", "case-000")
