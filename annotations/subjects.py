"""Which outputs rows of grades mean that name no queue: by case, and where there are several by experiment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from annotations.models import Item
from annotations.queueing import seen_of
from annotations.rows import SaidElsewhere
from annotations.settling import Pair, pair_of
from evaluators.models import EvaluatorVersion
from experiments.ledger.outside import Fault, Taken
from experiments.models import Output

SEVERAL = "Several results have this case: give the id of the experiment."


class _Found(NamedTuple):
    pk: int
    case: int
    attempt: int
    experiment: int


def subjects_of(
    version: EvaluatorVersion, batch: Sequence[SaidElsewhere], taken: Taken
) -> list[tuple[Item, SaidElsewhere]]:
    """Each row with its item in the latest queue that asks for it by this evaluator, or with one that is not stored.

    Nobody else grades these meanwhile. Rows that mean none or several are refused.
    """
    by_key, partners = _candidates(version, batch)
    meant: list[tuple[Pair, SaidElsewhere]] = []
    for row in batch:
        found = [one for one in by_key[row.case, row.attempt] if row.experiment in (None, one.experiment)]
        found = [one for one in found if one.experiment != row.baseline]
        pairs = [(one.pk, partners.get((row.baseline, one.case, one.attempt))) for one in found]
        if fault := _fault(version, row, pairs):
            taken.refuse(Fault(row.place, fault[0], row.case, fault[1]))
        else:
            meant.append((pairs[0], row))
    items = _items(version, {pair for pair, _ in meant})
    return [(items[pair], row) for pair, row in meant]


def _candidates(
    version: EvaluatorVersion, batch: Sequence[SaidElsewhere]
) -> tuple[dict[tuple[str, int], list[_Found]], dict[tuple[int | None, int, int], int]]:
    """The outputs that rows may mean, by key and attempt, and those that may be their baselines'. One query."""
    outputs = Output.objects.filter(
        experiment__project=version.evaluator.project_id,
        experiment__is_arriving=False,
        case__key__in={row.case for row in batch},
    )
    if all(row.experiment is not None for row in batch):
        outputs = outputs.filter(experiment__in={pk for row in batch for pk in (row.experiment, row.baseline) if pk})
    by_key: dict[tuple[str, int], list[_Found]] = defaultdict(list)
    partners: dict[tuple[int | None, int, int], int] = {}
    for key, *rest in outputs.values_list("case__key", "pk", "case", "attempt", "experiment"):
        found = _Found(*rest)
        by_key[key, found.attempt].append(found)
        partners[found.experiment, found.case, found.attempt] = found.pk
    return by_key, partners


def _fault(
    version: EvaluatorVersion, row: SaidElsewhere, pairs: list[tuple[int, int | None]]
) -> tuple[str, str] | None:
    """What is wrong with a row that may mean these, as field and sentence."""
    compares = version.evaluator.compares
    if compares and row.baseline is None:
        return "baseline", "Give the id of the experiment that it was compared with."
    if not compares and row.baseline is not None:
        return "baseline", f"{version.evaluator.name} grades single results."
    if not pairs:
        return "case", "No result of this project has this case."
    if len(pairs) > 1:
        return "experiment", SEVERAL
    return ("baseline", "It has no output for this case.") if compares and pairs[0][1] is None else None


def _items(version: EvaluatorVersion, pairs: set[Pair]) -> dict[Pair, Item]:
    outputs = {pk for pair in pairs for pk in pair if pk}
    locked = Output.objects.filter(pk__in=outputs).select_related("case", "body", "experiment").order_by("pk")
    known = {output.pk: output for output in locked.select_for_update(of=("self",))}
    queued = Item.objects.filter(output__in=outputs, repeats=None, queue__versions=version).order_by("pk")
    items = {pair_of(item): item for item in queued.select_related("queue").select_for_update(of=("self",))}
    found = {}
    for pk, other in pairs:
        output, baseline = known[pk], known[other] if other else None
        item = items.get((pk, other)) or Item(content_hash=seen_of(output, baseline))
        item.output, item.baseline_output = output, baseline
        found[pk, other] = item
    return found
