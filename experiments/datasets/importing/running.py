"""Carrying an import out: cases into the next version of the dataset, outputs into an experiment, both at once.

Every batch is one transaction that writes rows and moves `read_to` past them, so an import that was killed goes on
where it was. Nobody sees the cases before the version is published, nor the outputs before their experiment has
arrived; the last transaction does both, so that an import happens as a whole or not at all.
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
from experiments.ledger.start import prepare
from experiments.models import Dataset, Import, ImportState
from experiments.outputs import judging

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
    job = Import.objects.select_related("dataset", "project", "author", "experiment").get(pk=pk)
    try:
        _carry_out(hold, job, watch)
    except LeaseLost:
        return False
    return True


def _carry_out(hold: Hold, job: Import, watch: Watch) -> None:
    problem, dataset = _reason_to_stop(job), job.dataset
    try:
        if dataset and not problem:
            _read(hold, job, dataset, watch)
    except BadFile as error:
        problem = str(error)
    except FileNotFoundError:
        problem = "The uploaded file is no longer there. Upload it again."
    if problem:
        _fail(hold, job, problem)
    elif dataset:
        _complete(hold, job, dataset)


def _reason_to_stop(job: Import) -> str:
    if job.failure:
        return job.failure  # it was interrupted while it was being taken back
    if job.dataset is None:
        return "The dataset was deleted meanwhile."
    if job.tries > MAX_TRIES:
        return f"Reading on after row {job.read_to:,} ended its worker {MAX_TRIES} times."
    return ""


def _read(hold: Hold, job: Import, dataset: Dataset, watch: Watch) -> None:
    shape, mapping = Shape(job.format, job.options["delimiter"]), Mapping.load(job.options)
    with job.file.open("rb") as stored:
        reading, pending = Reading(stored, shape, mapping), PendingVersion(dataset)
        for batch in reading.batches(job.read_to, beat=lambda: hold.save(job)):
            _write(hold, job, pending, batch, reading)
            watch(job)


def _write(hold: Hold, job: Import, pending: PendingVersion, batch: Batch, reading: Reading) -> None:
    merged = merge(batch.drafts, pending.dataset, reading.mapping)
    tally = Tally.load(job.counts, job.outputs_digest).plus(batch, merged)
    reached: dict[str, Any] = {
        "read_to": batch.last_row,
        "bytes_read": batch.stored_read,
        "tries": 1,
        "counts": tally.counts() | {"unmapped": dict(reading.strangers.counts)},
        "row_errors": _first_errors(job.row_errors, batch.bad + merged.bad),
        "outputs_digest": tally.digest,
    }
    with transaction.atomic():
        case_ids = merged.case_ids | pending.write(merged.changes)
        answers = [arriving.Answer(case_ids[draft.key], draft.output) for draft in merged.accepted if draft.output]
        if answers and job.experiment is None:
            reached["experiment"] = arriving.begin(job, pending.opened())
        arriving.write(reached.get("experiment") or job.experiment, answers)
        hold.save(job, **reached)


def _first_errors(errors: list[dict[str, Any]], bad: Iterable[BadRow]) -> list[dict[str, Any]]:
    in_order = sorted(bad, key=lambda row: row.line)
    return [*errors, *(asdict(row) for row in in_order)][:KEPT_ERRORS]


def _complete(hold: Hold, job: Import, dataset: Dataset) -> None:
    """Let everything be seen that was written; outputs that an experiment has already are dropped instead."""
    pending, has_changes = PendingVersion(dataset), bool(job.counts.get("added") or job.counts.get("changed"))
    experiment, counts = job.experiment, job.counts
    if experiment and not has_changes:
        same = arriving.same_experiment(dataset, job.options["system"], job.outputs_digest)
        if same:
            arriving.abandon(experiment)
            experiment, counts = same, counts | {"with_output": 0, "outputs_unchanged": counts["with_output"]}
    with transaction.atomic():
        version = pending.publish(job.author, f"Import of {job.file_name}") if has_changes else None
        if experiment and experiment.is_arriving:
            arriving.arrive(experiment, version or pending.latest(), job.outputs_digest)
        if not has_changes:
            pending.close()
        runs, refused = judging.enter_all(experiment, _judges(job), job.author) if experiment else ([], [])
        counts = counts | ({"not_judged": refused} if refused else {})
        number = version.number if version else None
        settled = {"state": ImportState.DONE, "finished_at": timezone.now(), "lease": ""}
        hold.save(job, **settled, version_number=number, experiment=experiment, counts=counts)
        AuditEntry.note(job.project, job.author, "imported", f"{job.file_name} into {job.options['dataset']}")
        _drop_leftovers(job)
    for run in runs:  # a killed worker leaves them preparing, and the sweep goes on
        prepare(run.pk, wakes=True)


def _judges(job: Import) -> list[judging.Judge]:
    """Those that were chosen with the columns, as far as they are still there."""
    return judging.Chosen(**job.options.get("judging", {"versions": []})).judges(job.project)


def _fail(hold: Hold, job: Import, reason: str) -> None:
    """Take back what was written, and say why."""
    hold.save(job, failure=reason[:500])
    if job.experiment:
        arriving.abandon(job.experiment)
    if job.dataset:
        PendingVersion(job.dataset).abandon()
    with transaction.atomic():
        settled = {"state": ImportState.FAILED, "finished_at": timezone.now(), "lease": ""}
        hold.save(job, **settled, experiment=None, counts={"bad": job.counts.get("bad", 0)})
        _drop_leftovers(job)


def _drop_leftovers(job: Import) -> None:
    """The stored file has served, and a dataset that its first import brought nothing is no dataset."""
    if job.dataset:
        job.dataset.drop_if_never_filled()
    transaction.on_commit(lambda: job.file.delete(save=False))
