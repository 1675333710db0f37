"""Two results as a file and over the API: both outputs, and what every comparative run said."""

import csv
import io
import json

import pytest

from evalstudio.projects.models import Project
from experiments.analysis import exporting
from experiments.models import Evaluation, OutputBody, Purpose, Run, RunLabel
from tests.experiments.compared import comparative, compared, preference
from tests.experiments.judged import experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(project):
    mine, theirs = experiment_of(project, 4, "new"), experiment_of(project, 4, "old")
    theirs.output_set.last().delete()
    OutputBody.objects.filter(output__experiment=theirs).update(outputs={"value": "=theirs"})
    return mine, theirs


@pytest.fixture
def run(project, two):
    run = compared(*two, preference(project, rehearsal_of(project)), [1.0, 0.5, "failed: unreachable"], flipped=(1,))
    RunLabel.objects.create(run=run, label_id=1, label="Compared")
    Evaluation.objects.filter(run=run, score=1.0).update(label_id=1)
    return run


def download(client, mine, theirs, form) -> str:
    response = client.get(f"{mine.url_against(theirs.pk)}export.{form}")
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def api(client, project, path, **query):
    return client.get(f"/api/projects/{project.slug}/{path}/", query)


def test_a_line_holds_the_pair_and_every_comparative_evaluation(as_alice, project, two, run):
    judged(two[0], version_of(project, "Alone"), [1.0] * 4)
    compared(*two, comparative(project), [0.0, 1.0])
    lines = [json.loads(line) for line in download(as_alice, *two, "jsonl").splitlines()]
    assert [line["key"] for line in lines] == ["case-000", "case-001", "case-002"]
    assert "Scores of each result alone are in its own export." in as_alice.get(two[0].url_against(two[1].pk)).text
    first, second, third = lines
    assert (first["outputs"], first["baseline_outputs"]) == ({"value": "Answer case-000"}, {"value": "=theirs"})
    told = [
        {name: said[name] for name in ("evaluator", "score", "label", "flipped", "reason")}
        for said in first["evaluations"]
    ]
    assert told == [
        {"evaluator": "Preference", "score": 1.0, "label": "Compared", "flipped": False, "reason": "Because of 0."},
        {"evaluator": "Shorter output", "score": 0.0, "label": None, "flipped": None, "reason": None},
    ]
    assert second["evaluations"][0]["flipped"] is True
    assert [said["state"] for said in third["evaluations"]] == ["failed"]


def test_a_table_has_both_outputs_and_columns_for_every_run(as_alice, two, run):
    rows = list(csv.DictReader(io.StringIO(download(as_alice, *two, "csv"), newline="")))
    assert [(row["key"], row["outputs"], row["baseline_outputs"]) for row in rows] == [
        (f"case-00{n}", f"Answer case-00{n}", "'=theirs") for n in range(3)
    ]
    said = [(row["Preference v1 score"], row["Preference v1 flipped"], row["Preference v1 reason"]) for row in rows]
    assert said == [("1.0", "False", "Because of 0."), ("0.5", "True", "Because of 1."), ("", "", "")]
    assert rows[0]["Preference v1 label"] == "Compared"


def test_the_export_of_a_result_alone_knows_nothing_of_it(as_alice, project, two, run):
    response = as_alice.get(f"{two[0].get_absolute_url()}export.jsonl")
    for line in b"".join(response.streaming_content).decode().splitlines():
        assert "baseline_outputs" not in json.loads(line)
        assert json.loads(line)["evaluations"] == []


def test_an_export_needs_two_queries_for_each_piece(two, run, django_assert_num_queries, monkeypatch):
    monkeypatch.setattr(exporting, "CHUNK", 2)
    with django_assert_num_queries(1 + 2 * 2 + 1):
        list(exporting.as_jsonl(two[0], [run], two[1]))


def test_the_file_is_named_after_both(as_alice, two, run):
    response = as_alice.get(f"{two[0].url_against(two[1].pk)}export.csv")
    assert response["Content-Disposition"] == 'attachment; filename="new-against-old-4-questions-v1.csv"'
    assert as_alice.get(f"{two[0].url_against(two[1].pk)}export.xlsx").status_code == 404


# --- API --------------------------------------------------------------------------------------------------------------
def test_results_against_a_baseline_are_its_pairs(as_alice, project, two, run):
    found = api(as_alice, project, f"experiments/{two[0].pk}/results", baseline=two[1].pk).json()["results"]
    assert [row["key"] for row in found] == ["case-000", "case-001", "case-002"]
    assert found[0]["baseline_outputs"] == {"value": "=theirs"}
    assert [row["evaluations"][0]["flipped"] for row in found] == [False, True, None]
    alone = api(as_alice, project, f"experiments/{two[0].pk}/results").json()["results"]
    assert len(alone) == 4
    assert "baseline_outputs" not in alone[0]


def test_a_baseline_of_other_cases_or_projects_is_refused_by_name(as_alice, alice, project, two):
    others = experiment_of(project, 2, "other"), experiment_of(Project.start("Other", alice), 4, "old"), two[0]
    for baseline in (*(each.pk for each in others), "x", "0"):
        answer = api(as_alice, project, f"experiments/{two[0].pk}/results", baseline=baseline)
        assert answer.status_code == 400
        assert "another experiment of this data set" in str(answer.json())


def begin(client, project, **body):
    address = f"/api/projects/{project.slug}/runs/"
    return client.post(address, json.dumps(body), content_type="application/json")


def test_a_comparison_is_started_with_its_baseline(as_alice, project, two):
    version = comparative(project)
    answer = begin(as_alice, project, version=version.pk, experiment=two[0].pk, baseline=two[1].pk)
    assert answer.status_code == 201
    said = answer.json()
    assert (said["baseline_id"], said["purpose"], said["counts"]["pending"]) == (two[1].pk, "results", 3)
    assert said["outcomes"] == {"wins": 0, "ties": 0, "losses": 0}
    again = begin(as_alice, project, version=version.pk, experiment=two[0].pk, baseline=two[1].pk)
    assert again.json()["id"] == said["id"]


def test_what_cannot_be_compared_is_refused_at_its_field(as_alice, alice, project, two):
    version = comparative(project)
    elsewhere = experiment_of(Project.start("Other", alice), 4, "old")
    alone = begin(as_alice, project, version=version.pk, experiment=two[0].pk)
    assert "This version compares two results." in str(alone.json())
    strange = begin(as_alice, project, version=version.pk, experiment=two[0].pk, baseline=elsewhere.pk)
    assert strange.status_code == 400
    assert "baseline" in str(strange.json())
    assert not Run.objects.exists()


def test_a_run_tells_outcomes_measures_and_standard_error(as_alice, project, two, run):
    said = api(as_alice, project, f"runs/{run.pk}").json()
    assert said["outcomes"] == {"wins": 1, "ties": 1, "losses": 0}
    assert said["measures"]["flipped"]["value"] == 0.5
    assert said["estimate"]["standard_error"] == pytest.approx(0.25)
    alone = judged(two[0], version_of(project, "Alone"), [1.0] * 4)
    said = api(as_alice, project, f"runs/{alone.pk}").json()
    assert (said["baseline_id"], said["outcomes"], said["measures"]) == (None, None, {})


def test_runs_are_listed_by_experiment_baseline_and_purpose(as_alice, project, two, run):
    alone = judged(two[0], version_of(project, "Alone"), [1.0] * 4)
    trial = judged(
        two[0], alone.version.evaluator.revise(alone.version.config | {"code": "b"}, schema=1, author=None), []
    )
    Run.objects.filter(pk=trial.pk).update(purpose=Purpose.TRIAL, is_current=False)

    def listed(**query):
        return [each["id"] for each in api(as_alice, project, "runs", **query).json()["results"]]

    assert listed() == [alone.pk, run.pk]
    assert listed(baseline=two[1].pk) == [run.pk]
    assert listed(purpose="trial") == [trial.pk]
    assert listed(purpose="noise") == []
    assert api(as_alice, project, "runs", purpose="x").status_code == 400
    assert api(as_alice, project, "runs", baseline="x").status_code == 400
