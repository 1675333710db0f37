"""One case in full: its place in the list, what was asked, answered and expected, and what was said about it."""

import re

import pytest
from django.urls import reverse

from evalstudio.calls.models import Call
from evaluators.models import Evaluator
from experiments.analysis.grid import View
from experiments.analysis.neighbours import neighbours_of, next_error
from experiments.analysis.summary import summaries
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Dataset, Evaluation, EvaluationBody, Output, OutputBody, RunState
from tests.experiments.judged import (
    add_case,
    experiment_of,
    judged,
    rehearsal_of,
    shuffled,
    version_of,
)

pytestmark = pytest.mark.django_db


def peek(client, output, **query):
    experiment = output.experiment
    return client.get(reverse("experiment-peek", args=[experiment.project.slug, experiment.pk, output.pk]), query)


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def outputs_of(experiment) -> list[Output]:
    return list(Output.objects.filter(experiment=experiment).order_by("pk"))


@pytest.fixture
def experiment(project):
    return experiment_of(project, 5)


# --- Its place --------------------------------------------------------------------------------------------------------
def walked(experiment, view, run):
    """The outputs' ids in the order of the view, by going from neighbour to neighbour; checks the numbers meanwhile."""
    summary = summaries([run])[run.pk]
    by_id = {output.pk: output for output in outputs_of(experiment)}
    places = {pk: neighbours_of(experiment, view, summary, output) for pk, output in by_id.items()}
    at = next(pk for pk, place in places.items() if place.number == 1)
    order = [at]
    while places[at].next:
        assert places[places[at].next].previous == at
        at = places[at].next
        order.append(at)
        assert places[at].number == len(order)
    return order, places[at].total


@pytest.mark.parametrize("sort", ["low", "high", "case"])
def test_neighbours_follow_the_order_of_the_list(project, sort):
    experiment = experiment_of(project, 12)
    run = judged(experiment, version_of(project, "Facts"), [*shuffled(8), "failed", "unscored", "pending", "failed"])
    order, total = walked(experiment, View(run, "all", sort), run)
    assert (len(order), len(set(order)), total) == (12, 12, 12)
    scores = dict(Evaluation.objects.filter(run=run).values_list("output", "score"))
    known = [scores[pk] for pk in order if scores[pk] is not None]
    if sort != "case":
        assert known == sorted(known, reverse=sort == "high")
        assert all(scores[pk] is None for pk in order[8:])


def test_neighbours_stay_within_the_filter(project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.1, 0.9, 0.3, 0.8, 0.2])
    order, total = walked(experiment, View(run, "below"), run)
    outputs = outputs_of(experiment)
    assert (order, total) == ([outputs[0].pk, outputs[4].pk, outputs[2].pk], 3)


def test_an_output_outside_the_filter_has_no_number_and_no_neighbours(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.1, 0.9, 0.3, 0.8, 0.2])
    said = text_of(peek(as_alice, outputs_of(experiment)[1], show="below"))
    assert "case-001" in said
    assert " of 3</span>" not in said
    assert said.count("disabled") == 2


def test_the_next_error_is_one_of_any_evaluator_and_starts_over_after_the_last(project, experiment):
    runs = [
        judged(experiment, version_of(project, "Facts"), [0.1, "unscored", 0.3, 0.8, 0.2]),
        judged(experiment, version_of(project, "Tone"), [0.1, 0.1, 0.3, "failed", "pending"]),
    ]
    outputs = outputs_of(experiment)
    assert next_error(runs) == outputs[1].pk
    assert next_error(runs, outputs[1]) == outputs[3].pk
    assert next_error(runs, outputs[3]) == outputs[1].pk
    assert next_error(runs, outputs[4]) == outputs[1].pk


def test_the_only_error_leads_nowhere_from_itself(project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.1, "unscored"])
    assert next_error([run], outputs_of(experiment)[1]) is None


def test_the_links_of_the_panel_keep_the_view_and_lead_to_pages(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.1, 0.2, 0.3])
    said = text_of(peek(as_alice, outputs_of(experiment)[0], by=run.pk, show="below"))
    following = outputs_of(experiment)[1].pk
    assert f'href="{experiment.get_absolute_url()}?by={run.pk}&amp;show=below&amp;peek={following}"' in said


# --- What it shows ----------------------------------------------------------------------------------------------------
def test_actual_and_expected_stand_side_by_side_each_with_its_tool_calls(as_alice, project):
    dataset = Dataset.objects.create(project=project, name="0 questions", latest_version=1)
    add_case(
        dataset,
        "ride",
        0,
        expected_outputs={"value": "Twelve.", "toolCalls": [{"name": "get_ride", "arguments": {"id": 7}}]},
    )
    experiment = experiment_of(project, 0, "bot")
    said = text_of(peek(as_alice, experiment.output_set.get()))
    assert re.search(
        r"Actual</h3>.*Tool calls <span class=\"num\">0.*Expected</h3>.*Tool calls <span class=\"num\">1", said
    )
    assert "Twelve." in said
    assert "&quot;id&quot;: 7" in said


def test_the_system_s_error_time_tokens_and_cost_are_told(as_alice, project, experiment):
    output = outputs_of(experiment)[0]
    told = {
        "error": "No reply within 30 s",
        "latency_ms": 2780,
        "tokens_in": 1000,
        "tokens_out": 204,
        "cost_usd": 0.000319,
    }
    Output.objects.filter(pk=output.pk).update(**told)
    said = text_of(peek(as_alice, output))
    assert "The system ended with an error: No reply within 30 s" in said
    for words in ("2.78 s</b> run time", "1,204</b> tokens", "$0.00032"):
        assert words in said


def test_the_trace_inside_names_its_steps_whatever_their_shape(as_alice, project, experiment):
    output = outputs_of(experiment)[0]
    steps = [{"name": "search", "input": {"query": "refund"}, "latency_ms": 310}, "just words", {"tool": {"x": 1}}]
    OutputBody.objects.filter(pk=output.pk).update(steps=steps)
    said = text_of(peek(as_alice, output))
    assert "Trace inside" in said
    assert "<b>search</b>" in said
    assert "query refund" in said
    assert "<b>step 2</b>" in said
    assert "just words" in said
    assert "310 ms" in said


def test_every_verdict_has_its_reason_and_its_threshold(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts", threshold=0.6), [0.2])
    EvaluationBody.objects.create(
        evaluation=Evaluation.objects.get(run=run), reason="It <b>invents</b> a fee.", logs=["a", "b"]
    )
    said = text_of(peek(as_alice, outputs_of(experiment)[0]))
    assert "It &lt;b&gt;invents&lt;/b&gt; a fee." in said
    assert "<b>20 %</b>, below 60 %" in said
    assert "a b</pre>" in said


def test_where_lower_is_better_a_failing_score_is_above_the_threshold(as_alice, project, experiment):
    judged(experiment, version_of(project, "Length", direction="lower", threshold=0.5), [0.7])
    assert "<b>70 %</b>, above 50 %" in text_of(peek(as_alice, outputs_of(experiment)[0]))


def test_a_row_that_waits_leads_to_why(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), ["pending"], state=RunState.ACTIVE)
    said = text_of(peek(as_alice, outputs_of(experiment)[0]))
    assert "No worker is at it; the next look around, within a minute, calls one." in said
    assert f'href="{run.get_absolute_url()}#why">How the run stands</a>' in said


def test_the_second_tab_lists_the_metrics(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.7], connection=rehearsal_of(project))
    EvaluationBody.objects.create(evaluation=Evaluation.objects.get(run=run), measures={"precision": 0.25})
    said = text_of(peek(as_alice, outputs_of(experiment)[0], tab="metrics"))
    assert "precision 0.25" in said
    assert "passes from 50 %" in said
    assert ">rehearsal</span>" in said
    assert "Actual</h3>" not in said


def test_the_address_opens_the_same_panel_without_javascript(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.7])
    output = outputs_of(experiment)[0]
    said = text_of(as_alice.get(experiment.get_absolute_url(), {"peek": output.pk}))
    assert re.search(r'<aside class="peek" id="peek" aria-label="One case">', said)
    assert "Actual</h3>" in said
    assert 'class="is-open"' in said


def test_no_panel_of_another_experiment_opens(as_alice, project, experiment):
    other = experiment_of(project, 5, "another")
    url = reverse("experiment-peek", args=[project.slug, other.pk, outputs_of(experiment)[0].pk])
    assert as_alice.get(url).status_code == 404


@pytest.mark.parametrize("n", [3, 30])
def test_the_panel_needs_the_same_few_queries_however_many_rows(as_alice, project, n, django_assert_max_num_queries):
    experiment = experiment_of(project, n)
    for name in ("Facts", "Tone", "Length"):
        judged(experiment, version_of(project, name), shuffled(n, name))
    output = outputs_of(experiment)[1]
    peek(as_alice, output)
    with django_assert_max_num_queries(15):
        peek(as_alice, output)


# --- Message and reply ------------------------------------------------------------------------------------------------
@pytest.fixture
def judged_row(project, alice, transactional_db):
    """A row that the rehearsal has judged, by way of the ledger."""
    experiment = experiment_of(project, 1)
    connection = rehearsal_of(project)
    config = {
        "prompt": "Is this right?\n{{ outputs.value }}\nThe truth:\n{{ expectedOutputs.value }}",
        "guide": "Compare them.",
        "connection_id": connection.pk,
        "model": "rehearsal",
        "scoring": {
            "type": "enum",
            "options": [
                {"label": "Right", "percentage": 100, "description": ""},
                {"label": "Wrong", "percentage": 0, "description": ""},
            ],
        },
        "threshold": 0.5,
        "direction": "higher",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": None,
    }
    evaluator = Evaluator.objects.create(project=project, name="Right answer", kind="judge")
    start(evaluator.revise(config, schema=1, author=alice), experiment, alice)
    work("net")
    return Evaluation.objects.select_related("run", "output").get()


def exchange(client, evaluation):
    return client.get(reverse("evaluation-exchange", args=[evaluation.run.experiment.project.slug, evaluation.pk]))


def test_the_message_is_shown_in_parts_with_the_raw_reply(as_alice, judged_row):
    said = text_of(exchange(as_alice, judged_row))
    assert "Rendered message" in said
    assert "<code>outputs.value</code>" in said
    assert "Answer case-000" in said
    assert "Compare them." in said
    assert "Raw reply" in said
    assert Call.objects.get().text.split('"')[1] in said


def test_the_panel_offers_message_and_reply_on_demand(as_alice, judged_row):
    said = text_of(peek(as_alice, judged_row.output))
    assert reverse("evaluation-exchange", args=[judged_row.run.experiment.project.slug, judged_row.pk]) in said
    assert "Rendered message" not in said
    assert "Rehearsal, no language model" in said


def test_a_reply_that_is_gone_is_said_to_be_gone(as_alice, judged_row):
    Call.objects.all().delete()
    assert "1 reply is no longer kept." in text_of(exchange(as_alice, judged_row))


def test_an_evaluator_that_asks_nobody_has_no_message(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.7])
    assert "No model was asked." in text_of(exchange(as_alice, Evaluation.objects.get()))
