"""Outputs of a file on their way into an experiment that nobody sees before all of them are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from experiments.datasets.importing.mapping import OutputDraft
from experiments.datasets.inserting import insert, stored_json
from experiments.models import Dataset, DatasetVersion, Experiment, Import, Output, OutputBody, Source, System

STEP = 500
FIGURES = ("error", "latency_ms", "cost_usd", "tokens_in", "tokens_out")


class Answer(NamedTuple):
    case_id: int
    output: OutputDraft


def begin(job: Import, version: DatasetVersion) -> Experiment:
    """The hidden experiment that the outputs of an import arrive in."""
    system, _ = System.objects.get_or_create(project=job.project, name=job.options["system"])
    return Experiment.with_arriving.create(
        project=job.project,
        system=system,
        dataset_version=version,
        source=Source.FILE,
        is_arriving=True,
        author=job.author,
    )


def write(experiment: Experiment | None, answers: Sequence[Answer]) -> None:
    """Store outputs, at most STEP at once. Call it within a transaction."""
    if experiment is None or not answers:
        return
    outputs = [
        (experiment.pk, case_id, 0, output.digest, *(getattr(output, figure) for figure in FIGURES))
        for case_id, output in answers
    ]
    insert(Output, ("experiment", "case", "attempt", "content_hash", *FIGURES), outputs)
    stored = Output.objects.filter(experiment=experiment, case__in=[answer.case_id for answer in answers])
    ids = dict(stored.values_list("case_id", "pk"))
    bodies = [(ids[case_id], stored_json(output.outputs), stored_json(output.steps)) for case_id, output in answers]
    insert(OutputBody, ("output", "outputs", "steps"), bodies)


def same_experiment(dataset: Dataset, system: str, digest: str) -> Experiment | None:
    """The experiment that has just these outputs of the system, for the dataset as it is."""
    return Experiment.objects.filter(
        dataset_version__dataset=dataset,
        dataset_version__number=dataset.latest_version,
        system__name=system,
        outputs_digest=digest,
    ).first()


def arrive(experiment: Experiment, version: DatasetVersion, digest: str) -> None:
    """Let the experiment be seen, as one of this version. Call it within the transaction that ends the import."""
    experiment.dataset_version = version
    experiment.outputs_digest = digest
    experiment.is_arriving = False
    experiment.save(update_fields=["dataset_version", "outputs_digest", "is_arriving"])


def abandon(experiment: Experiment) -> None:
    """Delete an experiment that will not arrive, in short transactions, and its system where it has no other."""
    outputs = Output.objects.filter(experiment=experiment)
    for step in iter(lambda: list(outputs.values_list("pk", flat=True)[:STEP]), []):
        Output.objects.filter(pk__in=step).delete()
    experiment.delete()
    System.objects.filter(pk=experiment.system_id, experiment=None).delete()
