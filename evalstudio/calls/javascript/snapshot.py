"""A machine's memory at one moment, laid out so that putting it back is cheap.

Memory and stack pointer are all the state the engine has: `quickjs.wasm` has no other mutable global, and none of its
instructions writes to a table or drops a segment. (Look again before taking another build of it.)

Of a machine's three to four MiB only some 400 KiB are ever used: the top of the stack, the tables of QuickJS, and the
heap with the evaluator's code. Those, and the zeros just behind them that a call is likely to touch, are copied back;
the rest is handed back to the operating system, which costs nothing where nothing was touched. Either way every byte
of the memory is afterwards what it was.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass

# A page fault costs as much as copying ten pages, so the zeros behind used pages, where a heap grows, are copied too.
MARGIN_BYTES = 16 * 1024
# A call to the operating system costs as much as copying this much.
GAP_BYTES = 32 * 1024


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`copied` holds (offset, bytes), `zeros` (offset, length), both page by page and without gap or overlap."""

    size: int
    stack_pointer: int
    copied: tuple[tuple[int, bytes], ...]
    zeros: tuple[tuple[int, int], ...]

    @property
    def held(self) -> int:
        """Bytes that the snapshot itself takes."""
        return sum(len(data) for _, data in self.copied)

    @classmethod
    def of(cls, memory: bytes, stack_pointer: int) -> Snapshot:
        copied = _ranges_in_use(memory)
        starts = [0, *(end for _, end in copied)]
        ends = [*(start for start, _ in copied), len(memory)]
        return cls(
            size=len(memory),
            stack_pointer=stack_pointer,
            copied=tuple((start, memory[start:end]) for start, end in copied),
            zeros=tuple((start, end - start) for start, end in zip(starts, ends, strict=True) if end > start),
        )


def _ranges_in_use(memory: bytes) -> list[tuple[int, int]]:
    """Pages that are not all zero, each with `MARGIN_BYTES` behind it, joined over gaps up to `GAP_BYTES`."""
    page, blank = mmap.PAGESIZE, bytes(mmap.PAGESIZE)
    margin = MARGIN_BYTES // page * page
    ranges: list[tuple[int, int]] = []
    for start in range(0, len(memory), page):
        if memory[start : start + page] == blank:
            continue
        low = ranges.pop()[0] if ranges and start <= ranges[-1][1] + GAP_BYTES else start
        ranges.append((low, min(len(memory), start + page + margin)))
    return ranges
