"""What drafts change in a dataset: new cases, names added to existing ones, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.datasets import versions
from experiments.datasets.contents import Content
from experiments.datasets.importing.columns import shown
from experiments.datasets.importing.mapping import Draft, Mapping
from experiments.datasets.importing.rows import BadRow
from experiments.datasets.schemas import Check, checks_of
from experiments.datasets.versions import Change, Member
from experiments.models import Dataset


@dataclass(slots=True)
class Merged:
    """The outcome of one batch. `accepted` are the drafts that have a case, be it new, changed or as it was.

    `case_ids` are the cases that stay as they are, by key.
    """

    changes: list[Change] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    accepted: list[Draft] = field(default_factory=list)
    case_ids: dict[str, int] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)


def merge(drafts: Sequence[Draft], dataset: Dataset | None, mapping: Mapping) -> Merged:
    """Compare drafts, whose keys differ, with the dataset as it is; None stands for one that is yet to be made."""
    members = versions.members(dataset, [draft.key for draft in drafts]) if dataset else {}
    differing = _differing(drafts, members, mapping)
    contents = versions.contents([member.case_id for member in differing.values()]) if differing else {}
    merged, check = Merged(), checks_of(dataset)
    for draft in drafts:
        member = members.get(draft.key)
        if member is None:
            _add(draft, merged, check)
        elif draft.key in differing:
            _combine(draft, member, contents[member.case_id], merged, check)
        else:
            _keep(draft, member, merged)
    return merged


def _differing(drafts: Sequence[Draft], members: dict[str, Member], mapping: Mapping) -> dict[str, Member]:
    """Members whose content has to be read, since it is not already word for word what the draft says."""
    if not mapping.has_content:
        return {}
    return {
        draft.key: members[draft.key]
        for draft in drafts
        if draft.key in members and members[draft.key].content_hash != draft.digest
    }


def _add(draft: Draft, merged: Merged, check: Check) -> None:
    if not draft.content.inputs:
        reason = f"No case has the key {shown(draft.key)}, and this row has no inputs to make one."
        merged.bad.append(BadRow(draft.line, reason))
        return
    if _is_broken(draft, draft.content, merged, check):
        return
    merged.added += 1
    merged.changes.append(Change(draft.key, draft.content, draft.digest, None))
    merged.accepted.append(draft)


def _combine(draft: Draft, member: Member, old: Content, merged: Merged, check: Check) -> None:
    content = combined(old, draft.content)
    digest = content.digest()
    if digest == member.content_hash:
        _keep(draft, member, merged)
        return
    if _is_broken(draft, content, merged, check):
        return
    merged.changed += 1
    merged.changes.append(Change(draft.key, content, digest, member))
    merged.accepted.append(draft)


def _is_broken(draft: Draft, content: Content, merged: Merged, check: Check) -> bool:
    """Whether the content that the case would get breaks the schema of the dataset; then the row is told so."""
    broken = check(content)
    if broken:
        merged.bad.append(BadRow(draft.line, broken[0].reason, broken[0].field))
    return bool(broken)


def _keep(draft: Draft, member: Member, merged: Merged) -> None:
    merged.unchanged += 1
    merged.case_ids[draft.key] = member.case_id
    merged.accepted.append(draft)


def combined(old: Content, new: Content) -> Content:
    """The old content with the names that the new one gives; what the new one is silent about stays."""
    return Content(
        {**old.inputs, **new.inputs},
        _joined(old.expected_outputs, new.expected_outputs),
        _joined(old.metadata, new.metadata),
        new.split or old.split,
    )


def _joined(old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any] | None:
    return {**(old or {}), **new} if new else old
