"""What a page of pairs shows: both outputs of each, and what every evaluator said of either side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from evaluators.core import Status
from experiments.analysis import jsondiff, reading
from experiments.analysis.comparing.judges import Subject
from experiments.analysis.comparing.kept import Comparison
from experiments.analysis.grid import cells_of, snippet
from experiments.analysis.repeats import Cell
from experiments.models import Experiment, Output, OutputBody


class Told(NamedTuple):
    """What one subject says of a pair: of both sides, or of the two together, which `compared` then holds."""

    subject: Subject
    baseline: Cell | None
    compared: Cell | None
    gain: float | None  # positive where the compared result is the better one

    @property
    def is_comparative(self) -> bool:
        return self.subject.is_comparative

    @property
    def lacking(self) -> Cell | None:
        """The cell that keeps the pair from a figure."""
        sides = (self.baseline, self.compared)
        return next((cell for cell in sides if cell is not None and cell.state != Status.SCORED), None)


class Row(NamedTuple):
    """One pair in the list."""

    output: Output
    partner: Output
    snippet: str
    told: list[Told]


def outputs_of(ids: Sequence[int], *, are_listed: bool = True) -> dict[int, Output]:
    """Outputs with their cases, by id; for a list without what it does not show. One query."""
    unread = ("case__expected_outputs", "case__metadata") if are_listed else ()
    return Output.objects.select_related("case").defer(*unread).in_bulk(ids)


def partners_of_each(
    outputs: Sequence[Output], experiments: Sequence[Experiment], *, with_bodies: bool = False
) -> list[dict[int, Output]]:
    """For each experiment its outputs for the same cases and attempts, by the id of the given one. One query."""
    found = Output.objects.filter(experiment__in=experiments, case__in={output.case_id for output in outputs})
    found = found.select_related("body") if with_bodies else found
    there = {(each.experiment_id, each.case_id, each.attempt): each for each in found}
    return [
        {
            output.pk: there[place]
            for output in outputs
            if (place := (experiment.pk, output.case_id, output.attempt)) in there
        }
        for experiment in experiments
    ]


def rows_of(found: Comparison, ids: Sequence[int], whole: Collection[int] = ()) -> list[Row]:
    """The pairs of some outputs, in their order, the `whole` ones with their bodies. At most four queries."""
    outputs = outputs_of(ids, are_listed=not whole)
    here = [outputs[pk] for pk in ids if pk in outputs]
    (partners,) = partners_of_each(here, [found.baseline])
    _read([side for pk in whole if pk in partners for side in (outputs[pk], partners[pk])])
    runs = [run for subject in found.subjects for run in subject.runs]
    cells = cells_of(runs, [*outputs, *(partner.pk for partner in partners.values())])
    return [
        Row(
            output,
            partners[output.pk],
            snippet(output.case.inputs),
            told_of(found.subjects, output, partners[output.pk], cells),
        )
        for output in here
        if output.pk in partners
    ]


def _read(outputs: Sequence[Output]) -> None:
    """Give outputs their bodies."""
    bodies = OutputBody.objects.in_bulk([output.pk for output in outputs]) if outputs else {}
    for output in outputs:
        output.body = bodies[output.pk]


def told_of(
    subjects: Sequence[Subject], output: Output, partner: Output, cells: dict[tuple[int, int], Cell]
) -> list[Told]:
    return [_told(subject, output, partner, cells) for subject in subjects]


def _told(subject: Subject, output: Output, partner: Output, cells: dict[tuple[int, int], Cell]) -> Told:
    compared = cells.get((output.pk, subject.run.pk))
    if subject.baseline_run is None:
        score = compared.score if compared else None
        return Told(subject, None, compared, None if score is None else 2 * score - 1)
    baseline = cells.get((partner.pk, subject.baseline_run.pk))
    gain = None
    if baseline and compared and baseline.score is not None and compared.score is not None:
        gain = subject.sign * (compared.score - baseline.score)
    return Told(subject, baseline, compared, gain)


# --- Their texts ------------------------------------------------------------------------------------------------------
def texts_of(row: Row, text: str) -> dict[str, Any]:
    """Both outputs as they are read: beside one another with or without marks, or as one text with its differences."""
    old, new = row.partner.body.outputs, row.output.body.outputs
    differences = [] if text == "plain" else _structural(old, new)
    if text == "inline":
        parts = reading.merged_parts(old, new)
        if not parts or any(piece.sort == "same" for part in parts for piece in part.stretches):
            return {"inline": parts, "differences": differences}
    sides = (reading.parts(old), reading.parts(new)) if text == "plain" else reading.marked_parts(old, new)
    return {"sides": sides, "differences": differences, "is_apart": text == "inline"}


def _structural(old: Any, new: Any) -> list[jsondiff.Difference]:
    """Differences by path, where there is more than plain texts, whose differences are marked as words."""
    found = jsondiff.differences(old, new)
    return found if any(not _is_text(each) for each in found) else []


def _is_text(difference: jsondiff.Difference) -> bool:
    return difference.sort == "changed" and difference.old[:1] == '"' == difference.new[:1]
