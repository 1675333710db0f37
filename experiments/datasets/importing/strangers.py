"""Names that turn up in later rows and that nobody saw when the mapping was made: counted, so that they are not lost
without a word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from experiments.datasets.importing.columns import in_short
from experiments.datasets.importing.mapping import Mapping
from experiments.datasets.importing.rows import Row

MOST_NAMES = 20
SHOWN_CHARACTERS = 100


class Strangers:
    """Counts the rows of every unknown name, for at most MOST_NAMES names."""

    def __init__(self, mapping: Mapping) -> None:
        whole = {rule.path[0] for rule in mapping.rules if len(rule.path) == 1}
        self._names = {path[0] for path in mapping.known}
        self._children: dict[str, set[str]] = {}
        for path in mapping.known:
            if len(path) == 2 and path[0] not in whole:
                self._children.setdefault(path[0], set()).add(path[1])
        self.counts: Counter[str] = Counter()

    def look_at(self, row: Row) -> None:
        if not row.values.keys() <= self._names:
            self._count(name for name in row.values if name not in self._names)
        for parent, children in self._children.items():
            value = row.values.get(parent)
            if isinstance(value, dict) and not value.keys() <= children:
                self._count(f"{parent}.{name}" for name in value if name not in children)

    def _count(self, names: Iterable[str]) -> None:
        for name in (in_short(name, SHOWN_CHARACTERS) for name in names):
            if name in self.counts or len(self.counts) < MOST_NAMES:
                self.counts[name] += 1
