"""A project with an experiment in an empty database, made directly, for measurements of what comes after."""

from __future__ import annotations

from typing import Any

from evalstudio.calls.models import Connection
from evalstudio.projects.models import Project
from evaluators.kinds import get_kind
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Experiment, Output, OutputBody, System


def make_project(name: str = "benchmark") -> Project:
    return Project.objects.create(name=name, slug=name)


def make_connection(project: Project, url: str, slots: int) -> Connection:
    return Connection.objects.create(project=project, name="endpoint", base_url=url, model="bench", max_in_flight=slots)


def make_evaluator(project: Project, kind: str, config: dict[str, Any]) -> EvaluatorVersion:
    evaluator = Evaluator.objects.create(project=project, name=kind, kind=kind)
    return evaluator.revise(config, schema=get_kind(kind).schema, author=None)


def make_experiment(project: Project, answers: list[str]) -> Experiment:
    """One output for each answer; the expected output of every case is the same short text."""
    dataset = Dataset.objects.create(project=project, name="cases", latest_version=1)
    version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=len(answers))
    cases = Case.objects.bulk_create(
        Case(
            dataset=dataset,
            key=f"case-{i}",
            content_hash=str(i),
            inputs={"question": f"Question {i}?"},
            expected_outputs={"value": "A sentence of it."},
        )
        for i in range(len(answers))
    )
    CaseSpan.objects.bulk_create(
        CaseSpan(dataset=dataset, case=case, key=case.key, position=i, added_in=1) for i, case in enumerate(cases)
    )
    system = System.objects.create(project=project, name="system")
    experiment = Experiment.objects.create(project=project, system=system, dataset_version=version, source="file")
    outputs = Output.objects.bulk_create(
        Output(experiment=experiment, case=case, content_hash=case.content_hash) for case in cases
    )
    OutputBody.objects.bulk_create(
        OutputBody(output=output, outputs={"value": answer}) for output, answer in zip(outputs, answers, strict=True)
    )
    return experiment
