"""A prompt over a data set of the stage: its system, its experiment, its run."""

from __future__ import annotations

import pytest

from experiments.ledger import answers
from experiments.ledger.asked import Asked
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Run
from experiments.outputs.judging import Judge
from experiments.outputs.prompt_versions import prompt_version
from experiments.outputs.prompting import Model, Recipe, Texts

TEXTS = Texts("You answer in {{ metadata.language }}.", "Repeat: {{ inputs.question }}")


@pytest.fixture
def questions(project):
    """questions(3) → the first version of a data set with three cases that have metadata."""

    def make(n: int, name: str = "questions") -> DatasetVersion:
        dataset = Dataset.objects.create(project=project, name=name, latest_version=1)
        version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=n)
        for i in range(n):
            add_case(dataset, f"case-{i}", i, split="easy" if i % 2 == 0 else "hard")
        return version

    return make


def add_case(dataset: Dataset, key: str, position: int, added_in: int = 1, split: str = "", **content) -> Case:
    given = {"inputs": {"question": f"question {position}"}, "metadata": {"language": "English"}, **content}
    expected = {"value": f"answer {position}"}
    case = Case.objects.create(
        dataset=dataset, key=key, content_hash=key, expected_outputs=expected, split=split, **given
    )
    CaseSpan.objects.create(dataset=dataset, case=case, key=key, position=position, added_in=added_in)
    return case


@pytest.fixture
def make_prompt(project, connection, alice, chat_server):
    """make_prompt() → a system that is a prompt, answered by the local chat server with what it is asked to repeat."""
    chat_server.reply = lambda body: body["messages"][-1]["content"].removeprefix("Repeat: ")

    def make(texts: Texts = TEXTS, title: str = "Parrot", model: str = "tiny", **parameters):
        return prompt_version(project, alice, title, Recipe(texts, Model(connection.pk, model, **parameters)))

    return make


@pytest.fixture
def ask(make_prompt, questions, alice):
    """ask(8, repeats=2) → the run of a prompt over eight cases, begun."""

    def begin(cases: int, *, judges=(), prompt=None, version=None, **asked) -> Run:
        chosen = {"prompt": prompt or make_prompt(), "version": version or questions(cases), "author": alice}
        run = answers.open_experiment(**chosen, asked=Asked(**asked), judges=[Judge(version) for version in judges])
        answers.begin(run)
        return run

    return begin
