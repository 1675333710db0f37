"""Ends guests whose time is up.

WebAssembly code compiled with epoch interruption looks at a counter in every loop and function. One daemon thread moves
that counter on while any guest runs; a guest that reaches its deadline is asked for its processor time, and either gets
the rest of it or is ended. There is no code inside the machine that could prevent this.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from typing import Any

from wasmtime import _ffi as ffi

TICK_MS = 5
# A guest on a busy computer may take this many times its processor time by the wall clock.
PATIENCE = 5
_FAR = 1 << 40
_GO_ON = 0

_Callback = ctypes.CFUNCTYPE(
    ctypes.c_size_t,
    ctypes.POINTER(ffi.wasmtime_context_t),
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_uint64),
    ctypes.POINTER(ffi.wasmtime_update_deadline_kind_t),
)
_NO_FINALIZER = ctypes.cast(0, ctypes.CFUNCTYPE(None, ctypes.c_void_p))


class Ticker:
    """Calls `advance` every `TICK_MS` while it is entered, from any number of threads of one process, nested or not."""

    def __init__(self, advance: Callable[[], None]) -> None:
        self._advance = advance
        self._lock = threading.Lock()
        self._running = threading.Event()
        self._guests = 0
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._guests += 1
            if self._guests > 1:
                return
            self._running.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._tick, name="javascript-ticker", daemon=True)
                self._thread.start()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._guests -= 1
            if not self._guests:
                self._running.clear()

    def _tick(self) -> None:
        while self._running.wait():
            time.sleep(TICK_MS / 1000)
            self._advance()


class Deadline:
    """The deadline of one store. It holds while the ticker is entered, and from the first `start` on."""

    def __init__(self, store: Any) -> None:
        self.passed = False
        self._context = store._context()
        self._processor_s = self._wall_s = 0.0
        self._callback = _Callback(self._reached)  # the store keeps no reference of its own
        ffi.wasmtime_store_epoch_deadline_callback(store.ptr(), self._callback, None, _NO_FINALIZER)
        ffi.wasmtime_context_set_epoch_deadline(self._context, _FAR)

    def start(self, limit_ms: int) -> None:
        """Gives the guest `limit_ms` of this thread's processor time from now on."""
        self.passed = False
        self._processor_s = time.thread_time() + limit_ms / 1000
        self._wall_s = time.monotonic() + limit_ms * PATIENCE / 1000
        ffi.wasmtime_context_set_epoch_deadline(self._context, limit_ms // TICK_MS + 1)

    def _reached(self, _context: Any, _data: Any, ticks: Any, kind: Any) -> int:
        """Called by the guest's own thread in the middle of its code; must not raise."""
        ticks[0], kind[0] = 1, _GO_ON
        left_ms = (self._processor_s - time.thread_time()) * 1000
        if left_ms > 0 and time.monotonic() < self._wall_s:
            ticks[0] = int(left_ms) // TICK_MS + 1
            return 0
        self.passed = True
        return ctypes.cast(ffi.wasmtime_error_new(b"time is up"), ctypes.c_void_p).value or 0
