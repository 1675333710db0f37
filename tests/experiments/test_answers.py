"""Running a prompt: each case answered once an attempt, by the engine that judges, and judged as the answers come."""

from __future__ import annotations

import os
import signal
import time

import pytest

from evaluators.core import Status, Why
from experiments.ledger import verbs
from experiments.ledger.answers import close_answered
from experiments.ledger.asked import Take
from experiments.ledger.blocked import why_not_yet
from experiments.ledger.progress import progress
from experiments.ledger.start import CannotStart, start
from experiments.ledger.sweep import sweep
from experiments.ledger.turn import work
from experiments.models import Evaluation, Experiment, Output, OutputBody, Purpose, Run, RunState, System
from experiments.outputs.prompting import Texts
from tests.experiments.nursery import Nursery
from tests.experiments.prompted import add_case
from tests.local_chat_server import Answer as Sent
from tests.local_chat_server import broken, completion, refused, says

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]


def texts_of(experiment: Experiment) -> dict[tuple[str, int], str]:
    bodies = OutputBody.objects.filter(output__experiment=experiment).select_related("output__case")
    return {(body.output.case.key, body.output.attempt): body.outputs["value"] for body in bodies}


def test_every_case_is_answered_and_the_output_tells_all_that_is_known_of_the_call(ask, chat_server, connection):
    connection.usd_per_million_in, connection.usd_per_million_out = 1, 2
    connection.save()
    run = ask(12)
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).scored, chat_server.calls) == (RunState.FINISHED, 12, 12)
    assert texts_of(run.experiment) == {(f"case-{i}", 0): f"question {i}" for i in range(12)}
    output = Output.objects.select_related("body").get(experiment=run.experiment, case__key="case-3")
    assert (output.error, output.tokens_out) == ("", 2)
    assert output.latency_ms > 0
    assert output.cost_usd == pytest.approx((output.tokens_in + 2 * output.tokens_out) / 1e6)
    assert output.body.steps[0]["messages"] == [
        {"role": "system", "content": "You answer in English."},
        {"role": "user", "content": "Repeat: question 3"},
    ]
    row = Evaluation.objects.get(run=run, output=output)
    assert (row.case_id, row.repeat, row.cost_usd) == (output.case_id, 0, output.cost_usd)


def test_attempts_are_asked_each_on_its_own_and_so_is_the_same_prompt_another_time(ask, make_prompt, chat_server):
    said = iter(range(1000))
    chat_server.reply = lambda body: f"answer {next(said)}"
    run = ask(4, repeats=3)
    work("net")
    assert len(set(texts_of(run.experiment).values())) == chat_server.calls == 12
    again = ask(0, repeats=3, version=run.experiment.dataset_version, prompt=run.experiment.system.prompt)
    work("net")
    assert chat_server.calls == 24
    assert not set(texts_of(again.experiment).values()) & set(texts_of(run.experiment).values())
    assert again.experiment.system_id == run.experiment.system_id


def test_judges_that_were_chosen_at_the_start_judge_every_answer(ask, make_version, connection):
    run = ask(40, judges=[make_version("length"), make_version("asking", connection_id=connection.pk)])
    work("net")
    work("cpu")
    work("net")
    judged = Run.objects.filter(experiment=run.experiment, purpose=Purpose.RESULTS)
    assert {(each.state, progress(each).scored) for each in judged} == {(RunState.FINISHED, 40)}
    assert not Experiment.objects.get(pk=run.experiment_id).is_open


def test_a_judge_that_is_added_before_or_after_the_answers_judges_the_same(ask, make_version, alice):
    run = ask(10, judges=[make_version("length")])
    before = Run.objects.get(experiment=run.experiment, purpose=Purpose.RESULTS)
    assert progress(before).total == 0
    work("net")
    after = start(make_version("length", sleep_s=0.0), run.experiment, alice)
    work("cpu")
    for each in (before, after):
        each.refresh_from_db()
        assert progress(each).scored == 10
    assert sorted(before.evaluation_set.values_list("output", "score")) == sorted(
        after.evaluation_set.values_list("output", "score")
    )


def test_a_case_that_lacks_what_the_prompt_reads_is_told_and_costs_nothing(ask, questions, chat_server):
    version = questions(3)
    add_case(version.dataset, "bare", 3, metadata={})
    run = ask(0, version=version)
    work("net")
    row = Evaluation.objects.select_related("body").get(run=run, case__key="bare")
    assert (row.state, row.why, row.output_id) == (Status.UNSCORED, Why.MISSING, None)
    assert row.body.reason == "The prompt reads metadata.language, which this case does not have."
    assert chat_server.calls == Output.objects.filter(experiment=run.experiment).count() == 3


def test_what_the_endpoint_refuses_has_failed_and_is_answered_when_it_is_retried(ask, make_version, chat_server):
    chat_server.then(refused(400, "Too long."), refused(400, "Too long."))
    run = ask(6, judges=[make_version("length")])
    work("net")
    run.refresh_from_db()
    assert (progress(run).scored, progress(run).failed) == (4, 2)
    assert Output.objects.filter(experiment=run.experiment).count() == 4
    assert verbs.retry(run) == 2
    work("net")
    work("cpu")
    judged = Run.objects.get(experiment=run.experiment, purpose=Purpose.RESULTS)
    assert (progress(run).scored, progress(judged).scored) == (6, 6)
    assert len(texts_of(run.experiment)) == 6
    assert not Experiment.objects.get(pk=run.experiment_id).is_open


def cut_short(server, body) -> Sent:
    choice = {"index": 0, "message": {"role": "assistant", "content": "To be"}, "finish_reason": "length"}
    return Sent(payload=completion(body, "", choices=[choice]))


def test_what_is_wrong_with_an_answer_stands_beside_it(ask, make_prompt, chat_server):
    chat_server.then(cut_short, says(""))
    run = ask(2, prompt=make_prompt(max_tokens=7))
    work("net")
    said = Output.objects.filter(experiment=run.experiment).values_list("body__outputs", "error")
    assert {outputs["value"]: error for outputs, error in said} == {
        "To be": "The answer was cut off at 7 tokens.",
        "": "The model answered nothing.",
    }


def test_answers_are_read_as_json_where_that_was_asked_for(ask, make_prompt, chat_server):
    chat_server.then(says('```json\n{"class": "a"}\n```'), says("[1, 2]"), says("{oops"), says('{"n": "\\u0000"}'))
    run = ask(4, prompt=make_prompt(Texts("", "Classify {{ inputs }}", reads_json=True)))
    work("net")
    said = list(Output.objects.filter(experiment=run.experiment).values_list("body__outputs", "error"))
    assert ({"class": "a"}, "") in said
    assert ({"value": [1, 2]}, "") in said
    wrong = {outputs["value"]: error for outputs, error in said if error}
    assert set(wrong) == {"{oops", '{"n": "\\u0000"}'}
    assert all(error.startswith("The answer cannot be read as JSON: ") for error in wrong.values())


def misnamed(server, body) -> Sent:
    return Sent(payload=completion(body, "Yes.") | {"model": "tiny\0\ud800" + "x" * 300})


@pytest.mark.parametrize("depth", [98, 99, 100, 101])
def test_an_answer_that_cannot_be_stored_as_json_holds_up_no_other(ask, make_prompt, chat_server, depth):
    chat_server.then(says("[" * depth + "]" * depth), misnamed)
    run = ask(2, prompt=make_prompt(Texts("", "Classify {{ inputs }}", reads_json=True)))
    work("net")
    run.refresh_from_db()
    assert (run.state, Output.objects.filter(experiment=run.experiment).count()) == (RunState.FINISHED, 2)


@pytest.mark.parametrize(
    ("asked", "keys"),
    [
        ({"take": Take.FIRST, "n": 2}, ["case-0", "case-1"]),
        ({"take": Take.SPLIT, "split": "hard"}, ["case-1", "case-3", "case-5"]),
        ({"take": Take.RANDOM, "n": 3, "seed": 4}, None),
    ],
)
def test_some_of_the_cases_are_asked_where_that_is_wanted(asked, keys, ask, questions):
    version = questions(6)
    runs = [ask(0, version=version, **asked) for _ in range(2)]
    found = [list(run.evaluation_set.order_by("pk").values_list("case__key", flat=True)) for run in runs]
    assert found[0] == found[1]
    assert found[0] == keys if keys else len(set(found[0])) == 3


def test_only_the_cases_of_the_chosen_version_are_asked(ask, questions, make_prompt):
    version = questions(2)
    add_case(version.dataset, "later", 5, added_in=2)
    run = ask(0, version=version)
    assert set(run.evaluation_set.values_list("case__key", flat=True)) == {"case-0", "case-1"}


def test_it_stops_goes_on_and_has_what_was_answered_judged(ask, make_version, chat_server):
    release = chat_server.hold(after=8)
    run = ask(48, judges=[make_version("length")])
    with Nursery() as nursery:
        worker = nursery.spawn("net")
        while not Output.objects.filter(experiment=run.experiment).exists():
            time.sleep(0.02)
        verbs.stop(run)
        release.set()
        nursery.wait(worker)
    sweep()
    run.refresh_from_db()
    done = progress(run).scored
    assert run.state == RunState.STOPPED
    assert 0 < done < 48
    assert why_not_yet(run)[0].rows == 48 - done
    work("cpu")
    judged = Run.objects.get(experiment=run.experiment, purpose=Purpose.RESULTS)
    assert progress(judged).scored == done
    verbs.resume(run)
    work("net")
    work("cpu")
    run.refresh_from_db()
    assert (run.state, progress(judged).scored, chat_server.calls) == (RunState.FINISHED, 48, 48)
    assert not Experiment.objects.get(pk=run.experiment_id).is_open


def test_a_limit_on_spending_stops_it(ask, connection, questions):
    connection.usd_per_million_in = connection.usd_per_million_out = 1_000_000
    connection.save()
    run = ask(64, limit_usd=60.0)
    work("net")
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.STOPPED, "spend")
    assert progress(run).pending > 0


def test_kills_lose_no_answer_and_double_none(ask, make_version, chat_server):
    chat_server.latency_s = 0.1
    chat_server.then(*[broken()] * 4)
    run = ask(60, repeats=2, judges=[make_version("length")])
    with Nursery() as nursery:
        for pause in (0.4, 0.7, 0.5):
            worker = nursery.spawn("net")
            time.sleep(pause)
            os.kill(worker, signal.SIGKILL)
            nursery.wait(worker)
        sweep()
        nursery.wait(nursery.spawn("net"))
    sweep()
    work("cpu")
    run.refresh_from_db()
    judged = Run.objects.get(experiment=run.experiment, purpose=Purpose.RESULTS)
    assert (run.state, progress(run).scored, progress(judged).scored) == (RunState.FINISHED, 120, 120)
    assert texts_of(run.experiment) == {(f"case-{i}", k): f"question {i}" for i in range(60) for k in (0, 1)}
    assert chat_server.calls <= 120 + 4 + 3 * (8 + 64)


def test_a_worker_that_ends_before_it_told_the_judges_leaves_that_to_the_sweep(ask, make_version):
    run = ask(5, judges=[make_version("length")])
    work("net")
    work("cpu")
    judged = Run.objects.get(experiment=run.experiment, purpose=Purpose.RESULTS)
    judged.evaluation_set.all().delete()
    Experiment.objects.filter(pk=run.experiment_id).update(is_open=True)  # as a kill before the end leaves it
    close_answered()
    work("cpu")
    assert progress(judged).scored == 5
    assert not Experiment.objects.get(pk=run.experiment_id).is_open


def test_a_start_that_a_judge_refuses_leaves_nothing(ask, make_version, connection):
    connection_of_another = make_version("asking", connection_id=connection.pk + 99)
    with pytest.raises(CannotStart):
        ask(3, judges=[connection_of_another])
    assert not Experiment.objects.exists()
    assert not Run.objects.exists()


def test_the_same_texts_model_and_parameters_are_one_system(make_prompt):
    first, same = make_prompt(), make_prompt()
    warm, other_text = make_prompt(temperature=0.7), make_prompt(Texts("", "Say {{ inputs.question }}"))
    assert first.pk == same.pk
    assert [each.number for each in (first, warm, other_text)] == [1, 1, 2]
    assert [str(each) for each in (first, warm, other_text)] == [
        "Parrot v1 · tiny",
        "Parrot v1 · tiny · temperature 0.7",
        "Parrot v2 · tiny",
    ]


def test_a_system_gets_a_name_of_its_own_where_the_plain_one_is_taken(make_prompt, project):
    System.objects.create(project=project, name="Parrot v1 · tiny")
    assert str(make_prompt()) == "Parrot v1 · tiny · local"
