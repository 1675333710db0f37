"""The client against a live server with real turns of a worker."""

import time

import pytest
from evalstudio_client import EvalStudio, NotFound, Refused, Rejected, StillRunning, Unreachable

from evalstudio.projects.models import ApiToken, Scope
from experiments.models import Case, Evaluation, Experiment, Output
from tests.clients.conftest import outputs
from tests.experiments.judged import experiment_of

pytestmark = pytest.mark.django_db(transaction=True)
PICTURE = b"\x89PNG\r\n\x1a\n"


def test_cases_come_from_every_page(studio, make_experiment):
    make_experiment(450)
    cases = list(studio.get_cases("450 questions"))
    assert [case["key"] for case in cases] == [f"case-{n}" for n in range(450)]
    assert cases[3]["inputs"] == {"question": "question 3"}


def test_cases_of_one_split_or_version(studio, questions):
    Case.objects.filter(key__in=["case-3", "case-7"]).update(split="test")
    assert [case["key"] for case in studio.get_cases(questions, version=1, split="test")] == ["case-3", "case-7"]
    with pytest.raises(Refused, match="There are versions 1 to 1"):
        next(studio.get_cases(questions, version=9))


def test_a_data_set_that_there_is_not_is_named(studio):
    with pytest.raises(NotFound, match="no data set “none”"):
        studio.get_cases("none")


def test_outputs_are_sent_in_batches_judged_as_they_arrive_and_read_back(studio, make_experiment, short, worker):
    make_experiment(450)
    experiment = studio.submit("pipeline", "450 questions", outputs(450), evaluators=["Short"])
    assert experiment["is_open"] is False
    runs = studio.wait(studio.runs(experiment), timeout_s=60)
    assert [(run["state"], run["counts"]["scored"]) for run in runs] == [("finished", 450)]
    results = list(studio.results(experiment, ["scores", "outputs"]))
    assert [row["outputs"]["value"] for row in results] == [f"brief {n}" for n in range(450)]
    assert {row["evaluations"][0]["score"] for row in results} == {1.0}
    assert "inputs" not in results[0]


def test_the_same_key_goes_on_with_the_same_experiment(studio, questions):
    def breaks_off():
        yield from outputs(3)
        raise RuntimeError("The model is gone.")

    with pytest.raises(RuntimeError):
        studio.submit("pipeline", questions, breaks_off(), client_key="build-7")
    first = studio.submit("pipeline", questions, outputs(30), client_key="build-7")
    again = studio.submit("pipeline", questions, outputs(30), client_key="build-7")
    assert first == again
    assert Output.objects.filter(experiment=first["id"]).count() == 30
    assert Experiment.objects.filter(system__name="pipeline").count() == 1


def test_a_wrong_output_is_named_and_the_right_ones_are_kept(studio, questions):
    rows = [*outputs(2), {"case": "case-99", "outputs": {"value": "?"}}, {"case": "case-2"}]
    with pytest.raises(Rejected) as caught:
        studio.submit("pipeline", questions, rows, client_key="build-8")
    assert [fault["case"] for fault in caught.value.faults] == ["case-99", "case-2"]
    assert "no case with the key" in str(caught.value)
    assert (caught.value.accepted, caught.value.experiment["is_open"]) == (2, True)
    mended = studio.submit("pipeline", questions, outputs(3), client_key="build-8")
    assert (mended["id"], mended["is_open"]) == (caught.value.experiment["id"], False)


def test_an_output_that_no_json_holds_is_named_and_the_others_are_kept(studio, questions):
    rows = [
        {"case": "case-0", "outputs": {"value": float("nan")}},
        {"case": "case-1", "outputs": {"value": "half a character: \ud800"}},
        {"case": "case-2", "outputs": {"value": {1, 2}}},
        {"case": "case-3", "outputs": {"value": "right"}},
    ]
    with pytest.raises(Rejected, match="case-0: JSON cannot hold it: Out of range float") as caught:
        studio.submit("pipeline", questions, rows)
    assert [fault["case"] for fault in caught.value.faults] == ["case-0", "case-1", "case-2"]
    assert caught.value.accepted == 1


def test_a_file_gets_an_address(studio, tmp_path, settings):
    files = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "kept"}}
    settings.STORAGES = {**settings.STORAGES, "default": files}
    (tmp_path / "cat.png").write_bytes(PICTURE)
    address = studio.upload_file(tmp_path / "cat.png")
    assert address.startswith("http://")
    assert studio.upload_file(str(tmp_path / "cat.png")) == address


def test_evaluators_go_by_name_or_by_the_id_of_a_version(studio, questions, short, worker):
    experiment = studio.submit("pipeline", questions, outputs(4))
    by_name, by_id = studio.evaluate(experiment, ["Short"]), studio.evaluate(experiment["id"], [short.pk])
    assert [run["id"] for run in by_name] == [run["id"] for run in by_id]
    looks = []
    assert studio.wait(by_name, 60, looks.append)[0]["estimate"]["value"] == 1.0
    assert looks[-1][0]["state"] == "finished"
    with pytest.raises(NotFound, match=r"no evaluator “Long”.* There are: “Short”"):
        studio.evaluate(experiment, ["Long"])
    with pytest.raises(Refused, match="no such version"):
        studio.evaluate(experiment, [99_999])


def test_with_a_baseline_comparative_ones_judge_the_pair_and_the_others_both(studio, questions, short, shorter, worker):
    one, other = (studio.submit(name, questions, outputs(5, name)) for name in ("terse", "quite a bit wordier"))
    asked = studio.evaluate(one, ["Short", "Shorter output"], baseline=other)
    again = studio.evaluate(one, [short.pk, shorter.pk], baseline=other)
    assert [run["id"] for run in asked] == [run["id"] for run in again]
    runs = studio.wait(asked, 60)
    told = [(run["evaluator"], run["experiment_id"], run["baseline_id"], run["estimate"]["value"]) for run in runs]
    assert told == [
        ("Short", one["id"], None, 1.0),
        ("Short", other["id"], None, 0.25),
        ("Shorter output", one["id"], other["id"], 1.0),
    ]
    assert {run["id"] for run in studio.runs(one, baseline=other)} == {run["id"] for run in runs}


def test_waiting_ends_with_the_reasons_of_what_has_not_run(studio, questions, short):
    runs = studio.evaluate(studio.submit("pipeline", questions, outputs(2)), ["Short"])
    with pytest.raises(StillRunning, match="Still running: Short") as caught:
        studio.wait(runs, timeout_s=0)
    assert caught.value.why
    assert Evaluation.objects.filter(settled_at=None).count() == 2


def test_waiting_does_not_end_before_its_time(studio, questions, short):
    runs = studio.evaluate(studio.submit("pipeline", questions, outputs(1)), ["Short"])
    began = time.monotonic()
    with pytest.raises(StillRunning):
        studio.wait(runs, timeout_s=0.9)  # in the midst of a pause
    assert time.monotonic() - began >= 0.9


def test_a_wrong_token_a_wrong_project_and_too_little_right_are_refused(live_server, project, bob, studio, secret):
    for token, slug, status in (("es_wrong", project.slug, 401), (secret, "elsewhere", 404)):
        with EvalStudio(live_server.url, token, slug) as other, pytest.raises(Refused) as caught:
            other.evaluate(1, ["Short"])
        assert caught.value.status == status
    _, reading = ApiToken.issue(project, bob, "reading", Scope.READ)
    experiment_of(project, 2)
    with EvalStudio(live_server.url, reading, project.slug) as other, pytest.raises(Refused, match="needs the role"):
        other.submit("pipeline", "2 questions", [])


def test_nobody_at_the_address_is_unreachable():
    with EvalStudio("http://127.0.0.1:9", "es_x", "support", tries=1) as studio, pytest.raises(Unreachable):
        list(studio.get_cases("questions"))
    with EvalStudio("no address", "es_x", "support") as studio, pytest.raises(Unreachable):
        list(studio.get_cases("questions"))


def test_the_environment_says_where_the_project_is(environment, questions, monkeypatch):
    with EvalStudio.from_environment() as studio:
        assert len(list(studio.get_cases(questions))) == 30
    monkeypatch.delenv("EVALSTUDIO_TOKEN")
    with pytest.raises(Exception, match=r"Set EVALSTUDIO_TOKEN\."):
        EvalStudio.from_environment()
