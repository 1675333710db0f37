"""What a client without any cost of its own would need against `chat_endpoint`: the bound that faults set.

Every slot is always taken while there is work, a refused call waits exactly as long as it was told without holding a
slot, a cut-off one half a second, and whoever comes back goes first.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

from benchmarks.chat_endpoint import Endpoint

AFTER_A_CUT_S = 0.5


def seconds(endpoint: Endpoint, prompts: Sequence[bytes], slots: int) -> float:
    """From the first call to the last reply."""
    new, back, free, now = deque(prompts), deque[bytes](), slots, 0.0
    events: list[tuple[float, bool, bool, bytes]] = []  # when, whether it frees a slot, whether it asks again, which
    while events or new or back:
        while free and (back or new):
            prompt = (back or new).popleft()
            fate = endpoint.fate(prompt)
            if fate < endpoint.rate_429:
                heapq.heappush(events, (now + endpoint.retry_after_s, False, True, prompt))
                continue
            free -= 1
            is_cut = fate < endpoint.rate_429 + endpoint.rate_cut
            heapq.heappush(events, (now + endpoint.latency_s, True, is_cut, prompt))
        now, frees, again, prompt = heapq.heappop(events)
        free += frees
        if again and frees:
            heapq.heappush(events, (now + AFTER_A_CUT_S, False, True, prompt))
        elif again:
            back.append(prompt)
    return now
