"""One QuickJS instance: its memory, and calls into it.

The C API is called directly, because wasmtime's own `Func` looks up its type and converts each argument for every call
(30 µs against 3). Addresses and lengths that come from the guest are never trusted: every access is checked against the
size of the guest's memory.

A machine belongs to one thread at a time.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import wasmtime
from wasmtime import _ffi as ffi

from .clock import Deadline
from .engine import Engine
from .outcome import FaultKind
from .snapshot import Snapshot

# Parameters and result of the functions we call: i = 32-bit integer (or address), I = 64-bit (a JavaScript value).
_FUNCTIONS = {
    "_initialize": ("", ""),
    "qjs_init": ("", "i"),
    "qjs_get_context_ptr": ("", "i"),
    "qjs_get_runtime_ptr": ("", "i"),
    "qjs_set_memory_limit": ("i", ""),
    "qjs_set_max_stack_size": ("i", ""),
    "qjs_set_gc_threshold": ("i", ""),
    "malloc": ("i", "i"),
    "free": ("i", ""),
    "JS_Eval": ("iiiii", "I"),
    "JS_EvalFunction": ("iI", "I"),
    "JS_Call": ("iIIii", "I"),
    "JS_ParseJSON": ("iiii", "I"),
    "JS_ToCStringLen2": ("iiIi", "i"),
    "JS_GetException": ("i", "I"),
    "JS_GetPropertyUint32": ("iIi", "I"),
    "JS_GetArrayBuffer": ("iiI", "i"),
    "JS_ExecutePendingJob": ("ii", "i"),
}
_KINDS = {"i": ffi.WASMTIME_I32.value, "I": ffi.WASMTIME_I64.value}
_WORDS = ctypes.sizeof(ffi.wasmtime_val_t) // 8
_PAYLOAD = ffi.wasmtime_val_t.of.offset // 8
_PAGE_BYTES = 1 << 16

# The same functions as in `ffi`, taking plain addresses: half the cost of a short call.
_func_call = ffi.dll["wasmtime_func_call"]
_func_call.restype = ctypes.c_void_p
_func_call.argtypes = [
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
]
_memory_data_size = ffi.dll["wasmtime_memory_data_size"]
_memory_data_size.restype = ctypes.c_size_t
_memory_data_size.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
_libc = ctypes.CDLL(None)
_libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class GuestStopped(Exception):
    """The guest was ended from outside, in the middle of its code. Its machine is of no further use."""

    def __init__(self, kind: FaultKind, message: str = "") -> None:
        super().__init__(message)
        self.kind = kind


class Machine:
    """A bare instance within `memory_mb` MiB. Either `boot` it, or `restore` a snapshot that another machine made."""

    def __init__(self, engine: Engine, memory_mb: int) -> None:
        self.memory_mb = memory_mb
        self.usable = True  # until a call into it does not return
        self._store = engine.new_store(memory_mb)
        self._context = self._store._context()
        self.deadline = Deadline(self._store)
        self.ticker = engine.ticker
        self._instance = engine.instantiate(self._store)
        self._memory = self._export("memory").of.memory
        self._stack_pointer = self._export("__stack_pointer").of.global_
        self._base: int = ctypes.addressof(ffi.wasmtime_memory_data(self._context, self._memory).contents)
        self._functions: dict[str, _Function] = {}
        self._trap = ctypes.POINTER(ffi.wasm_trap_t)()
        self._trap_address = ctypes.addressof(self._trap)
        self._context_address = ctypes.cast(self._context, ctypes.c_void_p).value
        self._memory_address = ctypes.addressof(self._memory)
        self._size = self.size
        self._value = ffi.wasmtime_val_t(kind=ffi.WASMTIME_I32)

    def call(self, name: str, *arguments: int) -> int:
        """Calls an exported function. Addresses come back unsigned, JavaScript values as they are."""
        function = self._functions.get(name) or self._find(name)
        words, at = function.arguments_words, _PAYLOAD
        for argument in arguments:
            words[at] = argument
            at += _WORDS
        error = _func_call(self._context_address, *function.addresses, self._trap_address)
        if error or self._trap:
            raise self._stopped(error)
        value: int = function.result_words[_PAYLOAD]
        return value & 0xFFFFFFFF if function.gives_address else value

    @property
    def size(self) -> int:
        """Bytes of memory the guest has now."""
        self._size = _memory_data_size(self._context_address, self._memory_address)
        return self._size

    def read(self, address: int, length: int) -> bytes:
        self._check(address, length)
        return ctypes.string_at(self._base + address, length)

    def write(self, address: int, data: bytes) -> None:
        self._check(address, len(data))
        ctypes.memmove(self._base + address, data, len(data))

    def snapshot(self) -> Snapshot:
        value = ffi.wasmtime_val_t()
        ffi.wasmtime_global_get(self._context, self._stack_pointer, value)
        return Snapshot.of(self.read(0, self.size), value.of.i32)

    def fits(self, snapshot: Snapshot) -> bool:
        """Memory never shrinks: a machine that grew cannot become what a smaller one was."""
        return self.size <= snapshot.size

    def restore(self, snapshot: Snapshot) -> None:
        """Makes this machine, byte for byte, the one that the snapshot was taken of. It must fit."""
        missing = snapshot.size - self.size
        if missing:
            self._grow(missing // _PAGE_BYTES)
        base = self._base
        for offset, data in snapshot.copied:
            ctypes.memmove(base + offset, data, len(data))
        for offset, length in snapshot.zeros:
            _make_zero(base + offset, length)
        self._value.of.i32 = snapshot.stack_pointer
        ffi.wasmtime_global_set(self._context, self._stack_pointer, self._value)

    def _check(self, address: int, length: int) -> None:
        if address < 0 or length < 0 or (address + length > self._size and address + length > self.size):
            raise GuestStopped(FaultKind.CRASH, "The machine named an address outside its memory.")

    def _grow(self, pages: int) -> None:
        error = ffi.wasmtime_memory_grow(self._context, self._memory, pages, ctypes.c_uint64())
        if error:
            raise wasmtime.WasmtimeError._from_ptr(error)

    def _export(self, name: str) -> Any:
        found, encoded = ffi.wasmtime_extern_t(), name.encode()
        if not ffi.wasmtime_instance_export_get(
            self._context, self._instance._instance, encoded, len(encoded), ctypes.byref(found)
        ):
            raise RuntimeError(f"quickjs.wasm exports no {name}.")
        return found

    def _find(self, name: str) -> _Function:
        function = self._functions[name] = _Function(self._export(name).of.func, *_FUNCTIONS[name])
        return function

    def _stopped(self, error: Any) -> GuestStopped:
        """Takes over the error or trap of a call that did not return."""
        self.usable = False
        if error:
            failure = wasmtime.WasmtimeError._from_ptr(ctypes.cast(error, ctypes.POINTER(ffi.wasmtime_error_t)))
            return GuestStopped(FaultKind.TIME if self.deadline.passed else FaultKind.CRASH, str(failure))
        code = wasmtime.Trap._from_ptr(self._trap).trap_code
        if code is wasmtime.TrapCode.STACK_OVERFLOW:
            return GuestStopped(FaultKind.STACK)
        return GuestStopped(FaultKind.CRASH, code.name.lower().replace("_", " ") if code else "unknown trap")


class _Function:
    """A guest function, with room for its arguments and result laid out once, where the C API finds it."""

    __slots__ = ("_arguments", "_handle", "_result", "addresses", "arguments_words", "gives_address", "result_words")

    def __init__(self, function: Any, parameters: str, result: str) -> None:
        self._handle = function
        self._arguments = (ffi.wasmtime_val_t * max(1, len(parameters)))()
        for argument, kind in zip(self._arguments, parameters, strict=False):
            argument.kind = _KINDS[kind]
        self._result = (ffi.wasmtime_val_t * 1)()
        self.arguments_words = (ctypes.c_int64 * (_WORDS * len(self._arguments))).from_buffer(self._arguments)
        self.result_words = (ctypes.c_int64 * _WORDS).from_buffer(self._result)
        self.gives_address = result == "i"
        at = ctypes.addressof
        self.addresses = at(function), at(self._arguments), len(parameters), at(self._result), len(result)


def _drops_pages() -> bool:
    """Whether pages handed back to the operating system are zero when they are next used: on Linux they are."""
    if not hasattr(mmap, "MADV_DONTNEED"):
        return False
    with mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as page:
        page[0] = 1
        page.madvise(mmap.MADV_DONTNEED)
        return page[0] == 0


_PAGES_CAN_BE_DROPPED = _drops_pages()


def _make_zero(address: int, length: int) -> None:
    if not _PAGES_CAN_BE_DROPPED or _libc.madvise(address, length, mmap.MADV_DONTNEED):
        ctypes.memset(address, 0, length)
