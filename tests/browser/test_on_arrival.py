"""Who judges new outputs, in the browser: set once for the project, chosen with a file, chosen with a prompt."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.datasets.importing import running
from experiments.datasets.importing.starting import prepare_import
from experiments.ledger.turn import work
from experiments.models import DatasetVersion, Evaluation, Experiment, Import, Run, RunDefaults
from experiments.outputs.intake import append, close, open_experiment
from experiments.outputs.judging import Judge
from tests.browser.test_trials import looked_at
from tests.experiments.compared import comparative

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LINES = b'{"key": "a", "question": "2+2", "output": "4"}\n{"key": "b", "question": "3+3", "output": "6"}\n'


@pytest.fixture
def short(project):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name="Short answers", kind="heuristic")
    return evaluator.revise(kind.blank(), schema=kind.schema, author=None)


def test_the_defaults_of_new_runs_are_set_by_keyboard_and_what_is_wrong_stands_beside_its_field(visit, project, short):
    page = visit(reverse("run-defaults", args=[project.slug]))
    assert looked_at(page) == []
    page.get_by_label("Spend at most").fill("-5")
    page.get_by_label("Time limit").fill("30")
    page.get_by_label("Short answers").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    page.get_by_text("Give an amount up to 1,000,000.").wait_for()
    expect(page.get_by_label("Short answers")).to_be_checked()
    assert looked_at(page) == []
    page.get_by_label("Spend at most").fill("5")
    page.get_by_role("button", name="Save").press("Enter")
    page.get_by_text("Saved. Runs that are started from now on begin with this.").wait_for()
    stored = RunDefaults.objects.get(project=project)
    assert (stored.limit_usd, stored.limit_s, stored.evaluators.get()) == (5.0, 1800, short.evaluator)


@pytest.mark.parametrize("is_judged", [False, True])
def test_outputs_of_a_pipeline_appear_as_they_arrive(visit, project, alice, short, is_judged):
    prepared = prepare_import(project, alice, ContentFile(LINES, "sums.jsonl"), {"dataset": "sums", "system": "calc"})
    running.run(prepared.pk)
    version, judges = DatasetVersion.objects.get(), [Judge(short)] if is_judged else []
    opened = {"system": "pipeline", "version": version, "client_key": None, "judges": judges}
    experiment, _ = open_experiment(project, alice, **opened)
    page = visit(experiment.get_absolute_url())
    page.get_by_text("Outputs appear here as they arrive.").wait_for()
    append(experiment, [{"case": "a", "outputs": {"value": "4"}}])
    page.get_by_role("link", name="a 2+2").wait_for()
    append(experiment, [{"case": "b", "outputs": {"value": "6"}}])
    close(experiment)
    page.get_by_role("link", name="b 3+3").wait_for()
    page.locator("#columns:not([hx-get])").wait_for(state="attached")
    page.locator("#experiment-facts").get_by_text("Outputs 2").wait_for()


def test_evaluators_are_chosen_with_the_columns_of_a_file(visit, project, alice, short):
    shorter = comparative(project)
    RunDefaults.objects.create(project=project).evaluators.set([short.evaluator])
    first = prepare_import(project, alice, ContentFile(LINES, "sums.jsonl"), {"dataset": "sums", "system": "calc"})
    running.run(first.pk)
    page = visit(reverse("import-new", args=[project.slug]) + "?dataset=sums")
    words = {"name": "words.jsonl", "mimeType": "application/jsonl", "buffer": LINES.replace(b'"4"', b'"four"')}
    page.locator("input[type=file]").set_input_files(words)
    page.get_by_role("button", name="Look at the file").click()
    page.get_by_role("heading", name="Evaluators").wait_for()
    expect(page.get_by_label("Short answers v1")).to_be_checked()
    page.get_by_label("System", exact=True).fill("words")
    page.get_by_text("Compare with another result").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Shorter output v1").check()
    assert looked_at(page) == []
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Choose the result that they compare with.").wait_for()
    expect(page.get_by_label("Shorter output v1")).to_be_checked()
    assert looked_at(page) == []
    page.get_by_label("Compare with", exact=True).select_option(index=1)
    page.get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url(f"**{Import.objects.latest('pk').get_absolute_url()}")
    page.get_by_role("heading", name="words.jsonl").wait_for()

    running.run(Import.objects.latest("pk").pk)
    work("cpu")

    made = Experiment.objects.get(system__name="words")
    runs = {run.version: run.baseline for run in Run.objects.filter(experiment=made)}
    assert runs == {short: None, shorter: Experiment.objects.get(system__name="calc")}
    assert Evaluation.objects.filter(run__experiment=made, score__isnull=False).count() == 4
