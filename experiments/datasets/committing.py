"""Committing a batch of edits: the next version of a dataset, in one transaction, so that a kill leaves nothing of it.

A commit and an import never write into the same dataset at once: both take the row of the dataset before they look
whether the other is at work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evalstudio.projects.models import AuditEntry, User
from experiments.datasets import versions
from experiments.datasets.contents import BadContent, Content, digest_of
from experiments.datasets.schemas import checks_of
from experiments.datasets.versions import Change, Member, PendingVersion, in_steps
from experiments.models import Dataset, DatasetVersion, Import, ImportState

BUSY = "An import is writing into this dataset. Wait until it is done, then commit again; your edits stay."


class Busy(Exception):
    """An import is at work in the dataset; the message says so in a sentence."""

    def __init__(self) -> None:
        super().__init__(BUSY)


@dataclass(frozen=True, slots=True)
class Edit:
    """The content that a key is to get, None to remove it.

    `base` is the id of the case that the editor saw under the key, None where there was none.
    """

    key: str
    content: Content | None
    base: int | None


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one edit: a sentence, and the field at fault as a path, if it is one."""

    key: str
    field: str
    reason: str


class Refused(Exception):
    """Nothing was committed: `conflicts` are the keys that somebody else changed meanwhile, `faults` what is wrong."""

    def __init__(self, conflicts: Sequence[str] = (), faults: Sequence[Fault] = ()) -> None:
        self.conflicts, self.faults = list(conflicts), list(faults)
        super().__init__(f"{len(self.conflicts)} conflicts, {len(self.faults)} faults")


@dataclass(slots=True)
class Committed:
    """What a commit did. `version` is None where nothing differed from what was there."""

    version: DatasetVersion | None = None
    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0

    def sentence(self) -> str:
        """ "Added 1 case, edited 3 cases": what a version is called that nobody wrote a note for."""
        counts = {"added": self.added, "edited": self.changed, "removed": self.removed}
        said = ", ".join(
            f"{verb} {count:,} {'case' if count == 1 else 'cases'}" for verb, count in counts.items() if count
        )
        return said[:1].upper() + said[1:]


def commit(dataset: Dataset, edits: Sequence[Edit], author: User | None, note: str = "") -> Committed:
    """Make the next version of the edits, whose keys differ. Raises Busy and Refused; then nothing is changed."""
    with held(dataset):
        return _written(dataset, edits, author, note)


@contextmanager
def held(dataset: Dataset) -> Iterator[None]:
    """A transaction in which nobody else writes into the dataset; `latest_version` is read anew. Raises Busy."""
    with transaction.atomic():
        dataset.latest_version = Dataset.objects.select_for_update().get(pk=dataset.pk).latest_version
        if Import.objects.filter(dataset=dataset, state=ImportState.RUNNING).exists():
            raise Busy
        yield


def published(
    dataset: Dataset, author: User | None, note: str, write: Callable[[PendingVersion], Any]
) -> DatasetVersion:
    """What `write` does, as the next version. Call it while the dataset is held."""
    pending = PendingVersion(dataset)
    write(pending)
    version = pending.publish(author, note)
    AuditEntry.note(dataset.project, author, "committed", f"{version}: {note}"[:200])
    return version


def _written(dataset: Dataset, edits: Sequence[Edit], author: User | None, note: str) -> Committed:
    sorted_out = _Sorted(dataset)
    for step in in_steps(edits):
        sorted_out.take(step)
    if sorted_out.conflicts or sorted_out.faults:
        raise Refused(sorted_out.conflicts, sorted_out.faults)
    done = sorted_out.done
    if sorted_out.changes or sorted_out.removals:
        done.version = published(dataset, author, note or done.sentence(), sorted_out.write)
    return done


@dataclass(slots=True)
class _Sorted:
    """Edits sorted out against the dataset as it is."""

    dataset: Dataset
    changes: list[Change] = field(default_factory=list)
    removals: list[Member] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    done: Committed = field(default_factory=Committed)

    def take(self, edits: Sequence[Edit]) -> None:
        members = versions.members(self.dataset, [edit.key for edit in edits])
        check = checks_of(self.dataset)
        for edit in edits:
            member = members.get(edit.key)
            try:
                digest = edit.content.digest() if edit.content else None
            except BadContent as error:
                self.faults.append(Fault(edit.key, "", f"This case {error}."))
                continue
            if digest == (member.content_hash if member else None):
                self.done.unchanged += 1  # whoever was first, both want the same
            elif edit.base != (member.case_id if member else None):
                self.conflicts.append(edit.key)
            elif edit.content and (broken := check(edit.content)):
                self.faults += [Fault(edit.key, fault.field, fault.reason) for fault in broken]
            else:
                self._accept(edit.key, edit.content, digest, member)

    def write(self, pending: PendingVersion) -> None:
        for changes in in_steps(self.changes):
            pending.write(changes)
        for removals in in_steps(self.removals):
            pending.remove(removals)

    def _accept(self, key: str, content: Content | None, digest: str | None, member: Member | None) -> None:
        if content is None or digest is None:
            self.removals += [member] if member else []
            self.done.removed += 1
        else:
            self.changes.append(Change(key, content, digest, member))
            self.done.changed += member is not None
            self.done.added += member is None


def own_key(content: Content) -> str:
    """The key of a case that nobody gave one: the same for the same inputs."""
    return digest_of(content.inputs)[:16]
