"""What columns are taken for, by their names and values."""

import pytest

from experiments.datasets.importing.columns import BadValue, ColumnType, columns_of, read_as, type_of_cells
from experiments.datasets.importing.guess import targets_for


def guesses(row, *, typed=True):
    columns = columns_of([row], typed=typed)
    return {column.name: str(target) for column, target in zip(columns, targets_for(columns), strict=True)}


def test_known_objects_are_taken_apart():
    row = {"id": "a", "inputs": {"instruction": "Do"}, "outputs": {"value": "Done"}, "metadata": {"source": "web"}}
    assert guesses(row) == {
        "id": "key",
        "inputs": "ignore",
        "inputs.instruction": "inputs.instruction",
        "outputs": "ignore",
        "outputs.value": "outputs.value",
        "metadata": "ignore",
        "metadata.source": "metadata.source",
    }


def test_other_objects_stay_whole():
    assert guesses({"human": {"hallucination": "no", "spans": []}}) == {
        "human": "metadata.human",
        "human.hallucination": "ignore",
        "human.spans": "ignore",
    }


def test_plain_columns_go_by_their_names():
    row = {
        "Case ID": "7",
        "Question": "Why?",
        "context": "Because.",
        "expected_answer": "So.",
        "response": "Thus.",
        "split": "test",
        "latency_ms": "12",
        "prompt_tokens": "3",
        "error": "",
        "Customer tier": "gold",
    }
    assert guesses(row, typed=False) == {
        "Case ID": "key",
        "Question": "inputs.Question",
        "context": "inputs.context",
        "expected_answer": "expectedOutputs.value",
        "response": "outputs.value",
        "split": "split",
        "latency_ms": "latency_ms",
        "prompt_tokens": "tokens_in",
        "error": "ignore",
        "Customer tier": "metadata.Customer_tier",
    }


def test_dotted_headers_of_csv_say_it_themselves():
    row = {"key": "1", "inputs.question": "Why?", "expected_outputs.value": "So.", "output.value": "Thus."}
    assert list(guesses(row, typed=False).values()) == [
        "key",
        "inputs.question",
        "expectedOutputs.value",
        "outputs.value",
    ]


def test_no_target_is_given_twice():
    found = list(guesses({"id": 1, "key": 2, "answer": "a", "reference": "b", "output": "c", "response": "d"}).values())
    assert found == [
        "metadata.id",
        "key",
        "expectedOutputs.value",
        "expectedOutputs.reference",
        "outputs.value",
        "outputs.response",
    ]


def test_a_figure_that_holds_words_is_metadata():
    assert guesses({"id": "1", "latency_ms": "fast"}, typed=False)["latency_ms"] == "metadata.latency_ms"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-2.5", "3e4", ""], "number"),
        (["007", "012"], "text"),  # zip codes
        (["12345678901234567890"], "text"),  # an identifier would lose digits
        (["true", "No"], "boolean"),
        (['["a"]', '{"b": 1}'], "json"),
        (["[sic]", "[1]"], "text"),
        (["1", "one"], "text"),
        (["", " "], "empty"),
    ],
)
def test_types_of_cells(cells, kind):
    assert type_of_cells(cells) == kind


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (ColumnType.NUMBER, "12", 12),
        (ColumnType.NUMBER, " 1.5 ", 1.5),
        (ColumnType.NUMBER, 7, 7),
        (ColumnType.BOOLEAN, "Yes", True),
        (ColumnType.JSON, '["a"]', ["a"]),
        (ColumnType.TEXT, "12", "12"),
        (ColumnType.TEXT, {"a": 1}, '{"a":1}'),
        (ColumnType.AS_IS, {"a": 1}, {"a": 1}),
        (ColumnType.NUMBER, None, None),
    ],
)
def test_values_are_read_as_their_type(kind, value, read):
    assert read_as(kind, value) == read


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (ColumnType.NUMBER, "twelve", "“twelve” is not a number."),
        (ColumnType.NUMBER, "1e999", "“1e999” is not a number."),
        (ColumnType.NUMBER, "1_000", "“1_000” is not a number."),
        (ColumnType.NUMBER, "nan", "“nan” is not a number."),
        (ColumnType.NUMBER, True, "“true” is not a number."),
        (ColumnType.BOOLEAN, "maybe", "“maybe” is neither true nor false."),
        (ColumnType.JSON, "[1,", "“[1,” is not JSON: "),
    ],
)
def test_values_of_another_type_say_so(kind, value, said):
    with pytest.raises(BadValue) as error:
        read_as(kind, value)
    assert str(error.value).startswith(said)
