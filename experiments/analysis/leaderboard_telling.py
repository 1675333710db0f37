"""A leaderboard in words and as a file."""

from __future__ import annotations

import csv
import io
from typing import Any

from experiments.analysis.exporting import harmless
from experiments.analysis.leaderboard import Board, Entrant
from experiments.analysis.leaderboard_columns import Place

FIGURE = ("value", "low", "high", "n", "asked", "method")
NAMED = 3  # systems in a sentence
DEARER = 1.5  # times as much, from which on it is worth saying


def sentence_of(board: Board) -> str:
    """What the places prove, in one sentence; empty while they are being worked out or where there is none."""
    if board.ranked is None or board.ranked.answer is None:
        return ""
    placed = [(place, entrant.pk) for entrant in board.entrants if (place := board.place_of(entrant)) and place.low]
    if len(placed) < 2:
        return ""
    title, best = board.ranked.title, [(place, pk) for place, pk in placed if place.low == 1]
    if len(best) == 1:
        return _first(board, *best[0], [pk for _, pk in placed if pk != best[0][1]])
    if len(best) > NAMED:
        return f"{len(best)} of {len(placed)} may be the best on {title}: the cases cannot tell."
    tied = _listed([board.names[pk] for _, pk in best], "and")
    return f"{tied} cannot be told apart on {title}{_dearer(board, {pk for _, pk in best})}."


def _first(board: Board, place: Place, first: int, others: list[int]) -> str:
    """Nobody is above the first; it is ahead only where all others are proven below it."""
    assert board.ranked
    name, title = board.names[first], board.ranked.title
    if place.high == 1:
        beaten = board.names[others[0]] if len(others) == 1 else f"all {len(others)} others"
        return f"{name} is ahead of {beaten} on {title}."
    tied = [board.names[pk] for pk in others if str(board.ranked.cells[pk].run.pk) in place.tied_with]
    beside = _listed(tied, "or") if len(tied) <= NAMED else f"{len(tied)} others"
    return f"None is ahead of {name} on {title}, which cannot be told apart from {beside}."


def _listed(names: list[str], word: str) -> str:
    *most, last = sorted(names)
    return f"{', '.join(most)} {word} {last}" if most else last


def _dearer(board: Board, tied: set[int]) -> str:
    costs = [(each.cost_usd, board.names[each.pk]) for each in board.entrants if each.cost_usd and each.pk in tied]
    priced = sorted(costs)
    if len(priced) < 2 or priced[-1][0] < DEARER * priced[0][0]:
        return ""
    times = priced[-1][0] / priced[0][0]
    said = f"{times:.{0 if times >= 9.95 else 1}f}"
    return f", but {priced[-1][1]} costs {said} times as much per answer as {priced[0][1]}"


def as_csv(board: Board) -> str:
    """The table: a line for each system, six columns for each figure. Places are empty until they are worked out."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    heads = [f"{_head(column.title, column.version.number)} {name}" for column in board.columns for name in FIGURE]
    places = ["place from", "place to", "no place because"]
    outputs = ["outputs", "median latency ms", "mean cost usd"]
    writer.writerow([harmless(each) for each in ("system", "experiment", "data set", *places, *outputs, *heads)])
    for entrant in board.rows:
        writer.writerow([harmless(each) if isinstance(each, str) else each for each in _line(board, entrant)])
    return buffer.getvalue()


def _head(title: str, number: int) -> str:
    return f"{title} v{number}"


def _line(board: Board, entrant: Entrant) -> list[Any]:
    place = board.place_of(entrant)
    told = [place.low, place.high, place.untold] if place else [None, None, "being worked out"]
    cells = [entrant.experiment.system.name, entrant.pk, str(entrant.experiment.dataset_version), *told]
    cells += [entrant.outputs.get("outputs"), entrant.latency_ms, entrant.cost_usd]
    for column in board.columns:
        cell = column.cells.get(entrant.pk)
        figure = cell.figure if cell else None
        cells += [getattr(figure, name) if figure else None for name in FIGURE]
    return cells
