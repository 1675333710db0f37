"""What an import does to a dataset and its experiments, and what is left when it is interrupted."""

import pytest

from experiments.datasets.importing import reading, running
from experiments.datasets.importing.effects import Effect, reported
from experiments.datasets.importing.foretelling import foretell
from experiments.datasets.importing.starting import ImportRefused
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Experiment, Import, Output
from tests.experiments.importing import bring, cases_of, jsonl, waiting

CASES = jsonl(
    {"id": "a", "inputs": {"question": "Why?"}, "metadata": {"tier": "gold"}},
    {"id": "b", "inputs": {"question": "How?"}, "metadata": {"tier": "tin"}},
)
ANSWERS = jsonl(*({"id": key, "outputs": {"value": f"answer {key}"}} for key in "ab"))
EXPECTED = {"targets": {"outputs.value": "expectedOutputs.value"}}


def said(job):
    return " ".join(reported(Effect.of(job)))


# --- Cases ------------------------------------------------------------------------------------------------------------
def test_a_file_makes_the_first_version_of_a_new_data_set(project):
    job = bring(project, CASES)
    assert said(job) == "Added 2 cases to “questions” as version 1."
    cases = cases_of(job.dataset)
    assert list(cases) == ["a", "b"]
    assert (cases["a"].inputs, cases["a"].expected_outputs, cases["a"].metadata) == (
        {"question": "Why?"},
        None,
        {"tier": "gold"},
    )
    version = DatasetVersion.objects.get()
    assert (version.number, version.n_cases, version.note) == (1, 2, "Import of cases.jsonl")


def test_the_same_file_again_changes_nothing_and_makes_no_version(project):
    bring(project, CASES)
    job = bring(project, CASES)
    assert said(job) == "Nothing changed: version 1 of “questions” has all of this already."
    assert (job.counts["unchanged"], job.version_number) == (2, None)
    assert DatasetVersion.objects.count() == 1


def test_a_second_file_adds_expected_outputs_by_key_and_the_old_version_stays(project):
    dataset = bring(project, CASES).dataset
    job = bring(project, ANSWERS, **EXPECTED)
    assert said(job) == "Changed 2 cases in “questions”, as version 2."
    assert cases_of(dataset)["a"].expected_outputs == {"value": "answer a"}
    assert cases_of(dataset)["a"].inputs == {"question": "Why?"}
    assert cases_of(dataset, 1)["a"].expected_outputs is None
    assert list(cases_of(dataset)) == ["a", "b"]


def test_names_that_a_file_is_silent_about_stay(project):
    dataset = bring(project, CASES).dataset
    bring(project, jsonl({"id": "a", "metadata": {"lang": "en"}}))
    assert cases_of(dataset)["a"].metadata == {"tier": "gold", "lang": "en"}
    assert cases_of(dataset)["b"].metadata == {"tier": "tin"}


def test_new_and_changed_cases_come_in_one_version_and_new_ones_go_last(project):
    dataset = bring(project, CASES).dataset
    job = bring(
        project, jsonl({"id": "c", "inputs": {"question": "Who?"}}, {"id": "a", "inputs": {"question": "When?"}})
    )
    assert said(job) == "Added 1 case and changed 1 in “questions”, as version 2."
    assert [(key, case.inputs["question"]) for key, case in cases_of(dataset).items()] == [
        ("a", "When?"),
        ("b", "How?"),
        ("c", "Who?"),
    ]


def test_content_that_comes_back_keeps_its_row(project):
    dataset = bring(project, CASES).dataset
    bring(project, jsonl({"id": "a", "inputs": {"question": "When?"}}))
    bring(project, CASES)
    assert cases_of(dataset)["a"] == cases_of(dataset, 1)["a"]
    assert Case.objects.filter(key="a").count() == 2


def test_without_a_key_the_same_inputs_are_the_same_case(project):
    content = "question,answer\nWhy?,Because.\nHow?,So.\n"
    dataset = bring(project, content, "q.csv").dataset
    job = bring(project, content.replace("So.", "Thus."), "q.csv")
    assert (job.counts["unchanged"], job.counts["changed"]) == (1, 1)
    assert [case.expected_outputs["value"] for case in cases_of(dataset).values()] == ["Because.", "Thus."]


def test_empty_cells_are_left_out_except_among_the_outputs(project):
    content = "id,question,answer,response\n1,Why?,,\n"
    job = bring(project, content, "q.csv", system="bot", targets={"answer": "expectedOutputs.value"})
    assert cases_of(job.dataset)["1"].expected_outputs is None
    job = bring(project, content, "q.csv", system="bot", targets={"response": "outputs.value"})
    assert Output.objects.get().body.outputs == {"value": ""}


def test_a_column_can_be_read_as_another_type(project):
    content = 'id,question,sources\n007,Why?,"[""a""]"\n'
    dataset = bring(project, content, "q.csv").dataset
    assert cases_of(dataset)["007"].metadata == {"sources": ["a"]}
    bring(project, content, "q.csv", types={"sources": "text"})
    assert cases_of(dataset)["007"].metadata == {"sources": '["a"]'}


def test_a_split_is_kept_with_the_case(project):
    dataset = bring(project, "id,question,split\n1,Why?,test\n2,How?,\n", "q.csv").dataset
    assert [case.split for case in cases_of(dataset).values()] == ["test", ""]


# --- Bad rows ---------------------------------------------------------------------------------------------------------
def test_bad_rows_are_listed_with_line_field_and_reason_while_good_ones_go_in(project):
    content = jsonl(
        {"id": "a", "inputs": {"question": "Why?"}, "latency_ms": 5, "output": "x"},
        {"id": "", "inputs": {"question": "How?"}, "latency_ms": 5, "output": "x"},
        {"id": "a", "inputs": {"question": "Who?"}, "latency_ms": 5, "output": "x"},
        {"id": "b", "inputs": {"question": "Who?"}, "latency_ms": "soon", "output": "x"},
        {"id": "c", "inputs": {"question": "nul \0"}, "latency_ms": 5, "output": "x"},
        {"id": "d", "latency_ms": 5, "output": "x"},
        {"id": [1], "inputs": {"question": "Who?"}, "latency_ms": 5, "output": "x"},
        {"id": "e", "inputs": {"question": "Who?"}, "latency_ms": -5, "output": "x"},
        {"id": "f" * 201, "inputs": {"question": "Who?"}, "latency_ms": 5, "output": "x"},
    )
    job = bring(project, content + "{broken\n", system="bot")
    assert said(job) == (
        "Added 1 case to “questions” as version 1. Made an experiment of “bot” with 1 output. 9 rows did not go in."
    )
    assert [(bad["line"], bad["field"], bad["reason"]) for bad in job.row_errors] == [
        (2, "id", "The key is empty."),
        (3, "id", "An earlier row has the key “a” already."),
        (4, "latency_ms", "“soon” is not a number."),
        (5, "", "This row holds a NUL character."),
        (6, "", "No case has the key “d”, and this row has no inputs to make one."),
        (7, "id", "A key is text or a number."),
        (8, "latency_ms", "-5 is below zero."),
        (9, "id", f"The key “{'f' * 39}…” is longer than 200 characters."),
        (10, "", job.row_errors[-1]["reason"]),
    ]


def test_only_the_first_bad_rows_are_kept_but_all_are_counted(project):
    content = CASES + "{broken\n" * 300
    job = bring(project, content)
    assert (job.counts["bad"], len(job.row_errors)) == (300, 200)


def test_deep_data_is_a_bad_row_in_every_format(project):
    deep = "[" * 400 + "]" * 400
    rows = f'{{"id": "a", "inputs": {{"q": {deep}}}}}'
    job = bring(project, f"{rows}\n" + CASES)
    assert (job.counts["bad"], job.row_errors[0]["reason"]) == (1, "This row is nested more than 100 levels deep.")
    items = ", ".join(CASES.replace('"a"', '"c"').split("\n")[:2])
    job = bring(project, f"[{rows}, {items}]", "cases.json", dataset="other")
    assert (job.counts["bad"], job.counts["added"]) == (1, 2)


def test_nothing_that_a_database_refuses_is_stored_with_the_import(project):
    odd = {"id": "a\0b", "inputs": {"q": "\0"}, "nul\0name": 1, "x" * 300: 1, "": 1}
    job = bring(project, CASES + jsonl(odd, {**odd, "id": "c"}, {**odd, "id": 1, "inputs": {"q": 1}}), system="bot")
    assert [bad["reason"] for bad in job.row_errors] == [
        "The key holds a line end or another control character.",
        "This row holds a NUL character.",
    ]
    assert job.counts["unmapped"] == {"nul�name": 3, "x" * 99 + "…": 3, "": 3}
    stored = Import.objects.values_list("options", "row_errors", "counts").get()
    assert "\\x00" not in repr(stored)


def test_outputs_for_unknown_keys_are_bad_rows(project):
    bring(project, CASES)
    job = bring(project, ANSWERS + jsonl({"id": "z", "outputs": {"value": "?"}}), system="bot")
    assert [bad["reason"] for bad in job.row_errors] == [
        "No case has the key “z”, and this row has no inputs to make one."
    ]
    assert job.counts["with_output"] == 2


def test_a_file_without_a_good_row_leaves_no_data_set_behind(project):
    job = bring(project, jsonl({"id": "a", "metadata": {"tier": "gold"}}))
    assert said(job) == "Nothing went into “questions”. 1 row did not go in."
    assert not Dataset.objects.exists()


def test_names_that_turn_up_later_are_told_of(project, monkeypatch):
    monkeypatch.setattr("experiments.datasets.importing.preview.LOOKED_AT_ROWS", 2)
    job = bring(project, CASES + jsonl({"id": "c", "inputs": {"question": "Who?", "tone": "kind"}, "note": "late"}))
    assert job.counts["unmapped"] == {"note": 1, "inputs.tone": 1}


# --- Outputs ----------------------------------------------------------------------------------------------------------
def test_outputs_become_an_experiment_of_the_latest_version(project):
    bring(project, CASES)
    job = bring(
        project,
        jsonl(
            {"id": "a", "response": "So.", "latency_ms": 12.5, "cost_usd": 0.01, "input_tokens": 3, "output_tokens": 4},
            {"id": "b", "error": "timed out", "steps": [{"name": "search"}]},
        ),
        system="bot",
    )
    assert (
        said(job)
        == "The cases of “questions” stayed as they are in version 1. Made an experiment of “bot” with 2 outputs."
    )
    experiment = Experiment.objects.get()
    assert experiment == job.experiment
    assert (experiment.system.name, experiment.dataset_version.number, experiment.source) == ("bot", 1, "file")
    first, second = Output.objects.order_by("pk")
    assert (
        first.case.key,
        first.body.outputs,
        first.latency_ms,
        first.cost_usd,
        first.tokens_in,
        first.tokens_out,
    ) == (
        "a",
        {"value": "So."},
        12.5,
        0.01,
        3,
        4,
    )
    assert (second.error, second.body.outputs, second.body.steps) == ("timed out", None, [{"name": "search"}])


def test_cases_and_outputs_come_from_one_file(project):
    job = bring(project, "id,question,answer,response\n1,Why?,So.,Thus.\n", "q.csv", system="bot")
    assert said(job) == "Added 1 case to “questions” as version 1. Made an experiment of “bot” with 1 output."
    output = Output.objects.get()
    assert (output.case.expected_outputs, output.body.outputs) == ({"value": "So."}, {"value": "Thus."})


def test_the_same_outputs_again_make_no_second_experiment_in_whatever_order(project):
    bring(project, CASES)
    first = bring(project, ANSWERS, system="bot")
    again = bring(project, "\n".join(reversed(ANSWERS.strip().split("\n"))), system="bot")
    assert "has the same 2 outputs" in said(again)
    assert again.experiment == first.experiment
    assert Experiment.with_arriving.count() == 1


def test_other_outputs_another_system_or_a_new_version_make_another_experiment(project):
    bring(project, CASES)
    bring(project, ANSWERS, system="bot")
    bring(project, ANSWERS.replace("answer a", "another"), system="bot")
    bring(project, ANSWERS, system="parrot")
    bring(project, jsonl({"id": "a", "metadata": {"lang": "en"}}))
    bring(project, ANSWERS, system="bot")
    assert [(one.system.name, one.dataset_version.number) for one in Experiment.objects.order_by("pk")] == [
        ("bot", 1),
        ("bot", 1),
        ("parrot", 1),
        ("bot", 2),
    ]


# --- Refusals ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("content", "options", "errors"),
    [
        (ANSWERS, {}, {"system": ["Name the system that made the outputs."]}),
        (CASES, {"dataset": " "}, {"dataset": ["Name the dataset."]}),
        (CASES, {"targets": {"idd": "key"}}, {"": ["There is no column “idd”. Did you mean “id”?"]}),
        (
            ANSWERS,
            {"system": "bot", "targets": {"id": "ignore"}},
            {"": ["Choose which column is the key: without inputs, only a key ties a row to a case."]},
        ),
        (
            CASES,
            {"targets": {"id": "ignore", "inputs.question": "ignore", "metadata.tier": "ignore"}},
            {"": ["Nothing of the file goes in. Choose what at least one column becomes."]},
        ),
        (
            CASES,
            {"targets": {"metadata.tier": "inputs.question"}},
            {"target_4": ["“inputs.question” becomes inputs.question already."]},
        ),
        (
            CASES,
            {"targets": {"metadata.tier": "inputs.two words"}},
            {"name_4": ["“two words” is no name. Use letters, digits, _ and -."]},
        ),
        (CASES, {"targets": {"metadata.tier": "inputs"}}, {"name_4": ["Name it, as in inputs.tier."]}),
        (b"\xff\xfe", {}, {"file": ["This is UTF-16 text. Save it as UTF-8."]}),
    ],
)
def test_what_cannot_be_imported_is_refused_with_a_sentence(project, content, options, errors):
    with pytest.raises(ImportRefused) as refused:
        waiting(project, content, **options)
    assert refused.value.errors == errors
    assert not Import.objects.exists()


def test_a_file_past_the_limit_is_refused(project, settings):
    settings.IMPORT_MAX_BYTES = 1024 * 1024
    with pytest.raises(ImportRefused) as refused:
        waiting(project, CASES * 20_000)
    assert refused.value.errors == {"file": ["The file has more than 1 MB. Split the file into several."]}


# --- Forecast ---------------------------------------------------------------------------------------------------------
def test_the_forecast_says_what_the_import_then_does(project):
    bring(project, CASES)
    job = waiting(
        project, jsonl({"id": "c", "inputs": {"question": "Who?"}}, {"id": "a", "output": "x"}, {}), system="bot"
    )
    forecast = foretell(job, {})
    assert forecast.sentence() == (
        "Adds 1 case to “questions” as version 2. Makes an experiment of “bot” with 1 output. 1 row cannot go in."
    )
    assert (forecast.first_bad.line, forecast.first_bad.reason) == (3, "The key is empty.")
    assert CaseSpan.objects.count() == 2
    running.run(job.pk)
    job.refresh_from_db()
    assert said(job).startswith("Added 1 case to “questions” as version 2. Made an experiment of “bot” with 1 output.")


def test_the_forecast_of_a_long_file_goes_by_its_start(project, monkeypatch):
    monkeypatch.setattr("experiments.datasets.importing.foretelling.LOOKED_AT_BYTES", 1000)
    monkeypatch.setattr(reading, "BATCH_ROWS", 50)
    job = waiting(project, jsonl(*({"id": n, "inputs": {"question": "?"}} for n in range(200))))
    assert foretell(job, {}).sentence() == "Going by the first 50 rows: Adds 50 cases to “questions” as version 1."
