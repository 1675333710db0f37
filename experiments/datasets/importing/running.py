"""Carrying an import out: the cases into the next version of the dataset, then the outputs into an experiment.

Every batch is one transaction that writes rows and moves `read_to` past them, so an import that was killed goes on
where it was. Cases are invisible until the version is published, outputs until the experiment has arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalstudio.projects.models import AuditEntry
from experiments.datasets.importing import arriving, leases
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.leases import Hold, LeaseLost
from experiments.datasets.importing.mapping import Mapping
from experiments.datasets.importing.merging import merge
from experiments.datasets.importing.reading import Batch, Reading
from experiments.datasets.importing.rows import BadFile, BadRow
from experiments.datasets.importing.tally import Tally
from experiments.datasets.versions import PendingVersion
from experiments.models import Experiment, Import, ImportState, Stage

MAX_TRIES = 3
KEPT_ERRORS = 200
Watch = Callable[[Import], None]


def run(pk: int, watch: Watch = lambda job: None) -> bool:
    """Carry the import out, or go on with it. False where it is not this worker's to run now.

    `watch` is called after each batch.
    """
    hold = leases.take(pk)
    if hold is None:
        return False
    job = Import.objects.select_related("dataset", "project", "author").get(pk=pk)
    try:
        _carry_out(hold, job, watch)
    except LeaseLost:
        return False
    return True


def _carry_out(hold: Hold, job: Import, watch: Watch) -> None:
    problem = _reason_to_stop(job)
    try:
        if not problem and job.stage == Stage.CASES:
            _read_cases(hold, job, watch)
        if not problem and job.stage == Stage.OUTPUTS:
            _read_outputs(hold, job, watch)
    except BadFile as error:
        problem = str(error)
    except FileNotFoundError:
        problem = "The uploaded file is no longer there. Upload it again."
    if problem:
        _fail(hold, job, problem)


def _reason_to_stop(job: Import) -> str:
    if job.failure:
        return job.failure  # it was interrupted while it was being taken back
    if job.dataset is None:
        return "The dataset was deleted meanwhile."
    if job.tries > MAX_TRIES:
        return f"Reading on after row {job.read_to:,} ended its worker {MAX_TRIES} times."
    return ""


def _reading(job: Import) -> Reading:
    shape = Shape(job.format, job.options["delimiter"])
    return Reading(job.file.open("rb"), shape, Mapping.load(job.options))


def _save_progress(hold: Hold, job: Import, batch: Batch, **changes: Any) -> None:
    hold.save(job, read_to=batch.last_row, bytes_read=batch.stored_read, tries=1, **changes)


# --- Cases ------------------------------------------------------------------------------------------------------------
def _read_cases(hold: Hold, job: Import, watch: Watch) -> None:
    reading, pending = _reading(job), PendingVersion(job.dataset)
    tally = Tally.load(job.counts, job.outputs_digest)
    with job.file:
        for batch in reading.batches(after_row=job.read_to):
            merged = merge(batch.drafts, pending.dataset, reading.mapping)
            tally = tally.plus(batch, merged)
            found = {
                "counts": tally.counts() | {"unmapped": dict(reading.strangers.counts)},
                "row_errors": _first_errors(job.row_errors, batch.bad + merged.bad),
                "outputs_digest": tally.digest,
            }
            with transaction.atomic():
                pending.write(merged.changes)
                _save_progress(hold, job, batch, **found)
            watch(job)
    _publish(hold, job, pending)


def _first_errors(errors: list[dict[str, Any]], bad: Iterable[BadRow]) -> list[dict[str, Any]]:
    in_order = sorted(bad, key=lambda row: row.line)
    return [*errors, *(asdict(row) for row in in_order)][:KEPT_ERRORS]


def _publish(hold: Hold, job: Import, pending: PendingVersion) -> None:
    has_changes = job.counts.get("added") or job.counts.get("changed")
    with transaction.atomic():
        number = pending.publish(job.author, f"Import of {job.file_name}").number if has_changes else None
        if job.counts.get("with_output"):
            hold.save(job, version_number=number, stage=Stage.OUTPUTS, read_to=0, bytes_read=0)
        else:
            _finish(hold, job, version_number=number)


# --- Outputs ----------------------------------------------------------------------------------------------------------
def _read_outputs(hold: Hold, job: Import, watch: Watch) -> None:
    experiment = job.experiment or _begin_experiment(hold, job)
    if experiment is None:
        return
    reading = _reading(job)
    with job.file:
        for batch in reading.batches(after_row=job.read_to):
            answers = arriving.with_cases(job.dataset, batch.drafts)
            counts = job.counts | {"outputs": job.counts.get("outputs", 0) + len(answers)}
            with transaction.atomic():
                arriving.write(experiment, answers)
                _save_progress(hold, job, batch, counts=counts)
            watch(job)
    with transaction.atomic():
        Experiment.with_arriving.filter(pk=experiment.pk).update(is_arriving=False)
        _finish(hold, job)


def _begin_experiment(hold: Hold, job: Import) -> Experiment | None:
    """The experiment that the outputs arrive in; None, and done, where one has the same outputs already."""
    with transaction.atomic():
        if same := arriving.same_experiment(job.dataset, job.options["system"], job.outputs_digest):
            _finish(hold, job, experiment=same, counts=job.counts | {"outputs_unchanged": job.counts["with_output"]})
            return None
        hold.save(job, experiment=arriving.begin(job))
    return job.experiment


# --- Ends -------------------------------------------------------------------------------------------------------------
def _finish(hold: Hold, job: Import, **changes: Any) -> None:
    hold.save(job, state=ImportState.DONE, finished_at=timezone.now(), lease="", **changes)
    AuditEntry.note(job.project, job.author, "imported", f"{job.file_name} into {job.options['dataset']}")
    _drop_leftovers(job)


def _fail(hold: Hold, job: Import, reason: str) -> None:
    """Take back what is not published yet, and say why. A version that was published stays."""
    hold.save(job, failure=reason[:500])
    counts = job.counts
    if job.stage == Stage.CASES:
        counts = {"bad": counts.get("bad", 0)}
        if job.dataset:
            PendingVersion(job.dataset).abandon()
    elif job.experiment:
        arriving.abandon(job.experiment)
    with transaction.atomic():
        settled = {"state": ImportState.FAILED, "finished_at": timezone.now(), "lease": ""}
        hold.save(job, **settled, experiment=None, counts=counts)
        _drop_leftovers(job)


def _drop_leftovers(job: Import) -> None:
    """The stored file has served, and a dataset that its first import brought nothing is no dataset."""
    if job.dataset:
        job.dataset.drop_if_never_filled()
    transaction.on_commit(lambda: job.file.delete(save=False))
