"""Compiles QuickJS once and hands out bare instances of it that can reach nothing outside themselves."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import wasmtime
from wasmtime import FuncType, ValType

from .clock import Ticker
from .module import load_module

# 2000-01-01T00:00:00Z, where every clock of the machine stands still.
NOW_NS = 946_684_800 * 10**9
# Native stack of the guest: well below the smallest a thread gets on the platforms wasmtime is built for (2 MiB).
NATIVE_STACK_BYTES = 1 << 20

_OK = 0
_BAD_DESCRIPTOR = 8
_BAD_ADDRESS = 21


class Engine:
    """One per process: compiled code, the imports it is given, and the thread that ends late guests."""

    def __init__(self, cache_dir: Path | None) -> None:
        self._native = wasmtime.Engine(_config())
        self._template = _linker(self._native).instantiate_pre(load_module(self._native, cache_dir))
        self.ticker = Ticker(self._native.increment_epoch)

    def new_store(self, memory_mb: int) -> wasmtime.Store:
        store = wasmtime.Store(self._native)
        store.set_limits(memory_size=memory_mb << 20, table_elements=1_000, instances=1, tables=1, memories=1)
        return store

    def instantiate(self, store: wasmtime.Store) -> wasmtime.Instance:
        return self._template.instantiate(store)


def _config() -> wasmtime.Config:
    config = wasmtime.Config()
    config.epoch_interruption = True
    config.max_wasm_stack = NATIVE_STACK_BYTES
    # A process forked from one that compiled in parallel would wait for compiler threads it does not have.
    config.parallel_compilation = False
    # Private anonymous memory that stays where it is: what `Machine.restore` relies on.
    config.memory_init_cow = False
    config.memory_may_move = False
    return config


def _linker(engine: wasmtime.Engine) -> wasmtime.Linker:
    """The module's twelve imports. None of them reaches anything outside the machine, and none may raise."""
    linker = wasmtime.Linker(engine)
    i32, i64 = ValType.i32(), ValType.i64()

    def define(module: str, name: str, parameters: list[ValType], function: Any, *, caller: bool = False) -> None:
        results = [] if name == "host_promise_rejection" else [i32]
        linker.define_func(module, name, FuncType(parameters, results), function, access_caller=caller)

    define("env", "host_get_timezone_offset", [i32, i32], lambda *_: 0)
    define("env", "host_interrupt", [], lambda: 0)
    define("env", "host_promise_rejection", [i32, i32, i32], lambda *_: None)
    define("env", "host_module_normalize", [i32, i32], lambda *_: 0)
    define("env", "host_module_load", [i32, i32], lambda *_: 0)
    define("env", "host_call", [i32] * 5, lambda *_: 0)
    wasi = "wasi_snapshot_preview1"
    define(wasi, "clock_time_get", [i32, i64, i32], _clock_time_get, caller=True)
    define(wasi, "random_get", [i32, i32], _random_get, caller=True)
    define(wasi, "fd_close", [i32], lambda *_: _BAD_DESCRIPTOR)
    define(wasi, "fd_fdstat_get", [i32, i32], lambda *_: _BAD_DESCRIPTOR)
    define(wasi, "fd_seek", [i32, i64, i32, i32], lambda *_: _BAD_DESCRIPTOR)
    define(wasi, "fd_write", [i32, i32, i32, i32], lambda *_: _BAD_DESCRIPTOR)
    return linker


def _clock_time_get(caller: wasmtime.Caller, _clock: int, _precision: int, address: int) -> int:
    return _fill(caller, address, NOW_NS.to_bytes(8, "little"))


def _random_get(caller: wasmtime.Caller, address: int, size: int) -> int:
    """QuickJS asks for a few bytes when it starts; the same ones every time keep machines alike."""
    return _fill(caller, address, bytes(size)) if 0 <= size <= 256 else _BAD_ADDRESS


def _fill(caller: wasmtime.Caller, address: int, data: bytes) -> int:
    memory = caller["memory"]
    assert isinstance(memory, wasmtime.Memory)
    start = address & 0xFFFFFFFF
    if start + len(data) > memory.data_len(caller):
        return _BAD_ADDRESS
    ctypes.memmove(ctypes.addressof(memory.data_ptr(caller).contents) + start, data, len(data))
    return _OK
