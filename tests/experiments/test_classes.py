"""Classes and curves of a run, from outputs to page, API and file: the catalogue's numbers and scikit-learn's."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse
from sklearn.metrics import average_precision_score, confusion_matrix, f1_score, roc_auc_score

from evaluators.models import Evaluator
from experiments.analysis.classes import Asked, classified
from experiments.analysis.columns import columns
from experiments.analysis.readying import ready
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import (
    Derived,
    Evaluation,
    EvaluationBody,
    Output,
    OutputBody,
    Run,
    RunState,
    RunVector,
    Slice,
)
from tests.experiments.judged import add_case, add_output, experiment_of, judged, version_of
from tests.experiments.scored_labels import ANIMALS, ANSWERS, classifier, drawn, scored, scored_experiment

pytestmark = pytest.mark.django_db(transaction=True)
SIX = {"abs": 1e-6}


def page_of(client, run, query=""):
    return client.get(reverse("run-classes", args=[run.experiment.project.slug, run.pk]) + query)


def told(client, run, kind, **query):
    address = f"/api/projects/{run.experiment.project.slug}/runs/{run.pk}/classes/"
    reply = client.get(address, {"tell": kind, **query})
    assert reply.status_code == 200, reply.content
    return reply.json()


def text_of(response) -> str:
    plain = re.sub(r"<script.*?</script>", " ", response.content.decode(), flags=re.S)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", plain.replace("\N{NO-BREAK SPACE}", " ")))


# --- The catalogue's numbers ------------------------------------------------------------------------------------------
def test_the_metrics_of_the_catalogue(project, as_alice):
    found = told(as_alice, scored(project, ANIMALS, labels=["bird", "cat", "dog"], figure="accuracy"), "metrics")
    assert found["accuracy"] == pytest.approx(0.333333, **SIX)
    assert found["precision"] == pytest.approx(0.416667, **SIX)
    assert found["recall"] == pytest.approx(0.444444, **SIX)
    assert found["f1"] == pytest.approx(0.3, **SIX)
    assert found["per_class"] == {
        "bird": pytest.approx({"precision": 1, "recall": 0.333333, "f1": 0.5, "support": 3}, **SIX),
        "cat": pytest.approx({"precision": 0.25, "recall": 1, "f1": 0.4, "support": 1}, **SIX),
        "dog": {"precision": 0, "recall": 0, "f1": 0, "support": 2},
    }
    assert found["confusion_matrix"] == {
        "bird": {"bird": 1, "cat": 1, "dog": 1},
        "dog": {"cat": 2},
        "cat": {"cat": 1},
    }


def test_the_truth_values_of_the_catalogue(project, as_alice):
    rows = [(True, "yes"), ("1", "0"), ("false", "F"), (None, "no"), ("true", "True"), ("", "FALSE")]
    experiment = experiment_of(project, 0)
    for number, (expected, given) in enumerate(rows):
        key = f"case-{number}"
        case = add_case(experiment.dataset_version.dataset, key, number, expected_outputs={"value": expected})
        add_output(experiment, case, {"outputs": {"value": given}})
    evaluator = Evaluator.objects.create(project=project, name="Truth", kind="classification")
    run = start(evaluator.revise(BLANK, schema=2, author=None), experiment)
    work("cpu")
    found = told(as_alice, run, "metrics")
    assert {name: found[name] for name in ("accuracy", "precision", "recall", "f1")} == pytest.approx(
        {"accuracy": 0.5, "precision": 0.5, "recall": 0.666667, "f1": 0.571429}, **SIX
    )
    assert found["per_class"] == {
        "false": pytest.approx({"precision": 0.5, "recall": 0.333333, "f1": 0.4, "support": 3}, **SIX),
        "true": pytest.approx({"precision": 0.5, "recall": 0.666667, "f1": 0.571429, "support": 3}, **SIX),
    }
    assert found["confusion_matrix"] == {"true": {"true": 2, "false": 1}, "false": {"false": 1, "true": 2}}


BLANK = {
    "mode": "binary",
    "labels": [],
    "label_map": {},
    "average": "macro",
    "predicted": "outputs.value",
    "expected": "expectedOutputs.value",
    "scores": "",
    "label_key": "",
    "figure": "accuracy",
    "undefined_as": "valor",
    "max_examples": 1,
}


@pytest.mark.parametrize(
    ("rows", "mean", "areas"),
    [
        (ANIMALS, 0.800926, {"bird": 0.777778, "dog": 0.625, "cat": 1}),
        (ANSWERS, 0.888889, {"yes": 0.888889, "no": 0.888889}),
    ],
)
def test_the_areas_of_the_catalogue(project, as_alice, rows, mean, areas):
    run = scored(project, rows)
    found = told(as_alice, run, "roc_auc")
    assert found["roc_auc"] == pytest.approx(mean, **SIX)
    assert found["per_class"] == pytest.approx(areas, **SIX)
    assert columns([run])[0].figure.value == pytest.approx(mean, **SIX)


PLAIN = {  # label@threshold: tp, fp, fn, tn, precision, recall, F1
    "animals": """bird@0.05 3 1 0 2 0.75 1 0.857143; bird@0.35 1 0 2 3 1 0.333333 0.5; bird@0.50 1 0 2 3 1 0.333333 0.5;
        bird@0.75 0 0 3 3 -1 0 -1; bird@0.95 0 0 3 3 -1 0 -1; dog@0.05 2 3 0 1 0.4 1 0.571429;
        dog@0.35 1 1 1 3 0.5 0.5 0.5; dog@0.50 0 1 2 3 0 0 -1; dog@0.75 0 1 2 3 0 0 -1; dog@0.95 0 0 2 4 -1 0 -1;
        cat@0.05 1 5 0 0 0.166667 1 0.285714; cat@0.35 1 3 0 2 0.25 1 0.4; cat@0.50 1 2 0 3 0.333333 1 0.5;
        cat@0.75 1 2 0 3 0.333333 1 0.5; cat@0.95 1 0 0 5 1 1 1""",
    "answers": """yes@0.05 3 3 0 0 0.5 1 0.666667; yes@0.35 3 2 0 1 0.6 1 0.75;
        yes@0.50 2 1 1 2 0.666667 0.666667 0.666667; yes@0.75 2 0 1 3 1 0.666667 0.8; yes@0.95 0 0 3 3 -1 0 -1;
        no@0.05 3 3 0 0 0.5 1 0.666667; no@0.35 3 1 0 2 0.75 1 0.857143; no@0.50 2 1 1 2 0.666667 0.666667 0.666667;
        no@0.75 1 0 2 3 1 0.333333 0.5; no@0.95 0 0 3 3 -1 0 -1""",
}
DETAILED = {  # label@threshold: tp, fp misclassified, fn misclassified, fn without a prediction, tn
    "animals": """bird@0.05 3 1 0 0 2; bird@0.50 1 0 2 0 3; bird@0.75 0 0 2 1 3; dog@0.05 2 3 0 0 1; dog@0.50 0 1 1 1 3;
        dog@0.75 0 1 1 1 3; cat@0.05 1 5 0 0 0; cat@0.50 1 2 0 0 3; cat@0.75 1 2 0 0 3""",
    "answers": """yes@0.05 3 3 0 0 0; yes@0.50 2 1 1 0 2; yes@0.75 2 0 0 1 3; no@0.05 3 3 0 0 0; no@0.50 2 1 1 0 2;
        no@0.75 1 0 0 2 3""",
}
SETS = {"animals": ANIMALS, "answers": ANSWERS}


def lines_of(text):
    for line in text.split(";"):
        place, *numbers = line.split()
        yield *place.split("@"), [float(number) for number in numbers]


@pytest.mark.parametrize("name", SETS)
def test_the_curves_of_the_catalogue(project, as_alice, name):
    curve = told(as_alice, scored(project, SETS[name], "classification_pr_curve"), "pr_curve")["curve"]
    for label, threshold, numbers in lines_of(PLAIN[name]):
        assert list(curve[label]) == [f"{step / 20:.2f}" for step in range(1, 20)]
        found = curve[label][threshold]
        names = ("tp", "fp", "fn", "tn", "precision", "recall", "f1_score")
        assert [found[name] for name in names] == pytest.approx(numbers, **SIX), (label, threshold)
        assert found["accuracy"] == pytest.approx((found["tp"] + found["tn"]) / 6)


@pytest.mark.parametrize("name", SETS)
def test_the_detailed_curves_of_the_catalogue(project, as_alice, name):
    run = scored(project, SETS[name], "classification_detailed_pr_curve")
    curve = told(as_alice, run, "detailed_pr_curve")["curve"]
    for label, threshold, numbers in lines_of(DETAILED[name]):
        found = curve[label][threshold]
        wrong, missed = found["fp"]["observations"], found["fn"]["observations"]
        assert [
            found["tp"]["total"],
            wrong["misclassifications"]["count"],
            missed["misclassifications"]["count"],
            missed["no_predictions"]["count"],
            found["tn"]["total"],
        ] == numbers, (label, threshold)
        assert found["fn"]["total"] == numbers[2] + numbers[3]


def test_examples_are_the_first_cases_of_each_count(project, as_alice):
    run = scored(project, ANIMALS, "classification_detailed_pr_curve", max_examples=2)
    found = told(as_alice, run, "detailed_pr_curve")["curve"]["bird"]["0.50"]
    assert found["fn"]["observations"]["misclassifications"] == {"count": 2, "examples": ["case-002", "case-003"]}
    assert found["tn"]["observations"]["all"] == {"count": 3, "examples": ["case-001", "case-004"]}


def test_what_cannot_be_told_is_nothing_where_that_is_asked_for(project, as_alice):
    run = scored(project, [*ANIMALS[:1], *ANIMALS[2:4]], undefined_as="null")
    assert told(as_alice, run, "roc_auc") == {"roc_auc": None, "per_class": {"bird": None, "cat": None, "dog": None}}
    assert told(as_alice, run, "pr_curve")["curve"]["bird"]["0.95"]["precision"] is None


def test_a_label_that_is_never_right_and_never_best_is_left_out_of_averages(project, as_alice):
    rows = [("a", {"a": 0.9, "b": 0.05, "c": 0.05}), ("b", {"a": 0.2, "b": 0.7, "c": 0.1})]
    found = told(as_alice, scored(project, rows, labels=["a", "b", "c"]), "metrics")
    assert found["per_class"]["c"] == {"precision": -1, "recall": -1, "f1": -1, "support": 0}
    assert found["f1"] == 1


# --- Against scikit-learn ---------------------------------------------------------------------------------------------
def test_areas_and_tables_are_those_of_scikit_learn(project, as_alice):
    rows = drawn(60)
    run = scored(project, rows)
    labels = ["billing", "contract", "other"]
    right = [expected for expected, _ in rows]
    areas = told(as_alice, run, "areas")
    for label in labels:
        is_right, scores = [each == label for each in right], [given[label] for _, given in rows]
        assert areas["roc_auc"]["labels"][label]["value"] == pytest.approx(roc_auc_score(is_right, scores))
        found = areas["average_precision"]["labels"][label]["value"]
        assert found == pytest.approx(average_precision_score(is_right, scores))
    best = [max(given, key=given.get) for _, given in rows]
    page = classified(fresh(run), Asked("max"))
    table = confusion_matrix(right, best, labels=labels).tolist()
    assert [[page.found.counts.get((one, other), 0) for other in labels] for one in labels] == table
    assert page.found.f1.value == pytest.approx(f1_score(right, best, average="macro"))


def test_a_mean_area_has_an_interval_where_there_are_cases_enough(project):
    figure = columns([scored(project, drawn(90))])[0].figure
    assert figure.low < figure.value < figure.high
    assert (figure.n, figure.asked) == (90, 90)


def fresh(run):
    return Run.objects.select_related("version__evaluator", "experiment__project").get(pk=run.pk)


# --- Thresholds -------------------------------------------------------------------------------------------------------
def test_below_the_threshold_an_output_gets_no_label(project, as_alice):
    run = scored(project, ANIMALS)
    page = classified(fresh(run), Asked("0.7"))
    assert page.found.counts == {
        ("bird", "cat"): 1,
        ("bird", "dog"): 1,
        ("bird", "(below the threshold)"): 1,
        ("dog", "cat"): 1,
        ("dog", "(below the threshold)"): 1,
        ("cat", "cat"): 1,
    }
    html = page_of(as_alice, run, "?at=0.7").content.decode()
    assert '<output class="num thr-v" for="at">0.7</output>' in html
    assert re.search(r'type="range" min="0.0" max="1.0" step="0.01" value="0.7"', html)


def test_one_score_for_true_moves_what_is_called_true(project, as_alice):
    rows = [(True, 0.9), (True, 0.4), (False, 0.35), (False, 0.6), (True, 0.8), (False, 0.1)]
    run = scored(project, rows, mode="binary")
    assert classified(fresh(run), Asked()).found.counts == {
        ("true", "true"): 2,
        ("true", "false"): 1,
        ("false", "true"): 1,
        ("false", "false"): 2,
    }
    assert classified(fresh(run), Asked("0.4")).found.counts == {
        ("true", "true"): 3,
        ("false", "true"): 1,
        ("false", "false"): 2,
    }
    page = text_of(page_of(as_alice, run, "?at=0.75"))
    assert "From this score on, an output is called true." in page
    assert "true against the rest 3 of 6 outputs. The dot is threshold 0.75." in page


def test_scores_that_are_no_shares_have_a_range_of_their_own(project, as_alice):
    run = scored(project, [("a", {"a": 3.5, "b": -2}), ("b", {"a": -1, "b": 8})])
    assert re.search(r'type="range" min="-1.0" max="3.5"', page_of(as_alice, run, "?of=a").content.decode())


@pytest.mark.parametrize(
    "query", ["?at=nan", "?at=inf", "?at=half", "?at=", "?of=nonsense", "?share=x", "?key=x", "?from=-3"]
)
def test_an_address_that_makes_no_sense_shows_labels_as_they_were_read(project, as_alice, query):
    run = scored(project, ANIMALS)
    page = text_of(page_of(as_alice, run, query))
    assert "Labels stand as the evaluator read them." in page


def test_cells_and_counts_at_a_threshold_open_their_cases(project, as_alice):
    run = scored(project, ANIMALS)
    html = page_of(as_alice, run, "?at=0.7").content.decode()
    links = [url.replace("&amp;", "&") for url in re.findall(r'<a class="h\d" href="([^"]+)"', html)]
    assert len(links) == 6
    for url in links:
        assert "1 output at 0.7" in text_of(as_alice.get(url.split("#")[0]))
    opened = page_of(as_alice, run, "?at=0.5&of=bird&bucket=mistaken")
    assert "Mistaken 2 outputs at 0.5" in text_of(opened)
    (first, second) = re.findall(r'<a class="mono" href="([^"]+)">(case-\d+)<', opened.content.decode())
    assert (first[1], second[1]) == ("case-002", "case-003")
    assert as_alice.get(first[0].replace("&amp;", "&")).status_code == 200


def test_many_cases_are_listed_some_at_a_time(project, as_alice):
    run = scored(project, drawn(120))
    first = page_of(as_alice, run, "?at=0&expected=billing")
    assert "40 outputs at 0" in text_of(first)
    (after,) = re.findall(r'href="([^"]*from=25[^"]*)"', first.content.decode())
    assert (
        len(
            re.findall(
                r'<a class="mono" href', as_alice.get(after.replace("&amp;", "&").split("#")[0]).content.decode()
            )
        )
        == 15
    )


def test_shares_are_of_rows_columns_or_all(project, as_alice):
    run = scored(project, ANIMALS)
    assert "2 100 % of dog called cat" in text_of(page_of(as_alice, run))
    assert "2 50 % of what is called cat: dog called cat" in text_of(page_of(as_alice, run, "?share=column"))
    assert "2 33 % of all: dog called cat" in text_of(page_of(as_alice, run, "?share=all"))


def test_the_best_threshold_of_a_label_is_offered(project, as_alice):
    run = scored(project, ANSWERS)
    html = page_of(as_alice, run, "?of=no").content.decode()
    assert "Best F1 of no: 0.4" in html
    (url,) = re.findall(r'href="([^"]*at=0\.4[^"]*)">Best F1', html)
    assert as_alice.get(url.replace("&amp;", "&")).status_code == 200


# --- Keys -------------------------------------------------------------------------------------------------------------
KEYED = [
    (
        {"key": "animal", "value": "dog"},
        [{"key": "animal", "value": "dog", "score": 0.6}, {"key": "colour", "value": "white", "score": 0.9}],
    ),
    ({"key": "animal", "value": "cat"}, {"animal": {"dog": 0.7, "cat": 0.3}}),
    ({"key": "colour", "value": "white"}, {"colour": {"white": 0.8, "black": 0.2}}),
    ({"key": "colour", "value": "black"}, {"colour": {"white": 0.1, "black": 0.9}}),
]


def test_labels_with_keys_are_told_key_by_key(project, as_alice):
    run = scored(project, KEYED)
    animals = classified(fresh(run), Asked("max", key="animal"))
    assert animals.keys == ["animal", "colour"]
    assert animals.found.counts == {("animal › dog", "animal › dog"): 1, ("animal › cat", "animal › dog"): 1}
    assert classified(fresh(run), Asked("max", key="colour")).found.accuracy.value == 1
    html = page_of(as_alice, run).content.decode()
    assert len(re.findall(r'<a class="chip" href="[^"]*key=', html)) == 2
    assert "told apart key by key" in columns([fresh(run)])[0].figure.refused


def test_of_several_labels_the_one_of_the_key_counts(project):
    both = [{"key": "animal", "value": "dog"}, {"key": "colour", "value": "white"}]
    run = scored(project, [(both, KEYED[0][1])], label_key="animal")
    assert classified(fresh(run), Asked()).found.counts == {("dog", "dog"): 1}


# --- As results come and change ---------------------------------------------------------------------------------------
def test_figures_follow_when_a_case_is_asked_again(project, as_alice):
    run = scored(project, ANIMALS)
    assert told(as_alice, run, "roc_auc")["roc_auc"] == pytest.approx(0.800926, **SIX)
    assert page_of(as_alice, run, "?at=0.5").status_code == 200
    OutputBody.objects.filter(output__case__key="case-001").update(outputs={"scores": {"dog": 0.9, "cat": 0.1}})
    Evaluation.objects.filter(run=run, output__case__key="case-001").update(state=0, score=None, settled_at=None)
    EvaluationBody.objects.filter(evaluation__run=run, evaluation__output__case__key="case-001").delete()
    Slice.objects.filter(run=run).update(done=False)
    Run.objects.filter(pk=run.pk).update(state=RunState.ACTIVE)
    work("cpu")
    assert told(as_alice, fresh(run), "metrics")["confusion_matrix"]["dog"] == {"dog": 1, "cat": 1}
    assert told(as_alice, fresh(run), "roc_auc")["per_class"]["dog"] > 0.625


def test_a_new_version_over_old_outputs_has_figures_of_its_own(project, as_alice):
    old = scored(project, ANIMALS)
    new = start(classifier(project, label_map={"cat": "pet", "dog": "pet"}), old.experiment)
    work("cpu")
    assert set(told(as_alice, fresh(new), "roc_auc")["per_class"]) == {"bird", "pet"}
    assert set(told(as_alice, old, "roc_auc")["per_class"]) == {"bird", "cat", "dog"}


def test_a_worker_has_everything_ready_before_anybody_looks(project, as_alice, django_assert_max_num_queries):
    run = scored(project, drawn(30))
    RunVector.objects.all().delete()
    Derived.objects.all().delete()
    ready(run.pk)
    kept = set(RunVector.objects.values_list("name", flat=True))
    assert {
        "best label",
        "best score",
        *(f"score:{pk}" for pk in run.labels.values_list("label_id", flat=True)),
    } <= kept
    assert Derived.objects.filter(answer__has_key="roc_auc").count() == 1
    page_of(as_alice, run)
    for query in ("", "?at=0.5", "?at=max&share=all", "?at=0.5&of=other&bucket=tp", "?at=0.5&expected=billing"):
        page_of(as_alice, run, query)
        with django_assert_max_num_queries(16):
            page_of(as_alice, run, query)


# --- Beside another result --------------------------------------------------------------------------------------------
def test_two_results_stand_beside_each_other_with_verdicts(project, as_alice):
    good, bad = drawn(90, skill=3.0, seed=1), drawn(90, skill=0.2, seed=2)
    run, other = scored(project, good), scored(project, bad, system="assistant 2")
    page = text_of(page_of(as_alice, run, f"?beside={other.pk}"))
    assert "What assistant 1" in page
    assert "on 90 outputs of the same cases" in page
    assert "with no correction for their number" in page
    told_of = as_alice.get(f"/api/projects/{project.slug}/runs/{run.pk}/classes/beside/{other.pk}/").json()
    assert told_of["pairs"] == 90
    figures = {each["figure"]: each for each in told_of["whole"]}
    right = {name: [max(given, key=given.get) for _, given in rows] for name, rows in (("ours", good), ("theirs", bad))}
    expected = [label for label, _ in good]
    f1 = figures["F1, macro"]
    assert f1["value"] == pytest.approx(f1_score(expected, right["ours"], average="macro"))
    assert f1["baseline"] == pytest.approx(f1_score(expected, right["theirs"], average="macro"))
    assert f1["difference"]["value"] == pytest.approx(f1["value"] - f1["baseline"])
    assert f1["verdict"] == "better"
    assert [each["label"] for each in told_of["per_class"]] == ["billing", "contract", "other"]
    back = as_alice.get(f"/api/projects/{project.slug}/runs/{other.pk}/classes/beside/{run.pk}/").json()
    assert back["whole"][0]["verdict"] == "worse"


@pytest.mark.parametrize("others", [1, 4])
def test_another_result_beside_costs_the_same_however_many_there_are(
    project, as_alice, others, django_assert_max_num_queries
):
    run = scored(project, drawn(30))
    found = [start(run.version, scored_experiment(project, drawn(30), f"more {number}")) for number in range(others)]
    work("cpu")
    query = f"?beside={found[0].pk}"
    page_of(as_alice, run, query)
    with django_assert_max_num_queries(22):
        page_of(as_alice, run, query)


def test_the_average_beside_another_result_is_that_of_the_result_alone(project, as_alice):
    """A label that no case has and none is called takes no part in either."""
    declared = {"labels": ["billing", "contract", "never", "other"], "average": "macro"}
    run = scored(project, drawn(60), system="a", **declared)
    other = start(run.version, scored_experiment(project, drawn(60, seed=2), "b"))
    work("cpu")
    told_of = as_alice.get(f"/api/projects/{project.slug}/runs/{run.pk}/classes/beside/{other.pk}/").json()
    assert [each["label"] for each in told_of["per_class"]] == ["billing", "contract", "other"]
    found = classified(run, Asked()).found
    alone = {"Precision, macro": found.precision, "Recall, macro": found.recall, "F1, macro": found.f1}
    beside = {each["figure"]: each for each in told_of["whole"]}
    for name, figure in alone.items():
        assert beside[name]["value"] == pytest.approx(figure.value)
        assert beside[name]["value"] - beside[name]["baseline"] == pytest.approx(beside[name]["difference"]["value"])


def test_a_result_beside_itself_in_all_but_name_cannot_be_told_apart(project, as_alice):
    run, other = scored(project, drawn(30)), scored(project, drawn(30), system="assistant 2")
    told_of = as_alice.get(f"/api/projects/{project.slug}/runs/{run.pk}/classes/beside/{other.pk}/").json()
    assert {each["verdict"] for each in told_of["whole"]} == {"cannot tell"}


def test_only_results_of_the_same_evaluator_and_data_are_put_beside(project, as_alice):
    run = scored(project, ANIMALS)
    strange = judged(experiment_of(project, 3), version_of(project, "Facts"), [1.0, 0.0, 0.5])
    assert "There is no other result" in text_of(page_of(as_alice, run, f"?beside={strange.pk}"))
    address = f"/api/projects/{project.slug}/runs/{run.pk}/classes/beside/{strange.pk}/"
    assert as_alice.get(address).status_code == 404


# --- Files, API, hostile words ----------------------------------------------------------------------------------------
def test_files_tell_the_same(project, as_alice):
    run = scored(project, ANIMALS)
    address = reverse("run-classes-export", args=[project.slug, run.pk, "json"])
    found = json.loads(as_alice.get(address).content)
    assert set(found) == {"metrics", "roc_auc", "pr_curve", "detailed_pr_curve"}
    assert found["roc_auc"] == told(as_alice, run, "roc_auc")
    rows = list(csv.reader(io.StringIO(as_alice.get(address.replace(".json", ".csv")).content.decode())))
    assert rows[0] == ["label", "figure", "value", "low", "high", "outputs"]
    assert ["bird", "precision", "1.0"] in [row[:3] for row in rows]
    assert ["dog", "cat", "2"] in rows
    assert as_alice.get(address.replace(".json", ".xml")).status_code == 404


def test_the_api_says_what_it_cannot_tell(project, as_alice):
    run = scored(project, ANIMALS)
    address = f"/api/projects/{project.slug}/runs/{run.pk}/classes/"
    assert as_alice.get(address, {"tell": "fortunes"}).status_code == 400
    curves = told(as_alice, run, "curves", of="dog")
    assert curves["rows"] == [2, 6]
    assert curves["roc"]["area"]["value"] == 0.625
    unscored = judged(experiment_of(project, 3), version_of(project, "Facts"), [1.0, 0.0, 0.5])
    assert as_alice.get(address.replace(f"/{run.pk}/", f"/{unscored.pk}/")).status_code == 404


def test_labels_of_outputs_are_never_markup(project, as_alice):
    evil = "</script><b onclick=x>&\"'"
    run = scored(project, [(evil, {evil: 0.9, "=1+1": 0.1}), ("=1+1", {evil: 0.2, "=1+1": 0.8})])
    html = page_of(as_alice, run, "?at=0.5").content.decode()
    assert "<b onclick" not in html
    written = as_alice.get(reverse("run-classes-export", args=[project.slug, run.pk, "csv"])).content.decode()
    assert "'=1+1" in written


def test_a_stranger_finds_nothing(client, project, charlie):
    run = scored(project, ANIMALS)
    client.force_login(charlie)
    assert page_of(client, run).status_code == 404


def test_outputs_with_scores_of_no_use_are_unscored_with_a_sentence(project, as_alice):
    run = scored(project, [*ANIMALS[:2], ("bird", {"bird": "high"}), ("dog", {}), ("dog", None)])
    summary = columns([run])[0].summary
    assert (summary.counts["scored"], summary.counts["unscored"]) == (2, 3)
    assert "outputs.scores should be a number for each label." in text_of(as_alice.get(run.get_absolute_url()))
    assert Output.objects.count() == 5


def test_cases_with_several_outputs_widen_the_interval_of_a_difference(project, as_alice):
    def seen(first, second):
        address = f"/api/projects/{project.slug}/runs/{first.pk}/classes/beside/{second.pk}/"
        return as_alice.get(address).json()["whole"][0]["difference"]

    run = scored(project, drawn(60, skill=0.6, seed=1))
    other = scored(project, drawn(60, skill=0.2, seed=2), system="assistant 2")
    once = seen(run, other)
    for each in (run, other):
        for output in list(Output.objects.filter(experiment=each.experiment).select_related("body")):
            again = Output.objects.create(
                experiment=each.experiment, case=output.case, attempt=1, content_hash=output.content_hash
            )
            OutputBody.objects.create(output=again, outputs=output.body.outputs)
    runs = [start(each.version, each.experiment) for each in (run, other)]
    work("cpu")
    twice = seen(*map(fresh, runs))
    assert (twice["n"], twice["clusters"]) == (120, 60)
    assert twice["value"] == pytest.approx(once["value"])
    assert twice["high"] - twice["low"] == pytest.approx(once["high"] - once["low"], rel=0.05)  # nothing new is known
