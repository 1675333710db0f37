"""Runs of evaluators that read what a processor makes: which version they used, and judging again by a newer one."""

import pytest
from django.urls import reverse

from evaluators.core import Status
from evaluators.kinds import get_kind
from evaluators.models import Evaluator, ProcessorVersion
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, Experiment, OutputBody, Run
from experiments.views.processor_runs import overtaken

pytestmark = pytest.mark.django_db(transaction=True)

LENGTH = "function process({ outputs }) { return { n: outputs.value.length }; }"
HALF = "function process({ outputs }) { return { n: outputs.value.length / 2 }; }"
READS = "function evaluate({ processed }) { return processed.n / 100; }"
READS_NOTHING = "function evaluate({ outputs }) { return 1; }"


def heuristic(project, name, code):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
    return evaluator.revise(kind.blank() | {"code": code}, schema=kind.schema, author=None)


def saved(project, code, number=1):
    return ProcessorVersion.objects.create(project=project, number=number, code=code)


@pytest.fixture
def experiment(make_experiment) -> Experiment:
    return make_experiment(3)


def values(run):
    return list(Evaluation.objects.filter(run=run).order_by("pk").values_list("score", flat=True))


def test_a_run_reads_what_the_processor_makes_and_says_which_version_made_it(project, experiment, alice):
    saved(project, LENGTH)

    reading = start(heuristic(project, "reads", READS), experiment, alice)
    other = start(heuristic(project, "other", READS_NOTHING), experiment, alice)
    work("cpu")

    assert values(reading) == [0.08, 0.08, 0.08]
    assert (reading.processor, other.processor) == (1, None)


def test_an_output_on_which_it_fails_fails_those_that_read_it_and_nobody_else(project, experiment, alice):
    saved(project, LENGTH)
    OutputBody.objects.filter(output=experiment.output_set.first()).update(outputs={})

    reading = start(heuristic(project, "reads", READS), experiment, alice)
    other = start(heuristic(project, "other", READS_NOTHING), experiment, alice)
    work("cpu")

    failed = Evaluation.objects.select_related("body").get(run=reading, state=Status.FAILED)
    assert failed.why == "processor"
    assert "The processor (v1) failed on this output" in failed.body.reason
    assert values(other) == [1, 1, 1]


def test_a_judge_is_sent_what_it_makes(project, experiment, alice, connection, chat_server):
    saved(project, LENGTH)
    chat_server.reply = lambda body: '{"reasoning": "so", "verdict": "YES"}'
    kind = get_kind("judge")
    options = [{"label": "YES", "percentage": 100.0, "description": ""}, {"label": "NO", "percentage": 0.0}]
    own = {"prompt": "Is {{ processed.n }} enough?", "connection_id": connection.pk, "model": "tiny"}
    evaluator = Evaluator.objects.create(project=project, name="judge", kind="judge")
    config = kind.blank() | own | {"scoring": {"type": "enum", "options": options}}

    start(evaluator.revise(config, schema=kind.schema, author=None), experiment, alice)
    work("net")

    assert "\n8\n" in chat_server.received[0].body["messages"][-1]["content"]


def test_a_retry_keeps_to_the_version_that_the_run_was_started_with(project, experiment, alice):
    saved(project, LENGTH)
    run = start(heuristic(project, "reads", READS), experiment, alice)
    saved(project, HALF, 2)

    work("cpu")

    assert values(run) == [0.08, 0.08, 0.08]


def test_a_changed_processor_offers_the_results_that_read_it_to_be_judged_again(as_alice, project, experiment, alice):
    saved(project, LENGTH)
    version = heuristic(project, "reads", READS)
    before = start(version, experiment, alice)
    start(heuristic(project, "other", READS_NOTHING), experiment, alice)
    work("cpu")
    saved(project, HALF, 2)
    url = reverse("processor-runs", args=[project.slug])

    assert "read the processor v1" in as_alice.get(url).content.decode()
    as_alice.post(url, {"run": [before.pk]})
    work("cpu")

    now = Run.objects.get(version=version, is_current=True)
    assert (now.processor, values(now)) == (2, [0.04, 0.04, 0.04])
    assert values(before) == [0.08, 0.08, 0.08]
    assert not overtaken(project).exists()


def test_results_from_before_there_was_one_are_offered_as_well(project, experiment, alice):
    run = start(heuristic(project, "reads", READS), experiment, alice)
    assert run.processor == 0
    assert not overtaken(project).exists()

    saved(project, LENGTH)

    assert list(overtaken(project)) == [run]


def test_nothing_is_judged_again_that_nobody_chose(as_alice, project, experiment, alice):
    start(heuristic(project, "reads", READS), experiment, alice)
    saved(project, LENGTH)

    as_alice.post(reverse("processor-runs", args=[project.slug]))

    assert Run.objects.count() == 1


def test_the_results_of_another_project_are_never_judged_again(as_alice, project, experiment, alice, charlie):
    from evalstudio.projects.models import Project

    other = Project.start("Other", charlie)
    run = start(heuristic(project, "reads", READS), experiment, alice)
    saved(project, LENGTH)
    saved(other, LENGTH)

    as_alice.post(reverse("processor-runs", args=[other.slug]), {"run": [run.pk]})

    assert Run.objects.count() == 1


def test_the_paths_of_a_processor_are_counted_beside_the_mapping(as_alice, project, experiment):
    saved(project, LENGTH)
    typed = {
        "kind": "classification",
        "draft": "k1",
        "mode": "binary",
        "predicted": "processed.n",
        "expected": "processed.missing",
        "average": "macro",
        "dataset": experiment.dataset_version.dataset_id,
        "experiment": experiment.pk,
    }

    text = as_alice.post(reverse("mapping-coverage", args=[project.slug]), typed).content.decode()

    assert "processed.n" in text
    assert "No case has it" in text


def test_an_output_shows_what_the_processor_makes_of_it_or_why_it_fails(as_alice, project, experiment):
    output = experiment.output_set.first()
    url = reverse("output-processed", args=[project.slug, output.pk])
    peek = reverse("experiment-peek", args=[project.slug, experiment.pk, output.pk])
    assert "has no processor" in as_alice.get(url).content.decode()
    assert url not in as_alice.get(peek).content.decode()

    saved(project, LENGTH)
    assert url in as_alice.get(peek).content.decode()
    assert "Made now by" in as_alice.get(url).content.decode()

    saved(project, "function process() { throw new Error('no table'); }", 2)
    assert "no table" in as_alice.get(url).content.decode()


def test_a_run_says_which_processor_it_read(as_alice, project, experiment, alice):
    saved(project, LENGTH)
    run = start(heuristic(project, "reads", READS), experiment, alice)

    page = as_alice.get(run.get_absolute_url()).content.decode()

    assert f'{reverse("processor-page", args=[project.slug])}?version=1">v1</a>' in page


def test_the_message_that_is_shown_again_is_the_one_that_was_sent(as_alice, project, experiment, alice, connection):
    saved(project, LENGTH)
    kind = get_kind("judge")
    own = {"prompt": "Is {{ processed.n }} enough?", "connection_id": connection.pk, "model": "tiny"}
    evaluator = Evaluator.objects.create(project=project, name="judge", kind="judge")
    run = start(evaluator.revise(kind.blank() | own, schema=kind.schema, author=None), experiment, alice)
    saved(project, HALF, 2)

    row = Evaluation.objects.filter(run=run).first()
    shown = as_alice.get(reverse("evaluation-exchange", args=[project.slug, row.pk])).content.decode()

    assert "processed.n" in shown
    assert ">8<" in shown.replace("\n", "")
