"""Writing the next version of a dataset so that nobody sees it before it is whole.

Its cases and spans are written in batches under the number that comes next, while readers ask for versions up to
`Dataset.latest_version`. Only `publish` raises that number; `abandon` takes back what was written. Whoever writes must
be the only one who does: an import is, by the constraint that one import of a dataset runs at a time, and a commit of
edits is, since it holds the row of the dataset while it looks for imports and until it is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple, TypeVar

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from evalstudio.projects.models import User
from experiments.datasets.contents import Content, digest_of
from experiments.datasets.inserting import insert, stored_json
from experiments.models import Case, CaseSpan, CaseWords, Dataset, DatasetVersion
from experiments.models.datasets import NEVER

STEP = 500  # rows of one statement or of one short transaction
CASE_COLUMNS = (
    "dataset", "key", "content_hash", "inputs", "expected_outputs", "metadata", "split", "inputs_hash",
)  # fmt: skip
SPAN_COLUMNS = ("dataset", "case", "key", "position", "added_in", "removed_in")
Row = TypeVar("Row")


class Member(NamedTuple):
    """A case that is a member at present."""

    span_id: int
    case_id: int
    key: str
    position: int
    content_hash: str


class Change(NamedTuple):
    """The content that a key gets; `member` is the case that has the key so far, None for a new case."""

    key: str
    content: Content
    digest: str
    member: Member | None


class PendingVersion:
    """The version of a dataset that comes after its latest one."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.number = dataset.latest_version + 1

    def opened(self) -> DatasetVersion:
        """The row of the version, for rows that have to point to it already. It is none that pages list."""
        return DatasetVersion.objects.get_or_create(dataset=self.dataset, number=self.number, defaults={"n_cases": 0})[
            0
        ]

    def latest(self) -> DatasetVersion:
        """The version before it, which readers see."""
        return DatasetVersion.objects.get(dataset=self.dataset, number=self.number - 1)

    def write(self, changes: Sequence[Change]) -> dict[str, int]:
        """Add or exchange cases, at most STEP at once: the ids of their cases by key. Call it within a transaction."""
        if not changes:
            return {}
        case_ids = self._cases(changes)
        replaced = [change.member.span_id for change in changes if change.member]
        CaseSpan.objects.filter(pk__in=replaced).update(removed_in=self.number)
        next_position = self._next_position()
        spans = []
        for change in changes:
            position = change.member.position if change.member else next_position
            next_position += not change.member
            spans.append((self.dataset.pk, case_ids[change.key], change.key, position, self.number, NEVER))
        insert(CaseSpan, SPAN_COLUMNS, spans)
        return case_ids

    def remove(self, gone: Sequence[Member]) -> None:
        """Leave cases out, at most STEP at once. Call it within a transaction."""
        CaseSpan.objects.filter(pk__in=[member.span_id for member in gone]).update(removed_in=self.number)

    def restore(self, number: int) -> tuple[int, int]:
        """Make the members those of an earlier version, at their old places: how many cases come and how many go."""
        old, now = (CaseSpan.objects.filter(dataset=self.dataset).at(at) for at in (number, self.number - 1))
        going = now.exclude(case__in=old.values("case"))
        coming = list(old.exclude(case__in=now.values("case")).values_list("case_id", "key", "position"))
        gone = CaseSpan.objects.filter(pk__in=going.values("pk")).update(removed_in=self.number)
        for step in in_steps(coming):
            spans = [(self.dataset.pk, case, key, position, self.number, NEVER) for case, key, position in step]
            insert(CaseSpan, SPAN_COLUMNS, spans)
        return len(coming), gone

    def publish(self, author: User | None, note: str) -> DatasetVersion:
        """Make the version the latest one. Call it within a transaction."""
        version = self.opened()
        version.author = author
        version.note = note[:300]
        version.n_cases = CaseSpan.objects.filter(dataset=self.dataset).at(self.number).count()
        version.created_at = timezone.now()
        version.save()
        raised = Dataset.objects.filter(pk=self.dataset.pk, latest_version=self.number - 1)
        if not raised.update(latest_version=self.number):  # the lock that lets one import run is broken
            raise RuntimeError(f"Somebody else published version {self.number} of {self.dataset}.")
        self.dataset.latest_version = self.number
        return version

    def close(self) -> None:
        """Forget the row of a version that nothing was written into and nothing points to."""
        DatasetVersion.objects.filter(dataset=self.dataset, number=self.number).delete()

    def abandon(self) -> None:
        """Take back everything that was written, in short transactions; can be repeated after an interruption."""
        added = CaseSpan.objects.filter(dataset=self.dataset, added_in=self.number)
        for spans in iter(lambda: list(added.values_list("pk", "case_id")[:STEP]), []):
            with transaction.atomic():
                CaseSpan.objects.filter(pk__in=[span for span, _ in spans]).delete()
                unused = Case.objects.filter(pk__in=[case for _, case in spans], casespan=None, output=None)
                unused.delete()
        replaced = CaseSpan.objects.filter(dataset=self.dataset, removed_in=self.number)
        for step in iter(lambda: list(replaced.values_list("pk", flat=True)[:STEP]), []):
            CaseSpan.objects.filter(pk__in=step).update(removed_in=NEVER)
        self.close()

    def _cases(self, changes: Sequence[Change]) -> dict[str, int]:
        """The id of the case for every key: the row that has this content already, or a new one."""
        known = (
            self._known_cases(changes) if self.number > 1 else {}
        )  # a first version has no case that was here before
        new = [change for change in changes if change.key not in known]
        if not new:
            return known
        rows = [(self.dataset.pk, change.key, change.digest, *_columns(change.content)) for change in new]
        insert(Case, CASE_COLUMNS, rows)
        made = self._known_cases(new)
        words = [(made[change.key], change.content.words(change.key)) for change in new]
        insert(CaseWords, ("case", "words"), words)
        return known | made

    def _known_cases(self, changes: Sequence[Change]) -> dict[str, int]:
        wanted = {(change.key, change.digest) for change in changes}
        known = Case.objects.filter(dataset=self.dataset, key__in=[change.key for change in changes])
        return {
            key: pk for pk, key, digest in known.values_list("pk", "key", "content_hash") if (key, digest) in wanted
        }

    def _next_position(self) -> int:
        last = CaseSpan.objects.filter(dataset=self.dataset).aggregate(last=Max("position"))["last"]
        return 0 if last is None else last + 1


def in_steps(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """The rows in the portions that one statement takes."""
    return (rows[at : at + STEP] for at in range(0, len(rows), STEP))


def members(dataset: Dataset, keys: Collection[str]) -> dict[str, Member]:
    """The present cases of a dataset that have these keys, including those of a pending version."""
    spans = CaseSpan.objects.filter(dataset=dataset, key__in=keys, removed_in=NEVER)
    found = (Member(*row) for row in spans.values_list("pk", "case_id", "key", "position", "case__content_hash"))
    return {member.key: member for member in found}


def contents(case_ids: Collection[int]) -> dict[int, Content]:
    """The contents of some cases by their id."""
    rows = Case.objects.filter(pk__in=case_ids).values_list("pk", "inputs", "expected_outputs", "metadata", "split")
    return {pk: Content(*content) for pk, *content in rows}


def _columns(content: Content) -> tuple[str | None, ...]:
    return (
        stored_json(content.inputs),
        stored_json(content.expected_outputs),
        stored_json(content.metadata),
        content.split,
        digest_of(content.inputs),
    )
