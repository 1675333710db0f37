"""Outputs of a file on their way into an experiment that nobody sees before all of them are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from experiments.datasets.importing.mapping import Draft, OutputDraft
from experiments.datasets.inserting import insert, stored_json
from experiments.models import CaseSpan, Dataset, DatasetVersion, Experiment, Import, Output, OutputBody, Source, System

STEP = 500


class Answer(NamedTuple):
    case_id: int
    output: OutputDraft


def same_experiment(dataset: Dataset, system: str, digest: str) -> Experiment | None:
    """The experiment that has just these outputs of the system, for the dataset as it is."""
    return Experiment.objects.filter(
        dataset_version__dataset=dataset,
        dataset_version__number=dataset.latest_version,
        system__name=system,
        outputs_digest=digest,
    ).first()


def begin(job: Import) -> Experiment:
    """The hidden experiment that the outputs of an import arrive in."""
    system, _ = System.objects.get_or_create(project=job.project, name=job.options["system"])
    return Experiment.with_arriving.create(
        project=job.project,
        system=system,
        dataset_version=DatasetVersion.objects.get(dataset=job.dataset, number=job.dataset.latest_version),
        source=Source.FILE,
        is_arriving=True,
        outputs_digest=job.outputs_digest,
        author=job.author,
    )


def with_cases(dataset: Dataset, drafts: Iterable[Draft]) -> list[Answer]:
    """The outputs among the drafts with the ids of their cases, as they are in the latest version."""
    outputs = {draft.key: draft.output for draft in drafts if draft.output}
    spans = CaseSpan.objects.filter(dataset=dataset, key__in=list(outputs)).at(dataset.latest_version)
    cases = dict(spans.values_list("key", "case_id"))
    return [Answer(cases[key], output) for key, output in outputs.items() if key in cases]


def write(experiment: Experiment, answers: Sequence[Answer]) -> None:
    """Store outputs, at most STEP at once. Call it within a transaction."""
    figures = ("error", "latency_ms", "cost_usd", "tokens_in", "tokens_out")
    insert(
        Output,
        ("experiment", "case", "attempt", "content_hash", *figures),
        [
            (experiment.pk, case_id, 0, output.digest, *(getattr(output, figure) for figure in figures))
            for case_id, output in answers
        ],
    )
    stored = Output.objects.filter(experiment=experiment, case__in=[answer.case_id for answer in answers])
    ids = dict(stored.values_list("case_id", "pk"))
    insert(
        OutputBody,
        ("output", "outputs", "steps"),
        [(ids[case_id], stored_json(output.outputs), stored_json(output.steps)) for case_id, output in answers],
    )


def abandon(experiment: Experiment) -> None:
    """Delete an experiment that will not arrive, in short transactions."""
    outputs = Output.objects.filter(experiment=experiment)
    for step in iter(lambda: list(outputs.values_list("pk", flat=True)[:STEP]), []):
        Output.objects.filter(pk__in=step).delete()
    experiment.delete()
