"""Outputs in batches that leave while more are produced."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalstudio_client.wire import encoded

BATCH_ROWS = 200
BATCH_BYTES = 4_000_000  # unpacked
BATCH_S = 5.0  # an output waits no longer than this for others, once the next one is there


def batches(outputs: Iterable[Mapping[str, Any]], faults: list[dict[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The outputs in batches, without those that JSON cannot hold, which become `faults`."""
    batch: list[Mapping[str, Any]] = []
    size, began = 0, time.monotonic()
    for output in outputs:
        try:
            weight = len(encoded(output))
        except (TypeError, ValueError) as error:
            case = output.get("case", "") if isinstance(output, Mapping) else ""
            faults.append({"case": str(case), "message": f"JSON cannot hold it: {error}."})
            continue
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
