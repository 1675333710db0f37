"""A person's uncommitted edits of a dataset: gathered one by one, then committed as one version or discarded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from evalstudio.projects.models import User
from experiments.datasets import committing, versions
from experiments.datasets.committing import Committed, Edit
from experiments.datasets.contents import Content, tags_in
from experiments.datasets.differing import FieldChange, changes
from experiments.datasets.schemas import checks_of
from experiments.datasets.typed_cases import Read, Typed, read, typed_of
from experiments.models import CaseEdit, CaseSpan, Dataset

MOST_EDITS = 1_000  # of one person in one dataset


class TooMany(Exception):
    def __init__(self) -> None:
        super().__init__(f"At most {MOST_EDITS:,} changes can be gathered. Commit these first.")


@dataclass(frozen=True, slots=True)
class Gathered:
    """One uncommitted edit: what it does, what is wrong with it, and whether somebody else changed the case since."""

    edit: CaseEdit
    result: Read
    changes: list[FieldChange]
    is_overtaken: bool
    theirs: list[FieldChange]  # what others changed since, where it is overtaken
    now: int | None  # the case that has the key at present

    @property
    def sort(self) -> str:
        return "removed" if self.edit.is_removal else "added" if self.edit.base_id is None else "edited"

    @property
    def as_edit(self) -> Edit:
        return Edit(self.edit.key, self.result.content, self.edit.base_id)


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The uncommitted edits of one person in one dataset."""

    dataset: Dataset
    author: User

    @property
    def edits(self) -> Any:
        return CaseEdit.objects.filter(dataset=self.dataset, author=self.author)

    def keep(self, key: str, base: int | None, typed: Typed) -> None:
        """Keep the new content of a case as typed, in place of what was kept for it before. Raises TooMany."""
        self._keep([(key, base, False, typed)])

    def remove(self, members: Sequence[tuple[str, int]]) -> None:
        """Keep that cases go: each a key and the id of its case. Raises TooMany."""
        self._keep([(key, case, True, {}) for key, case in members])

    def assign(self, members: Sequence[tuple[str, int]], *, split: str | None = None, tag: str = "") -> None:
        """Give cases a split, "" to take it away, or one more tag, on top of what was typed so far. Raises TooMany."""
        kept = {edit.key: edit for edit in self.edits.filter(key__in=[key for key, _ in members])}
        known = versions.contents([case for _, case in members])
        found = []
        for key, case in members:
            edit = kept.get(key)
            typed = edit.typed if edit and not edit.is_removal else typed_of(known[case])
            if split is not None:
                typed = typed | {"split": split}
            if tag:
                typed = typed | {"tags": ", ".join(tags_in(f"{typed.get('tags', '')},{tag}"))}
            found.append((key, edit.base_id if edit else case, False, typed))
        self._keep(found)

    def discard(self, pks: Sequence[int] | None = None) -> int:
        """Forget some edits, or all: how many there were."""
        edits = self.edits if pks is None else self.edits.filter(pk__in=pks)
        return int(edits.delete()[0])

    def insist(self, pk: int) -> None:
        """Let an edit go over what others changed meanwhile."""
        edit = self.edits.filter(pk=pk).first()
        if edit:
            member = versions.members(self.dataset, [edit.key]).get(edit.key)
            self.edits.filter(pk=pk).update(base=member.case_id if member else None)

    def gathered(self) -> list[Gathered]:
        """Every edit in the order they were made, read and compared with what there is. Three queries."""
        edits = list(self.edits.order_by("updated_at", "pk"))
        now = dict(self._present([edit.key for edit in edits]))
        known = versions.contents({*now.values(), *(edit.base_id for edit in edits if edit.base_id)} if edits else [])
        check = checks_of(self.dataset)
        return [_gathered(edit, known, now.get(edit.key), check) for edit in edits]

    def commit(self, note: str) -> Committed:
        """Everything that was gathered as the next version. Raises Busy and Refused; then all of it stays."""
        with transaction.atomic():
            gathered = self.gathered()
            faults = [
                committing.Fault(each.edit.key, name, said)
                for each in gathered
                for name, all_said in each.result.faults.items()
                for said in all_said
            ]
            if faults:
                raise committing.Refused(faults=faults)
            done = committing.commit(self.dataset, [each.as_edit for each in gathered], self.author, note)
            self.discard([each.edit.pk for each in gathered])
        return done

    def _keep(self, rows: Sequence[tuple[str, int | None, bool, Typed]]) -> None:
        names = ("base_id", "is_removal", "typed", "updated_at")
        with transaction.atomic():
            now = timezone.now()
            CaseEdit.objects.bulk_create(
                [
                    CaseEdit(
                        dataset=self.dataset, author=self.author, key=key, **dict(zip(names, (*row, now), strict=True))
                    )
                    for key, *row in rows
                ],
                update_conflicts=True,
                unique_fields=["dataset", "author", "key"],
                update_fields=["base", *names[1:]],
            )
            if self.edits.count() > MOST_EDITS:
                raise TooMany

    def _present(self, keys: Sequence[str]) -> Any:
        return (
            CaseSpan.objects.filter(dataset=self.dataset, key__in=keys)
            .at(self.dataset.latest_version)
            .values_list("key", "case")
        )


def _gathered(edit: CaseEdit, known: dict[int, Content], now: int | None, check: Any) -> Gathered:
    base, present = known.get(edit.base_id or 0), known.get(now or 0)
    result = Read(None, {}) if edit.is_removal else read(edit.typed, base)
    if result.content:
        result = replace(result, faults=_placed(check(result.content), edit.typed))
    is_overtaken = edit.base_id != now and not (edit.is_removal and now is None) and result.content != present
    return Gathered(
        edit,
        result,
        changes(base, result.content) if not result.faults or edit.is_removal else [],
        is_overtaken,
        changes(base, present) if is_overtaken else [],
        now,
    )


def placed_faults(dataset: Dataset, result: Read, typed: Typed) -> dict[str, list[str]]:
    """Everything that is wrong with a case as typed, by the schema too, beside the fields it was typed into."""
    return _placed(checks_of(dataset)(result.content), typed) if result.content else result.faults


def _placed(broken: Any, typed: Typed) -> dict[str, list[str]]:
    """What breaks the schema beside the field it was typed into, beside the part where there is no such field."""
    faults: dict[str, list[str]] = {}
    for path, reason in broken:
        part, _, rest = path.replace("expectedOutputs", "expected_outputs").partition(".")
        name = rest.partition(".")[0].partition("[")[0]
        fields = (f"text:{part}:{name}", f"json:{part}:{name}")
        place = next((field for field in fields if field in typed), part)
        faults.setdefault(place, []).append(f"{path}: {reason}")
    return faults
