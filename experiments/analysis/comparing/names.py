"""What the columns over the pairs are called, and how they are packed."""

from __future__ import annotations

FIGURES = "figures"  # JSON
CHANGED = "changed"  # ids of the compared result's outputs whose texts differ
OUTPUTS, PARTNERS = "outputs", "partners"  # ids, of the compared result and of the baseline
WORST, BEST = "worst", "best"  # keys by any evaluator
KEY, FLIPS = "key:", "flips:"  # keys, and which were judged otherwise in the other order; before the id of a run
FLAGS = "flags"
DISAGREES, HAS_ERROR, SYSTEM_ERROR = 1, 2, 4  # bits of it: of two evaluators, of any of them, of a system

SHAPES = {
    CHANGED: "<i8",
    OUTPUTS: "<i8",
    PARTNERS: "<i8",
    FLAGS: "<u1",
    WORST: "<f4",
    BEST: "<f4",
    KEY: "<f4",
    FLIPS: "<u1",
}


def kind_of(name: str) -> str:
    """A column's name without the id of its run."""
    kind, colon, _ = name.partition(":")
    return kind + colon
