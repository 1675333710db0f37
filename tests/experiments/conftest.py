"""A stage for runs: an experiment with outputs, and two small kinds that the tests of the ledger evaluate with."""

from __future__ import annotations

import pytest

from evalstudio.calls.models import Connection
from evaluators.models import Evaluator
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Experiment, Output, OutputBody, System
from tests.experiments.prompted import ask, make_prompt, questions  # noqa: F401
from tests.experiments.small_kinds import SMALL_KINDS


@pytest.fixture
def small_kinds(monkeypatch):
    """Registers the kinds of `small_kinds` beside the product's own."""
    from evaluators import kinds

    for kind in SMALL_KINDS:
        monkeypatch.setitem(kinds.KINDS, kind.key, kind)


@pytest.fixture
def connection(project, chat_server):
    """A connection to the local chat server, which repeats what it is asked to."""
    chat_server.reply = lambda body: body["messages"][0]["content"].removeprefix("Repeat: ")
    connection = Connection(project=project, name="local", base_url=chat_server.url, model="tiny", max_in_flight=8)
    connection.key = "sk-right"
    connection.save()
    return connection


@pytest.fixture
def make_experiment(project):
    """make_experiment(30) → an experiment with thirty outputs, `{"value": "answer 0"}` and so on."""

    def make(n: int, name: str = "system") -> Experiment:
        dataset, _ = Dataset.objects.get_or_create(
            project=project, name=f"{n} questions", defaults={"latest_version": 1}
        )
        version, made = DatasetVersion.objects.get_or_create(dataset=dataset, number=1, defaults={"n_cases": n})
        if made:
            _add_cases(dataset, n)
        system, _ = System.objects.get_or_create(project=project, name=name)
        experiment = Experiment.objects.create(project=project, system=system, dataset_version=version, source="file")
        add_outputs(experiment)
        return experiment

    return make


def _add_cases(dataset: Dataset, n: int) -> None:
    Case.objects.bulk_create(
        Case(
            dataset=dataset,
            key=f"case-{i}",
            content_hash=f"{i}",
            inputs={"question": f"question {i}"},
            expected_outputs={"value": f"answer {i}"},
        )
        for i in range(n)
    )
    cases = Case.objects.filter(dataset=dataset).order_by("pk")
    CaseSpan.objects.bulk_create(
        CaseSpan(dataset=dataset, case=case, key=case.key, position=i, added_in=1) for i, case in enumerate(cases)
    )


def add_outputs(experiment: Experiment) -> None:
    """An output for every case that has none yet."""
    cases = Case.objects.filter(dataset=experiment.dataset_version.dataset).order_by("pk")
    missing = cases.exclude(output__experiment=experiment)
    outputs = Output.objects.bulk_create(
        Output(experiment=experiment, case=case, content_hash=case.content_hash) for case in missing
    )
    OutputBody.objects.bulk_create(
        OutputBody(output=output, outputs={"value": f"answer {output.case.key.removeprefix('case-')}"})
        for output in outputs
    )


@pytest.fixture
def make_version(project, alice):
    """make_version("length") → the first version of an evaluator of that kind, with this configuration."""

    def make(kind: str, **config):
        evaluator, _ = Evaluator.objects.get_or_create(
            project=project, name=f"{kind} {sorted(config.items())}", kind=kind
        )
        return evaluator.revise(config, schema=1, author=alice)

    return make
