"""The confusion matrix of a run: what it counts, what it opens, what it says over REST."""

import re

import pytest
from django.db import connection
from django.urls import reverse

from evaluators.core import Status
from evaluators.models import Evaluator
from experiments.analysis.confusion import confusion_of
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, Output, OutputBody, Purpose, Run, RunLabel, RunState
from tests.experiments.judged import add_case, add_output, experiment_of, judged, version_of

pytestmark = pytest.mark.django_db

PAIRS = [
    *(("billing", "billing"),) * 4,
    *(("billing", "contract"),) * 2,
    ("billing", "refunds"),
    *(("contract", "contract"),) * 3,
    ("other", "contract"),
    (None, "other"),
    ("spam", "other"),
]
LABELS = {"mode": "multiclass", "labels": ["billing", "contract", "other"]}


def classification(project, **more):
    config = {
        "mode": "binary",
        "labels": [],
        "label_map": {},
        "average": "macro",
        "predicted": "outputs.value",
        "expected": "expectedOutputs.value",
    }
    evaluator = Evaluator.objects.get_or_create(project=project, name="Intent", kind="classification")[0]
    return evaluator.revise(config | more, schema=1, author=None)


def classified(project, pairs=PAIRS, **config):
    """A run that a worker has finished over outputs with these expected and predicted labels."""
    experiment = experiment_of(project, 0)
    for number, (expected, predicted) in enumerate(pairs):
        case = add_case(
            experiment.dataset_version.dataset, f"case-{number}", number, expected_outputs={"value": expected}
        )
        add_output(experiment, case, {"outputs": {"value": predicted}})
    run = start(classification(project, **(config or LABELS)), experiment)
    work("cpu")
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    return run


def text_of(response) -> str:
    plain = re.sub(r"<[^>]+>", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", plain)


def page_of(client, run):
    return client.get(reverse("run-classes", args=[run.experiment.project.slug, run.pk]))


def keys_of(client, url):
    return re.findall(r'class="mono clip">(case-\d+)<', client.get(url).content.decode())


@pytest.mark.django_db(transaction=True)
class TestARunByAWorker:
    def test_counts_every_pair_of_labels(self, project):
        found = confusion_of(classified(project))
        assert found.counts == {
            ("billing", "billing"): 4,
            ("billing", "contract"): 2,
            ("billing", "(unrecognised)"): 1,
            ("contract", "contract"): 3,
            ("other", "contract"): 1,
        }
        assert found.columns == ("billing", "contract", "other", "(unrecognised)")
        assert found.accuracy.value == pytest.approx(7 / 11)

    def test_leaves_cases_without_a_right_label_unscored(self, project):
        run = classified(project)
        unscored = Evaluation.objects.filter(run=run, state=Status.UNSCORED).order_by("pk")
        assert list(unscored.values_list("why", flat=True)) == ["off scale", "off scale"]

    def test_truth_values_have_two_classes(self, project):
        pairs = [(True, "yes"), ("1", "0"), ("false", "F"), (None, "no"), ("true", "True"), ("", "FALSE")]
        found = confusion_of(classified(project, pairs, mode="binary"))
        assert found.counts == {
            ("true", "true"): 2,
            ("true", "false"): 1,
            ("false", "false"): 1,
            ("false", "true"): 2,
        }
        assert found.of_all == "true"


# --- Written as a worker would have left it ---------------------------------------------------------------------------
@pytest.fixture
def run(project):
    """The same run without a worker."""
    experiment = experiment_of(project, len(PAIRS))
    run = Run.objects.create(
        version=classification(project, **LABELS),
        experiment=experiment,
        lane="cpu",
        state=RunState.FINISHED,
        revision=1,
    )
    texts = ["billing", "contract", "other", "(unrecognised)"]
    RunLabel.objects.bulk_create(RunLabel(run=run, label_id=n, label=text) for n, text in enumerate(texts, 1))
    for output, (expected, predicted) in zip(Output.objects.order_by("pk"), PAIRS, strict=True):
        given = texts.index(predicted) + 1 if predicted in texts else 4
        known = expected in texts
        Evaluation.objects.create(
            run=run,
            output=output,
            state=Status.SCORED if known else Status.UNSCORED,
            score=float(expected == predicted) if known else None,
            passed=expected == predicted if known else None,
            label_id=given if known else None,
            expected_id=texts.index(expected) + 1 if known else None,
            why="" if known else "off scale",
            settled_at="2026-01-01T00:00:00Z",
        )
    return run


def test_the_page_shows_counts_shares_and_the_figures_of_each_class(as_alice, run):
    page = text_of(page_of(as_alice, run))
    assert "2 29 % of billing called contract" in page
    assert "1 14 % of billing called (unrecognised)" in page
    assert "Macro precision" in page
    assert "billing is called contract in 2 of its cases." in page
    assert "Verdicts" not in page  # the same labels without the truth


def test_every_figure_of_a_class_has_its_interval(as_alice, run):
    html = page_of(as_alice, run).content.decode().replace("\N{NO-BREAK SPACE}", " ")
    assert "Recall of billing: 57.1 %, 95 % interval 25.0 to 84.2" in html
    assert "Precision of contract: 50.0 %, 95 % interval 18.8 to 81.2" in html
    assert "none to tell from" in html  # nothing was called other


def test_the_accuracy_is_the_figure_of_the_run(as_alice, run):
    html = page_of(as_alice, run).content.decode().replace("\N{NO-BREAK SPACE}", " ")
    assert "Accuracy: 63.6 %, 95 % interval 35.4 to 84.8, 11 of 13 scored" in html


def test_a_cell_opens_its_cases_in_the_grid(as_alice, run):
    links = dict(re.findall(r'<a class="h\d" href="([^"]+)"><b>(\d+)</b>', page_of(as_alice, run).content.decode()))
    assert sorted(links.values()) == ["1", "1", "2", "3", "4"]
    for url, cases in links.items():
        assert len(keys_of(as_alice, url.replace("&amp;", "&"))) == int(cases)


def test_the_grid_keeps_the_cases_of_one_cell_in_their_order(as_alice, run):
    here = f"{run.results_url}&expected=billing&label=contract"
    assert keys_of(as_alice, here) == ["case-004", "case-005"]
    page = text_of(as_alice.get(here))
    assert "billing called contract 2" in page
    assert "In the order in which they came" in page


@pytest.mark.parametrize(
    ("query", "cases"),
    [
        ("expected=billing", 7),
        ("label=contract", 6),
        ("label=(unrecognised)", 1),
        ("expected=nonsense", 0),
        ("expected=other&label=billing", 0),
        ("expected=billing&label=contract&q=005", 1),
    ],
)
def test_the_grid_keeps_a_row_or_a_column_too(as_alice, run, query, cases):
    assert len(keys_of(as_alice, f"{run.results_url}&{query}")) == cases


def test_other_filters_of_the_grid_leave_the_labels_behind(as_alice, run):
    html = as_alice.get(f"{run.results_url}&expected=billing&label=contract").content.decode()
    assert re.search(r'class="chip" href="[^"]*show=all[^"]*"', html)
    assert re.search(r'class="chip" href="[^"]*show=all[^"]*expected', html) is None


def test_an_open_case_walks_along_its_cell(as_alice, run, project):
    output = Output.objects.get(case__key="case-004")
    address = reverse("experiment-peek", args=[project.slug, run.experiment_id, output.pk])
    after = Output.objects.get(case__key="case-005").pk
    page = as_alice.get(f"{address}?by={run.pk}&expected=billing&label=contract").content.decode()
    assert f"peek={after}" in page


def test_the_legend_leaves_no_share_out(as_alice, run):
    page = text_of(page_of(as_alice, run))
    assert re.search(r"under 5 % of the row\s+5 % to 15 %\s+15 % to 45 %\s+45 % to 70 %\s+70 % or more", page)


def test_the_results_lead_to_the_matrix(as_alice, run):
    page = as_alice.get(run.experiment.get_absolute_url()).content.decode()
    assert f"/runs/{run.pk}/classes/" in page
    assert f"/runs/{run.pk}/classes/" in as_alice.get(run.get_absolute_url()).content.decode()


def test_a_run_without_expected_labels_has_no_matrix(as_alice, project):
    plain = judged(experiment_of(project, 3), version_of(project, "Facts"), [1.0, 0.0, 0.5])
    assert confusion_of(plain) is None
    assert 'id="confusion"' not in page_of(as_alice, plain).content.decode()
    assert "/classes/" not in as_alice.get(plain.experiment.get_absolute_url()).content.decode()
    assert "/classes/" not in as_alice.get(plain.get_absolute_url()).content.decode()


def test_cells_of_a_sample_open_nothing(as_alice, run):
    Run.objects.filter(pk=run.pk).update(purpose=Purpose.TRIAL, is_current=False, sample=[])
    html = page_of(as_alice, run).content.decode()
    assert 'id="confusion"' in html
    assert 'class="h2" href' not in html


def test_labels_of_files_are_never_markup(as_alice, run):
    RunLabel.objects.filter(run=run, label="(unrecognised)").update(label="<b onclick=x>&\"'")
    html = page_of(as_alice, run).content.decode()
    assert "<b onclick" not in html
    assert "&lt;b onclick=x&gt;" in html
    (url,) = re.findall(r'href="([^"]*label=%3Cb[^"]*)"', html)
    assert len(keys_of(as_alice, url.replace("&amp;", "&"))) == 1


def test_several_outputs_of_a_case_that_agree_make_no_interval_narrower(as_alice, run):
    def recall():
        html = page_of(as_alice, run).content.decode().replace("\N{NO-BREAK SPACE}", " ")
        return re.search(r"Recall of billing: ([\d.]+) %, 95 % interval ([\d.]+) to ([\d.]+)", html).groups()

    once = recall()
    for row in list(Evaluation.objects.filter(run=run).select_related("output__body")):
        again = Output.objects.create(
            experiment=run.experiment, case=row.output.case, attempt=1, content_hash=row.output.content_hash
        )
        OutputBody.objects.create(output=again, outputs=row.output.body.outputs)
        row.pk, row.output = None, again
        row.save()
    Run.objects.update(revision=2)
    assert [float(each) for each in recall()] == pytest.approx([float(each) for each in once], abs=2)


# --- REST -------------------------------------------------------------------------------------------------------------
def test_the_api_tells_the_table_and_its_figures(as_alice, project, run):
    told = as_alice.get(f"/api/projects/{project.slug}/runs/{run.pk}/confusion/").json()
    assert told["labels"] == ["billing", "contract", "other"]
    assert told["columns"] == ["billing", "contract", "other", "(unrecognised)"]
    assert told["matrix"]["billing"] == {"billing": 4, "contract": 2, "(unrecognised)": 1}
    assert (told["cases"], told["of_all"]) == (11, "macro")
    assert told["accuracy"]["value"] == pytest.approx(7 / 11)
    other = told["per_class"][2]
    assert (other["label"], other["support"], other["precision"]["value"], other["precision"]["low"]) == (
        "other",
        1,
        0.0,
        None,
    )


def test_the_api_has_none_of_a_run_without_expected_labels(as_alice, project):
    plain = judged(experiment_of(project, 2), version_of(project, "Facts"), [1.0, 0.0])
    response = as_alice.get(f"/api/projects/{project.slug}/runs/{plain.pk}/confusion/")
    assert response.status_code == 404


def test_strangers_and_other_projects_find_nothing(client, charlie, project, run):
    client.force_login(charlie)
    assert client.get(f"/api/projects/{project.slug}/runs/{run.pk}/confusion/").status_code == 404


# --- Size -------------------------------------------------------------------------------------------------------------
def test_it_takes_three_queries_whatever_its_size(run, django_assert_num_queries):
    fresh = Run.objects.select_related("version__evaluator").get(pk=run.pk)
    with django_assert_num_queries(3):
        confusion_of(fresh)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="reads the plan of SQLite")
def test_the_counts_and_the_cases_of_a_cell_come_from_an_index(run):
    of_run = Evaluation.objects.filter(run=run, expected_id__isnull=False, label_id__isnull=False)
    counted = of_run.order_by().values("expected_id", "label_id").values_list("expected_id")
    assert "COVERING INDEX evaluation_by_labels" in counted.explain()
    cell = Evaluation.objects.filter(run=run, expected_id=1, label_id=2).filter(expected_id__isnull=False)
    plan = cell.order_by("pk")[:50].explain()
    assert "evaluation_by_labels" in plan
    assert "TEMP B-TREE" not in plan
