"""The compiled QuickJS module: checked against its recorded hash, compiled once, and kept as machine code."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import logging
import os
import platform
import tempfile
import tomllib
from pathlib import Path

import wasmtime

VENDOR = Path(__file__).parent.parent / "vendor" / "quickjs"

log = logging.getLogger(__name__)


def load_module(engine: wasmtime.Engine, cache_dir: Path | None) -> wasmtime.Module:
    """The module, from `cache_dir` (3 ms) or compiled (about a second) and left there for the next process.

    Machine code from the cache is run as it is. It is therefore read only from a directory and a file that belong to
    this user and that no other user can write; where that does not hold there is no cache.
    """
    vendored = tomllib.loads((VENDOR / "vendor.toml").read_text())
    directory = _private_directory(cache_dir)
    if directory is None:
        return _compile(engine, vendored)
    path = directory / _cache_name(vendored["sha256"])
    module = _read(engine, path)
    if module is None:
        module = _compile(engine, vendored)
        _write(path, bytes(module.serialize()))
    return module


def _compile(engine: wasmtime.Engine, vendored: dict[str, str]) -> wasmtime.Module:
    wasm = (VENDOR / vendored["file"]).read_bytes()
    if hashlib.sha256(wasm).hexdigest() != vendored["sha256"]:
        raise RuntimeError(f"{vendored['file']} is not the file that vendor.toml describes.")
    return wasmtime.Module(engine, wasm)


def _cache_name(sha256: str) -> str:
    version = importlib.metadata.version("wasmtime")
    return f"quickjs-{sha256[:16]}-wasmtime-{version}-{platform.system()}-{platform.machine()}.cwasm".lower()


def _private_directory(cache_dir: Path | None) -> Path | None:
    if cache_dir is None:
        return None
    directory = cache_dir / "javascript"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _only_ours(directory):
            return directory
        log.warning("%s can be written by others: JavaScript machine code is not kept there.", directory)
    except OSError as error:
        log.warning("JavaScript machine code is not kept: %s", error)
    return None


def _only_ours(path: Path) -> bool:
    status = path.lstat()
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _read(engine: wasmtime.Engine, path: Path) -> wasmtime.Module | None:
    """None where there is no file, or one made by another wasmtime, for another processor, or cut short."""
    try:
        return wasmtime.Module.deserialize_file(engine, str(path)) if _only_ours(path) else None
    except (FileNotFoundError, wasmtime.WasmtimeError):
        return None


def _write(path: Path, machine_code: bytes) -> None:
    """Under its own name only when complete: several processes may do this at once, and any may be killed."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:  # mode 0600
            try:
                file.write(machine_code)
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except OSError:
                with contextlib.suppress(OSError):
                    os.unlink(file.name)
                raise
    except OSError as error:
        log.warning("JavaScript machine code is not kept: %s", error)
