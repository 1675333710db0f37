"""Reading files: what comes in as rows, what is a bad row, what is no file to read."""

import gzip
from io import BytesIO

import pytest

from experiments.datasets.importing import files, formats, preview, rows
from experiments.datasets.importing.files import Source
from experiments.datasets.importing.rows import BadFile, BadRow, Row


def read(content, name="file"):
    data = content.encode() if isinstance(content, str) else content
    shape = formats.recognise(Source(BytesIO(data)), name)
    return list(formats.rows(Source(BytesIO(data)), shape))


def values(content, name="file"):
    return [row.values for row in read(content, name)]


def refusal(content, name="file"):
    data = content.encode() if isinstance(content, str) else content
    try:
        files.check(BytesIO(data))
        preview.look(BytesIO(data), name)
        read(data, name)
    except BadFile as refused:
        return str(refused)
    raise AssertionError("It was read to its end.")


# --- CSV --------------------------------------------------------------------------------------------------------------
def test_csv_rows_have_the_names_of_the_header():
    assert values("id,question\n1,Why?\n2,How?\n") == [{"id": "1", "question": "Why?"}, {"id": "2", "question": "How?"}]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_csv_finds_its_delimiter(delimiter):
    content = f'id{delimiter}text\n1{delimiter}"a, b; c|d\te"\n2{delimiter}plain\n'
    assert values(content) == [{"id": "1", "text": "a, b; c|d\te"}, {"id": "2", "text": "plain"}]


def test_csv_cells_may_hold_line_ends_and_the_line_is_where_the_row_begins():
    rows_read = read('id,text\r\n1,"two\r\nlines"\r\n2,x\r\n')
    assert rows_read == [Row(2, {"id": "1", "text": "two\r\nlines"}), Row(4, {"id": "2", "text": "x"})]


def test_csv_without_its_byte_order_mark_has_the_first_name_clean():
    assert values(b"\xef\xbb\xbfid,text\n1,x\n") == [{"id": "1", "text": "x"}]


def test_csv_of_one_column_is_read():
    assert values("question\nWhy?\nHow?\n", "q.csv") == [{"question": "Why?"}, {"question": "How?"}]


def test_csv_leaves_out_empty_lines():
    assert values("id,text\n\n1,x\n,\n\n") == [{"id": "1", "text": "x"}]


def test_csv_may_begin_with_empty_lines():
    (row,) = read("\r\n\nid;text\n1;x\n", "x.csv")
    assert (row.line, row.values) == (4, {"id": "1", "text": "x"})


def test_csv_rows_of_another_width_are_bad_and_the_others_go_in():
    rows_read = read("id,text\n1,x\n2\n3,y,z\n4,w\n")
    assert [row.values["id"] for row in rows_read if isinstance(row, Row)] == ["1", "4"]
    assert [(row.line, row.reason) for row in rows_read if isinstance(row, BadRow)] == [
        (3, "This row has 1 cells, the header has 2."),
        (4, "This row has 3 cells, the header has 2."),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('"id,question\n1,Why?\n', "A quoted cell that begins here is never closed."),
        ('"id"s,question\n1,Why?\n', "A quoted cell is followed by more text."),
    ],
)
def test_a_csv_whose_header_cannot_be_read_is_refused(content, said):
    assert refusal(content).startswith(f"The header cannot be read. {said}")


def test_csv_says_which_quoted_cell_is_never_closed():
    bad = read('id,text\n1,x\n2,"never\nends\n')[-1]
    assert (bad.line, bad.reason) == (3, "A quoted cell that begins here is never closed.")


def test_csv_columns_need_different_names():
    assert refusal("id,text,text\n1,x,y\n") == "Two columns are called “text”. Rename one of them."


def test_csv_columns_without_a_name_get_their_number():
    assert values("id,\n1,x\n") == [{"id": "1", "column 2": "x"}]


def test_csv_with_a_header_alone_has_no_rows():
    assert refusal("id,question\n") == "The file has no rows."


def test_csv_with_carriage_returns_alone_is_refused():
    assert "carriage return" in refusal("id,text\r1,x\r2,y\r")


# --- JSON Lines -------------------------------------------------------------------------------------------------------
def test_jsonl_lines_that_are_no_objects_are_bad_rows():
    rows_read = read('{"id": 1}\n{"id": \n[1]\n\n"text"\n{"id": 2}\r\n', "x.jsonl")
    assert [row.line for row in rows_read] == [1, 2, 3, 5, 6]
    assert [row.values for row in rows_read if isinstance(row, Row)] == [{"id": 1}, {"id": 2}]
    assert rows_read[1].reason.startswith("This is not JSON: ")
    assert rows_read[2].reason == "This is not a JSON object in { }."


def test_a_row_past_the_limit_costs_itself_and_no_other(monkeypatch):
    for module in ("rows", "files", "jsonl", "csv"):
        monkeypatch.setattr(f"experiments.datasets.importing.{module}.MAX_ROW_BYTES", 100)
    long = "x" * 1000
    rows_read = read(f'{{"a": 1}}\n{{"a": "{long}"}}\n{{"a": 2}}\n')
    assert [(row.line, isinstance(row, Row)) for row in rows_read] == [(1, True), (2, False), (3, True)]
    assert rows_read[1].reason == rows.TOO_LONG
    rows_read = read(f"id,text\n1,x\n2,{long}\n3,y\n", "x.csv")
    assert [(row.line, isinstance(row, Row)) for row in rows_read] == [(2, True), (3, False), (4, True)]


def test_nan_and_lone_surrogates_are_not_json():
    assert [type(row) for row in read('{"a": 1}\n{"a": NaN}\n{"a": "\\ud800"}\n')] == [Row, BadRow, BadRow]


# --- JSON -------------------------------------------------------------------------------------------------------------
def test_json_items_are_counted():
    assert read('[{"a": 1.5},\n 7, {"a": {"b": [1]}}]') == [
        Row(1, {"a": 1.5}),
        BadRow(2, "This item is not an object in { }."),
        Row(3, {"a": {"b": [1]}}),
    ]


def test_json_that_breaks_off_cannot_be_read():
    items = ", ".join('{"a": 1}' for _ in range(30_000))
    assert refusal(f"[{items}, ").startswith("The JSON cannot be read after item 30000: parse error: premature EOF")


def test_one_json_object_is_no_list_of_rows():
    said = "The file is one JSON object. Give a list [ ] of objects, or one object { } a line."
    assert refusal('{\n  "a": 1,\n  "b": 2\n}\n', "data.json") == said


def test_an_empty_json_list_has_no_rows():
    assert refusal("[]") == "The file has no rows."


def test_json_of_another_kind_is_refused_by_its_name():
    assert refusal('"just text"', "data.json").startswith("This is not JSON")


def test_an_item_that_never_ends_is_not_read_into_memory(monkeypatch):
    monkeypatch.setattr("experiments.datasets.importing.json.MAX_ROW_BYTES", 10_000)
    assert refusal('[{"a": "' + "x" * 300_000 + '"}]').startswith("The list holds an item that is too long.")


# --- Files ------------------------------------------------------------------------------------------------------------
def test_gzip_is_unpacked():
    assert values(gzip.compress(b'{"a": 1}\n{"a": 2}\n'), "x.jsonl.gz") == [{"a": 1}, {"a": 2}]


def test_damaged_gzip_is_refused():
    assert refusal(gzip.compress(b'{"a": 1}\n' * 5000)[:-20]) == "The gzip file is damaged or cut off. Pack it again."


def test_gzip_may_not_unpack_to_more_than_the_limit(settings):
    settings.IMPORT_MAX_BYTES = 2 * 1024 * 1024
    bomb = gzip.compress(b'{"a": 1}\n' * 1_000_000)
    assert len(bomb) < settings.IMPORT_MAX_BYTES
    assert refusal(bomb) == "Unpacked, the file has more than 2 MB. Split the file into several."


@pytest.mark.parametrize("content", [b"", b"   \n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(content):
    assert refusal(content) == "The file is empty."


def test_text_that_is_not_utf8_is_refused_with_its_line():
    assert (
        refusal("id,text\n1,ok\n2,caf\xe9\n".encode("latin-1")) == "Line 3 is not UTF-8 text. Save the file as UTF-8."
    )


def test_a_wrong_byte_far_down_is_found_with_its_line():
    content = b'{"a": "\xc3\xa9"}\n' * 200_000 + b'{"a": "\xe9"}\n'
    assert refusal(content).startswith("Line 200001 is not UTF-8")


def test_a_file_that_ends_within_a_character_is_refused():
    assert refusal(b"id,text\n1,caf\xc3").startswith("Line 2 is not UTF-8")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"PK\x03\x04....", "Excel workbook"),
        (b"PAR1....", "Parquet"),
        ("id,text\n1,x\n".encode("utf-16"), "UTF-16"),
        ("id,text\n1,x\n".encode("utf-16-le"), "UTF-16"),
        (bytes(range(256)), "UTF-8"),
    ],
)
def test_what_is_no_text_is_refused_by_name(content, what):
    assert what in refusal(content)
