"""What one worker holds: its slices, which of their rows are still open, and what it remembers of their runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from evaluators.core import Lane, Needs, Score
from evaluators.engine import Work, broken_work, work_of
from evaluators.processing import behind, processor_of
from experiments.ledger.answers import Following, close_answered
from experiments.ledger.claim import Claim, Row, claim, lane_of, read_rows, release
from experiments.ledger.finish import close_slices, finish_run, land_run
from experiments.ledger.limits import stop_at_limits
from experiments.ledger.settle import Book, settle
from experiments.models import Purpose, Run, RunState, Slice
from experiments.outputs import answering
from experiments.outputs.prompting import Recipe

CLOSED_TOGETHER = 8  # slices


@dataclass
class Held:
    """A leased slice and its rows that have neither been settled nor put back."""

    run_id: int
    open_rows: set[int]
    blamed: bool


@dataclass
class Served:
    """A run of which this worker holds rows."""

    work: Work
    connection_id: int | None
    book: Book
    is_limited: bool
    following: Following | None = None  # of a run for answers: who judges them


@dataclass
class Desk:
    lane: Lane
    lease_id: str
    slices: dict[int, Held] = field(default_factory=dict)
    runs: dict[int, Served] = field(default_factory=dict)

    def take(self, room: int, connection_id: int | None = None) -> list[Row]:
        """Claim slices with about `room` rows and read them; empty when there is nothing to take.

        Where workers were killed, all that was claimed may be settled and merely not closed: then there may be more.
        """
        while claimed := claim(self.lane, self.lease_id, room, connection_id):
            if rows := self.lay_out(claimed):
                return rows
        return []

    def lay_out(self, claimed: Claim) -> list[Row]:
        """The pending rows of what was claimed. A slice without any is closed: its last worker did not get to it."""
        run = claimed.run
        if run.pk not in self.runs:
            self.runs[run.pk] = _served(run)
        for part in claimed.slices:
            self.slices[part.pk] = Held(run.pk, set(), blamed=part.crashes > 0)
        rows = read_rows(claimed)
        for row in rows:
            self.slices[row.slice_id].open_rows.add(row.id)
        self._let_go()
        return rows

    def settle(self, scored: Iterable[tuple[Row, Score]]) -> set[int]:
        """Store scores, then close the slices and runs that are complete; the ids of runs that are at a limit now."""
        by_run: dict[int, list[tuple[Row, Score]]] = {}
        for row, score in scored:
            by_run.setdefault(row.run_id, []).append((row, score))
        for run_id, group in by_run.items():
            settle(self.runs[run_id].book, [(row.id, score) for row, score in group])
            self._forgive({row.slice_id for row, _ in group})
            self.put_back(row for row, _ in group)
            if following := self.runs[run_id].following:
                following.pass_on()
        return stop_at_limits([run_id for run_id in by_run if self.runs[run_id].is_limited])

    def put_back(self, rows: Iterable[Row]) -> None:
        """These rows are off the desk, settled or not."""
        for row in rows:
            if held := self.slices.get(row.slice_id):
                held.open_rows.discard(row.id)
        self._let_go()

    def halted(self) -> set[int]:
        """Runs on the desk that must not go on: stopped, stopping or gone."""
        stop_at_limits(self._held_runs())
        active = Run.objects.filter(pk__in=self._held_runs(), state=RunState.ACTIVE)
        return self._held_runs() - set(active.values_list("pk", flat=True))

    def clear(self) -> None:
        """Give back everything."""
        for held in self.slices.values():
            held.open_rows.clear()
        self._let_go()

    def _held_runs(self) -> set[int]:
        return {held.run_id for held in self.slices.values()}

    def _let_go(self) -> None:
        """Close the slices whose rows are all off the desk, or release them when some went back.

        A few at a time, for speed, while other slices of their run lie here; the last one takes all of its run along.
        """
        empty = [slice_id for slice_id, held in self.slices.items() if not held.open_rows]
        going_on = {held.run_id for held in self.slices.values() if held.open_rows}
        if len(empty) < CLOSED_TOGETHER:
            empty = [slice_id for slice_id in empty if self.slices[slice_id].run_id not in going_on]
        if not empty:
            return
        runs = {self.slices.pop(slice_id).run_id for slice_id in empty}
        if close_slices(empty) < len(empty):
            release(self.lease_id, empty)
        for run_id in runs - going_on:
            is_over = finish_run(run_id) or land_run(run_id)
            if is_over and self.runs[run_id].following:
                close_answered()

    def _forgive(self, slice_ids: set[int]) -> None:
        """A slice that gets on is not to blame for the workers that ended while they held it."""
        blamed = [slice_id for slice_id in slice_ids if slice_id in self.slices and self.slices[slice_id].blamed]
        if blamed:
            Slice.objects.filter(pk__in=blamed, cursor_id=None).update(crashes=0)
            for slice_id in blamed:
                self.slices[slice_id].blamed = False


def _served(run: Run) -> Served:
    is_limited = run.limit_usd is not None or run.limit_s is not None
    answers_of = run.experiment_id if run.purpose == Purpose.ANSWERS else None
    book = Book(run.pk, run.keeps_details, answers_of)
    following = Following(answers_of) if answers_of else None
    return Served(_work_for(run), run.connection_id, book, is_limited, following)


def _work_for(run: Run) -> Work:
    """A version that can no longer be read fails its rows with the reason, instead of ending its workers."""
    try:
        if run.purpose == Purpose.ANSWERS:
            return answering.work_of(Recipe.of(run.experiment.system.prompt.config), run.pk)
        processor = processor_of(run.experiment.project_id, run.processor) if run.processor else None
        return behind(work_of(run.version), processor)
    except Exception as error:  # noqa: BLE001 - whatever a kind raises about an old configuration
        return broken_work(error, Needs(lane_of(run), run.connection_id))
