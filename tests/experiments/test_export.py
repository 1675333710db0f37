"""Downloads: every output with every evaluation, in order, safe to open in a spreadsheet."""

import csv
import io
import json

import pytest
from django.urls import reverse

from experiments.analysis import exporting
from experiments.models import Case, Dataset, Evaluation, EvaluationBody, OutputBody, RunLabel
from tests.experiments.judged import add_case, experiment_of, judged, rehearsal_of, shuffled, version_of

pytestmark = pytest.mark.django_db


def download(client, experiment, form) -> str:
    response = client.get(reverse("experiment-export", args=[experiment.project.slug, experiment.pk, form]))
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def records(client, experiment) -> list[dict]:
    return [json.loads(line) for line in download(client, experiment, "jsonl").splitlines()]


def table(client, experiment) -> list[dict]:
    return list(csv.DictReader(io.StringIO(download(client, experiment, "csv"), newline="")))


@pytest.fixture
def experiment(project):
    return experiment_of(project, 4)


@pytest.fixture
def run(project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.25, 1.0, "unscored: unparsed"])
    first = Evaluation.objects.filter(run=run).order_by("pk").first()
    EvaluationBody.objects.create(evaluation=first, reason="A fee is invented.")
    RunLabel.objects.create(run=run, label_id=1, label="Wrong")
    Evaluation.objects.filter(pk=first.pk).update(label_id=1)
    return run


def test_a_line_holds_the_case_the_output_and_every_evaluation(as_alice, experiment, run):
    first, second, third, last = records(as_alice, experiment)
    assert first | {"id": 0, "evaluations": []} == {
        "id": 0,
        "key": "case-000",
        "attempt": 0,
        "inputs": {"question": "Question case-000?"},
        "expected_outputs": {"value": "Answer case-000"},
        "metadata": None,
        "outputs": {"value": "Answer case-000"},
        "steps": None,
        "error": None,
        "latency_ms": None,
        "cost_usd": None,
        "tokens_in": None,
        "tokens_out": None,
        "evaluations": [],
    }
    assert first["evaluations"] == [
        {
            "evaluator": "Facts",
            "version": 1,
            "rehearsal": False,
            "state": "scored",
            "score": 0.25,
            "label": "Wrong",
            "passed": False,
            "why": None,
            "reason": "A fee is invented.",
            "latency_ms": 12.0,
            "cost_usd": None,
        }
    ]
    assert second["evaluations"][0]["score"] == 1.0
    assert (third["evaluations"][0]["state"], third["evaluations"][0]["why"]) == ("unscored", "unparsed")
    assert third["evaluations"][0]["score"] is None
    assert last["evaluations"] == []


def test_a_table_has_columns_of_its_own_for_every_run(as_alice, project, experiment, run):
    judged(experiment, version_of(project, "Tone"), [0.5] * 4, connection=rehearsal_of(project))
    rows = table(as_alice, experiment)
    assert [row["key"] for row in rows] == [f"case-00{n}" for n in range(4)]
    assert (rows[0]["Facts v1 score"], rows[0]["Facts v1 label"]) == ("0.25", "Wrong")
    assert rows[0]["Facts v1 reason"] == "A fee is invented."
    assert (rows[2]["Facts v1 state"], rows[2]["Facts v1 score"]) == ("unscored", "")
    assert rows[3]["Facts v1 state"] == ""
    assert rows[0]["Tone v1 (rehearsal) score"] == "0.5"
    assert rows[0]["outputs"] == "Answer case-000"
    assert json.loads(rows[0]["inputs"]) == {"question": "Question case-000?"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1"])
def test_no_cell_is_a_formula(as_alice, experiment, text):
    OutputBody.objects.update(outputs={"value": text})
    Case.objects.filter(key="case-000").update(key=text)
    row = table(as_alice, experiment)[0]
    assert (row["outputs"], row["key"]) == (f"'{text}", f"'{text}")


def test_numbers_stay_numbers(as_alice, project, experiment):
    experiment.output_set.update(latency_ms=-1.5)
    assert table(as_alice, experiment)[0]["latency_ms"] == "-1.5"


def test_line_breaks_quotes_and_other_scripts_survive(as_alice, project):
    text = 'Zeile 1\nZeile 2, "zitiert" 日本 🚲'
    dataset = Dataset.objects.create(project=project, name="0 questions", latest_version=1)
    add_case(dataset, "ä", 0, inputs={"value": text})
    experiment = experiment_of(project, 0)
    assert records(as_alice, experiment)[0]["inputs"]["value"] == text
    assert table(as_alice, experiment)[0]["inputs"] == text
    assert "日本" in download(as_alice, experiment, "jsonl")


def test_every_output_comes_once_and_in_order_across_pieces(as_alice, project, monkeypatch):
    monkeypatch.setattr(exporting, "CHUNK", 7)
    experiment = experiment_of(project, 30)
    scores = shuffled(30)
    judged(experiment, version_of(project, "Facts"), scores)
    found = records(as_alice, experiment)
    assert [record["key"] for record in found] == [f"case-{n:03}" for n in range(30)]
    assert [record["evaluations"][0]["score"] for record in found] == scores
    assert [float(row["Facts v1 score"]) for row in table(as_alice, experiment)] == scores


def test_an_export_needs_two_queries_for_each_piece(project, django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(exporting, "CHUNK", 10)
    experiment = experiment_of(project, 30)
    run = judged(experiment, version_of(project, "Facts"), shuffled(30))
    with django_assert_num_queries(1 + 3 * 2 + 1):
        list(exporting.as_jsonl(experiment, [run]))


def test_an_experiment_without_anything_exports_its_header(as_alice, project):
    experiment = experiment_of(project, 0)
    assert download(as_alice, experiment, "jsonl") == ""
    assert download(as_alice, experiment, "csv").startswith("key,error,attempt")


def test_the_file_is_named_after_the_system_and_the_data_set(as_alice, project, experiment):
    response = as_alice.get(reverse("experiment-export", args=[project.slug, experiment.pk, "csv"]))
    assert response["Content-Disposition"] == 'attachment; filename="assistant-1-4-questions-v1.csv"'
    assert response["Content-Type"].startswith("text/csv")


def test_an_unknown_form_is_not_found(as_alice, project, experiment):
    assert as_alice.get(reverse("experiment-export", args=[project.slug, experiment.pk, "xlsx"])).status_code == 404
