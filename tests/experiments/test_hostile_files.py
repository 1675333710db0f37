"""Files that nobody would make by accident: each goes in, or is refused with a sentence."""

import gzip
import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evalstudio.projects.models import ApiToken, Scope
from experiments.datasets.importing.tasks import run_import
from experiments.models import Import, ImportState

GOOD = '{"id": "good", "inputs": {"a": "x"}, "outputs": {"value": "y"}}'


def beside_a_good_row(value):
    """A row with this JSON text as an input, as JSON Lines and in a JSON list, beside one that is in order."""
    row = '{"id": "odd", "inputs": {"a": ' + value + "}}"
    return {"jsonl": f"{row}\n{GOOD}".encode(), "json": f"[{row}, {GOOD}]".encode()}


VALUES = {
    "not a number": "NaN",
    "an infinity": "1e400",
    "thousands of digits": "9" * 5_000,
    "beyond 64 bits": "9" * 30,
    "half a character": '"\\ud800"',
    "a NUL": '"a\\u0000b"',
    "deep": "[" * 500 + "]" * 500,
    "deeper": "[" * 20_000 + "]" * 20_000,
    "unclosed": "[" * 20_000,
}
FILES = {
    f"{name}.{form}": data for name, value in VALUES.items() for form, data in beside_a_good_row(value).items()
} | {
    "open.json": b"[" * 100_000,
    "nul.csv": b"id,question\n1,a\0b\n2,c\n",
    "nul in a name.csv": b"id,que\0stion\n1,a\n",
    "nul in a name.jsonl": b'{"id": "1", "in\\u0000puts": {"a\\u0000": 1}}\n{"id": "2", "inputs": {"a": "x"}}',
    "odd names.jsonl": b'{"id": "1", "inputs": {"__proto__": 1, "a.b": {"c": 1}, "": 2, " ": 3, "a\\"b": 4}}',
    "figures.csv": ("id,question,latency_ms\n1,a," + "9" * 5_000 + "\n2,b,1e400\n3,c,nan\n4,d,-1\n").encode(),
    "columns.csv": b",".join(b"c%d" % number for number in range(5_000)) + b"\n1\n",
    "a long name.csv": b"id," + b"x" * 100_000 + b"\n1,2\n",
    "an open quote.csv": b'id,a\n1,"' + b"x" * 2_000_000,
    "quotes.csv": b'"' * 1_000_000,
    "commas.csv": b"," * 1_000_000,
    "blanks.csv": b" " * 1_000_000 + b"a",
    "all delimiters.csv": b";,|\t" * 100_000 + b"\n1",
    "a bomb.csv.gz": gzip.compress(b"id,question\n" + b"1,aaaaaaaaaaaaaaaaaaaaaa\n" * 10_000_000, 1),
    "cut off.csv.gz": gzip.compress(b"id,question\n1,a\n")[:-4],
    "packed twice.csv.gz": gzip.compress(gzip.compress(b"id,question\n1,a\n")),
    "numbers.json": b"[1, 2, 3]",
    "odd shapes.json": b'[{"id": "1", "inputs": 1}, {"id": "2", "inputs": {"a": 1}}, {"id": "3", "inputs": [1]}]',
    "odd steps.jsonl": b'{"id": "1", "inputs": {"a": 1}, "steps": "x", "tokens_in": 1e30, "outputs": {"value": 1}}',
    "markup.csv": b"id,<script>\n1,<b>\n",
    "../../elsewhere/'\"<b>\n.csv": b"id,question\n1,a\n",
    "x" * 400 + ".csv": b"id,question\n1,a\n",
}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def files_of_the_test(settings, tmp_path):
    files = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": files}


def upload(name):
    file = SimpleUploadedFile("file", FILES[name])
    file._name = name  # what a client may send, which the class would tidy up
    return file


@pytest.mark.parametrize("name", FILES, ids=[name[:30] for name in FILES])
def test_over_the_api_it_goes_in_or_is_refused_by_field(client, alice, project, name):
    _, secret = ApiToken.issue(project, alice, "import", Scope.WRITE)
    reply = client.post(
        f"/api/projects/{project.slug}/imports/",
        {"file": upload(name), "dataset": "odd", "system": "odd"},
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert reply.status_code in (201, 400)
    if reply.status_code == 400:
        assert all(error["message"] for error in reply.json()["errors"])
        return
    run_import(reply.json()["id"])
    job = Import.objects.get()
    assert job.state in (ImportState.DONE, ImportState.FAILED)
    assert job.state == ImportState.DONE or job.failure
    _look_around(client, alice, project, job)


def _look_around(client, alice, project, job):
    """Every page that shows what went in."""
    client.force_login(alice)
    addresses = [reverse("dataset-list", args=[project.slug]), job.get_absolute_url()]
    addresses += [one.get_absolute_url() for one in (job.dataset, job.experiment) if one]
    addresses.append(reverse("bench-picker", args=[project.slug]))
    for address in addresses:
        page = client.get(address)
        assert page.status_code == 200
        assert "<script>\n" not in page.content.decode()


@pytest.mark.parametrize("name", FILES, ids=[name[:30] for name in FILES])
def test_on_the_page_it_is_mapped_or_refused(as_alice, project, name):
    reply = as_alice.post(reverse("import-new", args=[project.slug]), {"file": upload(name), "dataset": "odd"})
    assert reply.status_code in (302, 422)
    if reply.status_code == 302:
        assert as_alice.get(reply.url).status_code == 200
        assert as_alice.post(f"{reply.url}forecast/", {"target_0": "nonsense"}).status_code in (200, 422)


@pytest.mark.parametrize("depth", [20_000, 200_000])
def test_a_list_that_is_nested_without_end_takes_no_memory(as_alice, project, depth):
    """The parser would take a gigabyte for the first, and a hundred for the second."""
    file = SimpleUploadedFile("deep.json", b'[{"a": ' + b"[" * depth + b"]" * depth + b"}]")
    reply = as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "deep"})
    assert reply.status_code == 422
    assert "nested too deeply" in reply.content.decode()


def test_brackets_in_texts_are_no_depth(as_alice, project):
    texts = ("([{" * 100, '["' * 100, '\\"[' * 100, "[\\" * 99)
    rows = [{"id": f"{number}", "inputs": {"text": texts[number % 4][number % 3 :]}} for number in range(4_000)]
    file = SimpleUploadedFile("texts.json", json.dumps(rows).encode())
    reply = as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "texts"})
    assert reply.status_code == 302
