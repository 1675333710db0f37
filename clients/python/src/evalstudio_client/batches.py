"""Outputs in batches that leave while more are produced."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

BATCH_ROWS = 200
BATCH_BYTES = 4_000_000  # unpacked
BATCH_S = 5.0  # an output waits no longer than this for others, once the next one is there


def batches(outputs: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    batch: list[Mapping[str, Any]] = []
    size, began = 0, time.monotonic()
    for output in outputs:
        weight = len(json.dumps(output, ensure_ascii=False).encode())
        full = len(batch) == BATCH_ROWS or size + weight > BATCH_BYTES or time.monotonic() - began > BATCH_S
        if batch and full:
            yield batch
            batch, size = [], 0
        if not batch:
            began = time.monotonic()
        batch.append(output)
        size += weight
    if batch:
        yield batch
