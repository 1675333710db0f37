"""`manage.py import`: the same import on the command line, and under a real kill."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from experiments.models import Dataset, Experiment
from tests.experiments.importing import cases_of, jsonl

N_KILLED = 8000
ROOT = Path(__file__).resolve().parents[2]
ROWS = jsonl(*({"id": n, "inputs": {"question": f"q{n}"}, "output": f"o{n}"} for n in range(3)))


@pytest.fixture
def bring(project, tmp_path):
    """bring(content, *options) → what the command printed to stdout and stderr."""

    def run(content, *options, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text(content)
        out, err = StringIO(), StringIO()
        arguments = ["--project", project.slug, "--dataset", "questions", *options]
        call_command("import", str(path), *arguments, stdout=out, stderr=err)
        return out.getvalue(), err.getvalue()

    return run


def test_it_imports_and_reports(bring):
    out, err = bring(ROWS, "--system", "bot")
    assert "  3 rows, 100 %" in out
    assert "Added 3 cases to “questions” as version 1. Made an experiment of “bot” with 3 outputs." in out
    assert err == ""
    assert Experiment.objects.get().system.name == "bot"


def test_columns_and_types_can_be_named(bring):
    bring(
        "id,note,n\n1,Why?,07\n",
        "--map",
        "note=inputs.question",
        "--map",
        "n=metadata.n",
        "--type",
        "n=number",
        name="x.csv",
    )
    case = cases_of(Dataset.objects.get())["1"]
    assert (case.inputs, case.metadata) == ({"question": "Why?"}, {"n": 7})


def test_bad_rows_go_to_stderr_with_their_line(bring):
    out, err = bring(ROWS + "{\n", "--map", "output=metadata.output")
    assert "1 row did not go in." in out
    assert err.startswith("  line 4: This is not JSON")


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (ROWS, [], "system: Name the system that made the outputs."),
        ("", [], "file: The file is empty."),
        (ROWS, ["--map", "outptu=ignore"], "There is no column “outptu”. Did you mean “output”?"),
        (ROWS, ["--map", "output"], "--map takes COLUMN=VALUE, not “output”."),
        (ROWS, ["--project", "nowhere"], "There is no project “nowhere”. There are: support."),
        (jsonl({"id": 1, "metadata": {"a": 1}}), [], "No row could go in."),
    ],
)
def test_failures_are_sentences(bring, content, options, said):
    with pytest.raises(CommandError) as error:
        bring(content, *options)
    assert said in str(error.value)


def test_a_file_that_is_not_there_is_named(project):
    with pytest.raises(CommandError, match="/no/such/file: No such file or directory"):
        call_command("import", "/no/such/file", project=project.slug, dataset="questions")


@pytest.mark.slow
def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path):
    """A real process, killed twice without warning; the third start finishes what the first began."""
    rows = [{"id": n, "inputs": {"q": "word " * 40 + str(n)}, "output": f"o{n}"} for n in range(N_KILLED)]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    environment = {**os.environ, "EVALSTUDIO_DATA": str(tmp_path), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    environment.pop("DATABASE_URL", None)

    def manage(*arguments):
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def ask(sql):
        with sqlite3.connect(tmp_path / "evalstudio.sqlite3", timeout=20) as database:
            return database.execute(sql).fetchone()

    def python(code):
        ended = manage("shell", "-v", "0", "-c", code)
        said = ended.communicate(timeout=120)[0].decode()
        assert ended.returncode == 0, said

    python(
        "from django.core.management import call_command; call_command('migrate', verbosity=0);"
        "from evalstudio.projects.models import *; Project.start('Support', User.objects.create_user('alice'))"
    )
    first = manage("import", str(file), "--project", "support", "--dataset", "d", "--system", "bot")
    resume = (
        "from django.utils import timezone; from experiments.models import Import; from experiments.datasets.importing"
        " import running; Import.objects.update(lease_until=timezone.now()); running.run(Import.objects.get().pk)"
    )
    for process, least in ((first, 1500), (None, 4000)):
        process = process or manage("shell", "-v", "0", "-c", resume)
        while process.poll() is None:
            if (ask("SELECT read_to FROM experiments_import") or (0,))[0] >= least:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert ask("SELECT state FROM experiments_import") == ("running",)
    python(resume)
    assert ask("SELECT state, version_number FROM experiments_import") == ("done", 1)
    assert ask("SELECT count(*), count(DISTINCT key), max(added_in) FROM experiments_casespan") == (
        N_KILLED,
        N_KILLED,
        1,
    )
    assert ask("SELECT count(*), count(DISTINCT case_id) FROM experiments_output") == (N_KILLED, N_KILLED)
    assert ask("SELECT count(*) FROM experiments_outputbody") == (N_KILLED,)
    assert ask("SELECT count(*) FROM experiments_experiment WHERE NOT is_arriving") == (1,)
