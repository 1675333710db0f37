"""A leaderboard in words and as a file."""

from __future__ import annotations

import csv
import io
from typing import Any

from experiments.analysis.exporting import harmless
from experiments.analysis.leaderboard import Board, Entrant

FIGURE = ("value", "low", "high", "n", "asked", "method")
NAMED = 3  # systems in a sentence
DEARER = 1.5  # times as much, from which on it is worth saying


def sentence_of(board: Board) -> str:
    """What the places prove, in one sentence; empty while they are being worked out or where there is none."""
    if board.ranked is None or board.ranked.answer is None:
        return ""
    placed = [(place, entrant) for entrant in board.entrants if (place := board.place_of(entrant)) and place.low]
    if len(placed) < 2:
        return ""
    first = [entrant for place, entrant in placed if place.low == 1]
    best = next(place for place, _ in placed if place.low == 1)
    if len(first) == 1 and best.high != 1:
        return _alone(first[0], [each for _, each in placed if _key(board, each) in best.tied_with], board.ranked.title)
    if len(first) == 1:
        others = f"all {len(placed) - 1} others" if len(placed) > 2 else _name(placed[0][1], placed[1][1], first[0])
        return f"{first[0].experiment.system.name} is ahead of {others} on {board.ranked.title}."
    names = sorted(entrant.experiment.system.name for entrant in first)
    if len(first) > NAMED:
        return f"{len(first)} of {len(placed)} may be the best on {board.ranked.title}: the cases cannot tell."
    told = f"{', '.join(names[:-1])} and {names[-1]} cannot be told apart on {board.ranked.title}"
    return f"{told}{_dearer(first)}."


def _key(board: Board, entrant: Entrant) -> str:
    assert board.ranked
    return str(board.ranked.cells[entrant.pk].run.pk)


def _alone(first: Entrant, tied: list[Entrant], title: str) -> str:
    """Nobody is above the first and somebody above all others, which are not all below the first for that."""
    names = sorted(each.experiment.system.name for each in tied)
    beside = f"{', '.join(names[:-1])} or {names[-1]}" if 1 < len(names) <= NAMED else names[0]
    beside = f"{len(names)} others" if len(names) > NAMED else beside
    return f"None is ahead of {first.experiment.system.name} on {title}, which cannot be told apart from {beside}."


def _name(one: Entrant, other: Entrant, but: Entrant) -> str:
    return (other if one is but else one).experiment.system.name


def _dearer(tied: list[Entrant]) -> str:
    priced = sorted((each.cost_usd, each.experiment.system.name) for each in tied if each.cost_usd)
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
