"""Changes of a dataset as a whole, each a version of its own: an old version again, new splits, no repeated cases."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from evalstudio.projects.models import Project, User
from experiments.datasets import versions
from experiments.datasets.committing import Committed, Edit, commit, held, published
from experiments.datasets.duplicates import extra_keys, groups
from experiments.datasets.versions import in_steps
from experiments.models import CaseEdit, CaseSpan, Dataset


class Uncommitted(Exception):
    """The person has edits gathered that such a change would go over; the message says so."""

    def __init__(self, count: int) -> None:
        changes = f"{count:,} uncommitted change{'' if count == 1 else 's'}"
        super().__init__(f"You have {changes} in this dataset. Commit or discard them first.")


def create(project: Project, name: str, author: User | None) -> Dataset:
    """A dataset whose first version has no cases. Raises IntegrityError where the name is taken."""
    with transaction.atomic():
        dataset = Dataset.objects.create(project=project, name=name)
        published(dataset, author, "Made without cases", lambda pending: None)
    return dataset


def restore(dataset: Dataset, number: int, author: User) -> Committed:
    """A new version with the members of an earlier one; none where the latest has just these. Raises Busy."""
    _refuse_uncommitted(dataset, author)
    with held(dataset):
        spans = CaseSpan.objects.filter(dataset=dataset)
        now, old = (dict(spans.at(at).values_list("case", "key")) for at in (dataset.latest_version, number))
        coming, going = {old[case] for case in old.keys() - now}, {now[case] for case in now.keys() - old}
        done = Committed(None, len(coming - going), len(coming & going), len(going - coming), len(now.keys() & old))
        if coming or going:
            note = f"Restored version {number}"
            done.version = published(dataset, author, note, lambda pending: pending.restore(number))
        return done


def assign_splits(dataset: Dataset, shares: Sequence[tuple[str, float]], seed: int, author: User) -> Committed:
    """Deal all cases out at random, by shares that add up to 1; the same seed deals the same cases out the same way.

    Raises Busy.
    """
    _refuse_uncommitted(dataset, author)
    with held(dataset):
        members = list(
            CaseSpan.objects.filter(dataset=dataset)
            .at(dataset.latest_version)
            .order_by("key")
            .values_list("key", "case_id")
        )
        random.Random(seed).shuffle(members)  # noqa: S311 - a fair deal, no secret
        edits = []
        for step in in_steps(_dealt(members, shares)):
            known = versions.contents([case for _, case, _ in step])
            edits += [Edit(key, replace(known[case], split=split), case) for key, case, split in step]
        said = ", ".join(f"{split} {share:.0%}" for split, share in shares)
        return commit(dataset, edits, author, f"Splits at random: {said} (seed {seed})")


def remove_extra(dataset: Dataset, author: User, *, by_inputs: bool) -> Committed:
    """Take out cases that repeat an earlier one: inputs and expected outputs, or `by_inputs` alone. Raises Busy."""
    _refuse_uncommitted(dataset, author)
    with held(dataset):
        extra = extra_keys(groups(dataset, dataset.latest_version), by_inputs=by_inputs)
        edits = [Edit(key, None, case) for key, case in extra]
        return commit(dataset, edits, author, f"Removed {len(edits):,} repeated case{'' if len(edits) == 1 else 's'}")


def _dealt(members: Sequence[tuple[str, int]], shares: Sequence[tuple[str, float]]) -> list[tuple[str, int, str]]:
    """Each member with its split; the borders are rounded, so that no case is left over."""
    dealt, start, reached = [], 0, 0.0
    for at, (split, share) in enumerate(shares, 1):
        reached += share
        end = len(members) if at == len(shares) else round(reached * len(members))
        dealt += [(key, case, split) for key, case in members[start:end]]
        start = end
    return dealt


def _refuse_uncommitted(dataset: Dataset, author: User) -> None:
    count = CaseEdit.objects.filter(dataset=dataset, author=author).count()
    if count:
        raise Uncommitted(count)
