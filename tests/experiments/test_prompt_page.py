"""The page on which a prompt is written, tried on one case and started."""

from __future__ import annotations

import re

import pytest

from evalstudio.calls.models import Connection
from evaluators.publishing import publish
from experiments.ledger.turn import work
from experiments.models import Evaluation, Experiment, Output, PromptVersion, Purpose, Run, RunDefaults
from tests.experiments.compared import comparative
from tests.experiments.prompted import add_case

pytestmark = pytest.mark.django_db(transaction=True)
NEW, PREVIEW = "/p/support/experiments/prompt/", "/p/support/experiments/prompt/preview/"


@pytest.fixture
def typed(questions, connection, chat_server):
    """What somebody types who asks one model about three cases."""
    chat_server.reply = lambda body: body["messages"][-1]["content"].removeprefix("Repeat: ")
    return {
        "title": "Parrot",
        "version": str(questions(3).pk),
        "system_message": "",
        "user_message": "Repeat: {{ inputs.question }}",
        "models": [f"{connection.pk}:tiny"],
    }


def test_it_begins_with_the_first_text_of_the_inputs_and_shows_what_is_sent(as_alice, typed):
    page = as_alice.get(NEW).content.decode()
    assert "{{ inputs.question }}" in page
    assert "question 0" in page
    assert "questions v1, 3 cases" in page


def test_started_it_answers_every_case_in_an_experiment_of_its_own(as_alice, typed):
    answer = as_alice.post(NEW, typed, follow=True)
    experiment = Experiment.objects.get()
    assert answer.redirect_chain[-1][0] == experiment.get_absolute_url()
    assert "Parrot v1 · tiny" in answer.content.decode()
    work("net")
    assert Output.objects.filter(experiment=experiment).count() == 3


def test_every_model_with_every_set_of_parameters_is_a_system(as_alice, typed, connection):
    more = {"other_connection": connection.pk, "other_model": "small", "temperature_0": "0", "temperature_1": "0.7"}
    as_alice.post(NEW, typed | more | {"max_tokens_1": "90", "repeats": "2"})
    names = list(Experiment.objects.order_by("pk").values_list("system__name", flat=True))
    assert names == [
        "Parrot v1 · tiny · temperature 0",
        "Parrot v1 · tiny · temperature 0.7 · 90 tokens",
        "Parrot v1 · small · temperature 0",
        "Parrot v1 · small · temperature 0.7 · 90 tokens",
    ]
    assert {run.evaluation_set.count() for run in Run.objects.all()} == {6}


def test_chosen_evaluators_judge_on_arrival_within_the_limits(as_alice, typed, make_version, alice, small_kinds):
    version = make_version("length")
    publish(version, alice)
    as_alice.post(NEW, typed | {"judges": [version.pk], "limit_minutes": "5"})
    work("net")
    work("cpu")
    judged, asked = Run.objects.get(purpose=Purpose.RESULTS), Run.objects.get(purpose=Purpose.ANSWERS)
    assert (judged.version_id, judged.evaluation_set.filter(score__isnull=False).count()) == (version.pk, 3)
    assert asked.limit_s == 300


def test_those_that_the_project_always_runs_are_chosen_already(as_alice, typed, project, make_version, small_kinds):
    always, other = make_version("length"), make_version("length", most=9)
    RunDefaults.objects.create(project=project).evaluators.set([always.evaluator])
    page = as_alice.get(NEW).content.decode()
    chosen = re.findall(r'name="judges" value="(\d+)" id="\w+"( checked)?', page)
    assert set(chosen) == {(str(always.pk), " checked"), (str(other.pk), "")}


def test_one_that_compares_takes_an_earlier_result_of_the_data_set(as_alice, typed, project):
    version = comparative(project)
    assert "there is none yet" in as_alice.get(NEW).content.decode()
    as_alice.post(NEW, typed)
    work("net")
    first = Experiment.objects.get()
    compared = {"user_message": "Repeat: {{ inputs.question }}!", "comparing": [version.pk], "baseline": first.pk}
    as_alice.post(NEW, typed | compared)
    work("net")
    work("cpu")
    run = Run.objects.get(purpose=Purpose.RESULTS)
    assert (run.version, run.baseline) == (version, first)
    assert set(run.evaluation_set.values_list("score", flat=True)) == {0.0}
    again = as_alice.get(NEW, {"like": run.experiment_id}).content.decode()
    assert f'<option value="{first.pk}" selected>' in again
    assert f'value="{version.pk}" id="id_comparing_0" checked' in again


def test_another_data_set_offers_its_own_results_to_compare_with(as_alice, typed, project, questions):
    comparative(project)
    as_alice.post(NEW, typed)
    other = typed | {"version": str(questions(1, "others").pk)}
    page = as_alice.post(PREVIEW, other, headers={"HX-Request": "true"}).content.decode()
    assert "there is none yet" in page
    assert "Parrot v1 · tiny · v1" not in page
    assert "Parrot v1 · tiny · v1" in as_alice.post(PREVIEW, typed, headers={"HX-Request": "true"}).content.decode()


def test_what_asks_a_model_judges_each_answer_as_often_as_was_said(
    as_alice, typed, make_version, small_kinds, connection
):
    asking, short = make_version("asking", connection_id=connection.pk), make_version("length")
    typed |= {"judges": [asking.pk, short.pk]}
    assert "a whole number from 1 to 20" in as_alice.post(NEW, typed | {"judge_repeats": "99"}).content.decode()
    as_alice.post(NEW, typed | {"judge_repeats": "3"})
    judged = Run.objects.filter(purpose=Purpose.RESULTS)
    assert {run.version: run.repeats for run in judged} == {asking: 3, short: 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"title": ""}, "This field is required."),
        ({"user_message": ""}, "Write what is sent about each case"),
        ({"user_message": "{{ expectedOutputs.value }}"}, "“expectedOutputs” is not there when this prompt is sent."),
        ({"user_message": "{{ outputs.value }}"}, "It sees inputs and metadata."),
        ({"user_message": "{expectedOutput}"}, "“expectedOutputs” is not there"),
        ({"user_message": "{{ llm.model }}"}, "There is no “llm”."),
        ({"system_message": "a\n{{ inputs.question"}, "Line 2:"),
        ({"user_message": "{{ inptus.question }}"}, ">inputs</button>"),
        ({"models": []}, "Choose a model"),
        ({"models": ["999:tiny"]}, "Select a valid choice"),
        ({"take": "first"}, "Say how many cases to ask."),
        ({"take": "split", "split": "odd"}, "Choose a split: easy, hard."),
        ({"temperature_0": "9"}, "Give a number from 0 to 2."),
        ({"version": "999"}, "Select a valid choice"),
        ({"judges": ["999"]}, "Select a valid choice"),
        ({"limit_usd": "5"}, "What calls of “local” cost is not known"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_started(as_alice, typed, changes, sentence):
    answer = as_alice.post(NEW, typed | changes)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert sentence in page
    assert (changes.get("title") == "") or "Parrot" in page
    assert not Experiment.objects.exists()
    assert not PromptVersion.objects.exists()


def test_a_preview_shows_the_messages_of_any_case_and_what_starting_takes(as_alice, typed):
    page = as_alice.post(PREVIEW, typed | {"place": "3", "repeats": "2"}, headers={"HX-Request": "true"})
    text = page.content.decode()
    assert "case-2" in text
    assert "question 2" in text
    assert "Start asks <b>6</b> times: 3 cases, 2 answers each." in text
    assert "<html" not in text


def test_trying_asks_once_shows_the_answer_and_keeps_nothing(as_alice, typed, connection, chat_server):
    Connection.objects.filter(pk=connection.pk).update(usd_per_million_in=10, usd_per_million_out=10)
    page = as_alice.post(PREVIEW, typed | {"do": "try"}, headers={"HX-Request": "true"}).content.decode()
    assert ">question 0</pre>" in page
    assert "At what this one cost, that is about" in page
    assert chat_server.calls == 1
    assert not Output.objects.exists()
    assert not Evaluation.objects.exists()


def test_the_system_that_is_picked_is_tried(as_alice, typed, connection, chat_server):
    both = typed | {"other_connection": connection.pk, "other_model": "small", "temperature_0": "0", "do": "try"}
    page = as_alice.post(PREVIEW, both, headers={"HX-Request": "true"}).content.decode()
    assert "Answer of tiny · temperature 0" in page
    picked = both | {"tried": f"{connection.pk}:small · temperature 0"}
    page = as_alice.post(PREVIEW, picked, headers={"HX-Request": "true"}).content.decode()
    assert "Answer of small · temperature 0" in page
    assert f'<option value="{connection.pk}:small · temperature 0" selected>' in page
    assert chat_server.calls == 2
    assert 'name="tried"' not in as_alice.post(PREVIEW, typed).content.decode()


def test_a_preview_says_what_the_case_lacks_and_asks_nothing(as_alice, typed, questions, chat_server):
    version = questions(1, "others")
    add_case(version.dataset, "bare", 1, inputs={"text": "?"})
    version.n_cases = 2
    version.save()
    asked = typed | {"version": str(version.pk), "place": "2", "do": "try"}
    page = as_alice.post(PREVIEW, asked).content.decode()
    assert "The prompt reads inputs.question, which this case does not have." in page
    assert "<html" in page
    assert chat_server.calls == 0


def test_it_is_run_again_with_changes_from_its_experiment(as_alice, typed):
    as_alice.post(NEW, typed | {"temperature_0": "0.5", "repeats": "2", "take": "first", "n": "2"})
    experiment = Experiment.objects.get()
    assert f"{NEW}?like={experiment.pk}" in as_alice.get(experiment.get_absolute_url()).content.decode()
    page = as_alice.get(NEW, {"like": experiment.pk}).content.decode()
    for kept in ('value="Parrot"', 'value="0.5"', "Repeat: {{ inputs.question }}", '<option value="first" selected'):
        assert kept in page


def test_only_editors_run_prompts(client, bob, charlie, typed):
    for person, status in ((bob, 403), (charlie, 404)):
        client.force_login(person)
        assert client.get(NEW).status_code == status
        assert client.post(NEW, typed).status_code == status
        assert client.post(PREVIEW, typed | {"do": "try"}).status_code == status
    assert not Experiment.objects.exists()


def test_the_page_asks_the_database_as_often_whatever_there_is(
    as_alice, typed, questions, django_assert_max_num_queries
):
    for number in range(4):
        questions(2, f"set {number}")
    with django_assert_max_num_queries(30):
        as_alice.get(NEW)


@pytest.fixture
def half_answered(ask, chat_server):
    """An experiment that was asked for five answers: three came, two were refused."""
    from tests.local_chat_server import refused

    chat_server.then(refused(400, "Too long."), refused(400, "Too long."))
    run = ask(5, repeats=1)
    work("net")
    return run


def test_the_experiment_shows_how_many_were_answered_and_what_went_wrong(as_alice, half_answered):
    page = as_alice.get(half_answered.experiment.get_absolute_url()).content.decode()
    for shown in (
        "Answers of tiny</a> 3 of 5",
        "Retry 2 without an answer",
        "2 failed",
        "Repeat: {{ inputs.question }}",
    ):
        assert shown in page
    assert "question 3" in page


def test_while_it_is_answered_the_figures_are_polled_and_say_why_rows_wait(as_alice, ask):
    run = ask(4)
    page = as_alice.get(run.experiment.get_absolute_url()).content.decode()
    assert 'columns/" hx-trigger="every 2s"' in page
    assert "Why are 4 pending?" in page
    page = as_alice.get(run.get_absolute_url()).content.decode()
    assert "Answers of Parrot v1 · tiny" in page
    assert "<b>4</b> rows" in page


def test_the_page_asks_the_database_no_more_while_answers_come(as_alice, ask, django_assert_max_num_queries):
    address = ask(12, repeats=2).experiment.get_absolute_url()
    as_alice.get(address)
    with django_assert_max_num_queries(24):
        as_alice.get(address)
    with django_assert_max_num_queries(16):
        as_alice.get(f"{address}columns/")


def test_a_prompt_is_begun_from_a_data_set(as_alice, typed, questions):
    other = questions(2, "others")
    begun = f"{NEW}?dataset={other.dataset_id}"
    assert begun in as_alice.get(other.dataset.get_absolute_url()).content.decode()
    assert f'<option value="{other.pk}" selected>' in as_alice.get(begun).content.decode()


def test_its_run_can_be_stopped_resumed_and_retried(as_alice, half_answered):
    pk = half_answered.pk
    page = as_alice.get(f"/p/support/runs/{pk}/").content.decode()
    assert "What got no answer" in page
    assert "Too long." in page
    as_alice.post(f"/p/support/runs/{pk}/retry/")
    as_alice.post(f"/p/support/runs/{pk}/stop/")
    half_answered.refresh_from_db()
    assert half_answered.state == "stopped"
    as_alice.post(f"/p/support/runs/{pk}/resume/")
    work("net")
    assert Output.objects.filter(experiment=half_answered.experiment).count() == 5


def test_runs_for_answers_are_listed_apart_and_never_among_results(as_alice, half_answered):
    listed = as_alice.get("/p/support/runs/").content.decode()
    assert "Answers <b>1</b>" in listed
    assert f"/p/support/runs/{half_answered.pk}/" not in listed
    assert "3 of 5 answered" in as_alice.get("/p/support/runs/?show=answers").content.decode()
    results = as_alice.get("/p/support/experiments/").content.decode()
    assert "Parrot v1 · tiny" in results
    assert f"by={half_answered.pk}" not in results
    assert as_alice.get("/p/support/home/").status_code == 200
