"""Pairs in an order: the pages of a list, and the neighbours of a pair in it, from the arrays alone.

A place in the list is the id of an output, so that rows which come or go elsewhere shift nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Page
from experiments.analysis.neighbours import Neighbours

if TYPE_CHECKING:
    from numpy import float32, int64
    from numpy.typing import NDArray


def first(keys: NDArray[float32], n: int) -> NDArray[int64]:
    """The places of the n smallest keys, smallest first, equal ones as they come; all where there are no more."""
    import numpy

    if len(keys) <= n:
        return numpy.argsort(keys, kind="stable")
    last = numpy.partition(keys, n - 1)[n - 1]
    below = numpy.flatnonzero(keys < last)
    at = numpy.concatenate([below, numpy.flatnonzero(keys == last)[: n - len(below)]])
    return at[numpy.argsort(keys[at], kind="stable")]


@dataclass(frozen=True, slots=True)
class Listing:
    """Outputs with their sort keys, the smallest first; equal ones as they come."""

    outputs: NDArray[int64]
    keys: NDArray[float32]

    def __len__(self) -> int:
        return len(self.outputs)

    def page(self, query: Mapping[str, str], size: int) -> Page:
        """The page at the place that `after` or `before` names; the first one without them, or where there is none."""
        backwards = "before" in query
        at = self._at(id_in(query.get("before") or query.get("after") or ""))
        found = [] if at is None else self._beyond(at, size + 1, backwards=backwards)
        if not found:
            found, backwards, at = self.outputs[first(self.keys, size + 1)].tolist(), False, None
        shown = found[:size][::-1] if backwards else found[:size]
        has_more = len(found) > size
        return Page(
            shown,
            str(shown[0]) if (has_more if backwards else at is not None) else None,
            str(shown[-1]) if backwards or has_more else None,
        )

    def neighbours(self, output: int) -> Neighbours:
        at = self._at(output)
        if at is None:
            return Neighbours(total=len(self))
        before, after = (self._beyond(at, 1, backwards=backwards) for backwards in (True, False))
        return Neighbours(
            int(self._before(at).sum()) + 1, len(self), before[0] if before else None, after[0] if after else None
        )

    def _at(self, output: int | None) -> int | None:
        if output is None:
            return None
        found = (self.outputs == output).nonzero()[0]
        return int(found[0]) if len(found) else None

    def _before(self, at: int) -> NDArray:
        found = self.keys < self.keys[at]
        found[:at] |= self.keys[:at] == self.keys[at]
        return found

    def _beyond(self, at: int, n: int, *, backwards: bool) -> list[int]:
        """At most n outputs after a place, or before it, nearest first."""
        is_beyond = self._before(at) if backwards else ~self._before(at)
        is_beyond[at] = False
        found = is_beyond.nonzero()[0]
        if backwards:
            found = found[::-1]
        keys = self.keys[found]
        return self.outputs[found[first(-keys if backwards else keys, n)]].tolist()
