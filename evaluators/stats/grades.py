"""What people graded, as a table: an item a row, a grader a column."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Weights = Literal["linear", "quadratic"] | None


@dataclass(frozen=True, slots=True)
class Grades:
    """`codes` has a row an item and a column a grader: the place of the grade among `categories`, −1 where missing.

    `numbers` are the categories as numbers, in their order: themselves, or their places where they are labels.
    """

    codes: Any
    categories: tuple[Any, ...]
    numbers: Any

    @classmethod
    def of(cls, rows: Iterable[tuple[Hashable, Hashable, Any]], categories: Sequence[Any] | None = None) -> Grades:
        """From (item, grader, grade) and the categories of the scale in order; without them those that occur, sorted.

        Grades are labels or numbers. Of two grades by one person for one item the last counts. Raises ValueError for a
        grade outside the categories.
        """
        import numpy as np

        given = {(item, grader): grade for item, grader, grade in rows if grade is not None}
        scale = tuple(sorted(set(given.values())) if categories is None else categories)
        place = {category: index for index, category in enumerate(scale)}
        if not place.keys() >= set(given.values()):
            raise ValueError("A grade is not among the categories.")
        items = {item: index for index, item in enumerate(dict.fromkeys(item for item, _ in given))}
        graders = {grader: index for index, grader in enumerate(dict.fromkeys(grader for _, grader in given))}
        codes = np.full((len(items), len(graders)), -1)
        for (item, grader), grade in given.items():
            codes[items[item], graders[grader]] = place[grade]
        are_numbers = all(isinstance(each, int | float) for each in scale)
        return cls(codes, scale, np.array(scale if are_numbers else range(len(scale)), float))

    def counted(self, codes: Any = None) -> Any:
        """How often each category (column) was given to each item (row)."""
        import numpy as np

        codes = self.codes if codes is None else codes
        each = np.zeros((len(codes), len(self.categories)))
        for column in codes.T:
            there = np.flatnonzero(column >= 0)
            each[there, column[there]] += 1
        return each

    def agreements(self, weights: Weights) -> Any:
        """How far two categories agree, from 0 to 1: identity, or by how near they are (Cohen 1968)."""
        import numpy as np

        if weights is None:
            return np.eye(len(self.categories))
        apart = np.abs(self.numbers[:, None] - self.numbers)
        apart = apart / apart.max(initial=1e-12)
        return 1 - (apart if weights == "linear" else apart**2)
