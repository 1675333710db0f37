"""What carries the sandbox: the vendored engine, its cache, threads, forks, and memory put back byte for byte."""

import hashlib
import os
import subprocess
import sys
import textwrap
import threading
import tomllib
from pathlib import Path

import pytest
import wasmtime

from evalstudio.calls.javascript import FaultKind, Limits, Sandbox, answers, engine, module
from evalstudio.calls.javascript.machine import GuestStopped
from evalstudio.calls.javascript.sandbox import MOST_BYTES_KEPT, SCRIPTS_KEPT
from tests.calls.sandboxed import QUICK, real_sandbox  # noqa: F401

CODE = "const evaluate = ({ n }) => { console.log(n); return n * 2; };"


def test_the_vendored_engine_is_the_one_that_is_recorded():
    vendored = tomllib.loads((module.VENDOR / "vendor.toml").read_text())
    wasm = (module.VENDOR / vendored["file"]).read_bytes()
    assert hashlib.sha256(wasm).hexdigest() == vendored["sha256"]
    assert len(wasm) == vendored["bytes"]
    assert all((module.VENDOR / name).stat().st_size > 1_000 for name in vendored["license_files"])


def test_the_engine_has_no_state_but_memory_and_stack_pointer(sandbox):
    """What a snapshot holds is all there is: one memory and one mutable global. (Nothing writes to the table.)"""
    compiled = module.load_module(wasmtime.Engine(engine._config()), sandbox._cache_dir)
    assert _section((module.VENDOR / "quickjs.wasm").read_bytes(), wanted=6)[0] == 1
    exported = {item.name: item.type for item in compiled.exports if not isinstance(item.type, wasmtime.FuncType)}
    assert set(exported) == {"memory", "__stack_pointer", "__indirect_function_table"}
    assert len(compiled.imports) == 12


def test_a_forged_engine_is_not_compiled(tmp_path, monkeypatch):
    (tmp_path / "quickjs.wasm").write_bytes((module.VENDOR / "quickjs.wasm").read_bytes() + b"\0")
    (tmp_path / "vendor.toml").write_text((module.VENDOR / "vendor.toml").read_text())
    monkeypatch.setattr(module, "VENDOR", tmp_path)
    with pytest.raises(RuntimeError, match="not the file"):
        Sandbox(None).compile(CODE)


def test_machine_code_is_kept_for_the_next_process(sandbox, tmp_path):
    [kept] = (sandbox._cache_dir / "javascript").glob("*.cwasm")
    cache = tmp_path / "javascript"
    cache.mkdir(mode=0o700)
    (cache / kept.name).write_bytes(kept.read_bytes())
    before = (cache / kept.name).stat()
    assert Sandbox(tmp_path).compile(CODE).run({"n": 2}).value == 4
    assert (cache / kept.name).stat().st_ino == before.st_ino
    assert kept.stat().st_mode & 0o077 == 0


def test_spoilt_machine_code_is_made_anew(sandbox, tmp_path):
    [kept] = (sandbox._cache_dir / "javascript").glob("*.cwasm")
    cache = tmp_path / "javascript"
    cache.mkdir(mode=0o700)
    (cache / kept.name).write_bytes(kept.read_bytes()[:1_000])
    assert Sandbox(tmp_path).compile(CODE).run({"n": 2}).value == 4
    assert (cache / kept.name).stat().st_size == kept.stat().st_size
    assert list(cache.iterdir()) == [cache / kept.name]


def test_machine_code_that_others_can_write_is_neither_read_nor_kept(tmp_path):
    cache = tmp_path / "javascript"
    cache.mkdir()
    cache.chmod(0o777)
    assert Sandbox(tmp_path).compile(CODE).run({"n": 2}).value == 4
    assert list(cache.iterdir()) == []


def test_importing_the_face_loads_no_engine_and_making_a_sandbox_builds_nothing():
    _python("""
        import sys
        from evalstudio.calls.javascript import Sandbox
        Sandbox(None)
        assert not {"wasmtime", "django", "ctypes.wintypes"} & set(sys.modules)
        import threading
        assert threading.active_count() == 1
    """)


def test_a_fork_goes_on_with_what_was_compiled_and_compiles_more(sandbox):
    _python(f"""
        import os, threading
        from pathlib import Path
        from evalstudio.calls.javascript import Sandbox, Limits, FaultKind
        sandbox = Sandbox(Path({str(sandbox._cache_dir)!r}))
        script = sandbox.compile({CODE!r})
        endless = sandbox.compile("function evaluate() {{ for (;;); }}", limits=Limits(time_ms=300))
        assert script.run({{"n": 1}}).value == 2
        busy = threading.Thread(target=endless.run, args=({{}},))
        busy.start()
        children = []
        for number in range(3):
            pid = os.fork()
            if pid == 0:
                good = script.run({{"n": number}}).value == number * 2
                good &= endless.run({{}}).fault.kind is FaultKind.TIME
                good &= sandbox.compile("const evaluate = () => 7;").run({{}}).value == 7
                os._exit(0 if good else 1)
            children.append(pid)
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0, 0, 0]
        busy.join()
        assert script.run({{"n": 5}}).value == 10
    """)


def test_threads_share_scripts_and_not_machines(sandbox):
    script = sandbox.compile(CODE)
    slow = sandbox.compile("function evaluate() { globalThis.mine = 1; for (;;); }", limits=QUICK)
    results: dict[int, list] = {}

    def work(thread: int) -> None:
        results[thread] = []
        for number in range(30):
            outcome = script.run({"n": thread * 1_000 + number})
            results[thread].append((outcome.value, outcome.logs))
        results[thread].append(slow.run({}).fault.kind)
        results[thread].append(sandbox.compile(f"const evaluate = () => {thread};").run({}).value)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for thread in range(6):
        numbers = [thread * 1_000 + number for number in range(30)]
        assert results[thread] == [*[(n * 2, (str(n),)) for n in numbers], FaultKind.TIME, thread]


def test_one_slow_call_ends_by_its_own_time_beside_quick_ones(sandbox):
    ended = threading.Event()
    endless = sandbox.compile("function evaluate() { for (;;); }", limits=Limits(time_ms=100))
    thread = threading.Thread(target=lambda: (endless.run({}), ended.set()))
    thread.start()
    script = sandbox.compile(CODE)
    while not ended.is_set():
        assert script.run({"n": 1}).value == 2
    thread.join()


@pytest.mark.parametrize(
    "body",
    [
        "return 1;",
        "const a = []; for (let i = 0; i < 3e4; i++) a.push({ i }); return a.length;",
        "for (;;);",
        "return evaluate();",
    ],
)
def test_memory_is_put_back_byte_for_byte(sandbox, body):
    script = sandbox.compile(f"function evaluate() {{ {body} }}", limits=QUICK)
    program, process = script._program, sandbox._here()
    machine = process._machine_for(program)
    machine.restore(program.snapshot)
    before = machine.read(0, machine.size)
    program.ask(machine, b"[0,0,{}]")
    assert machine.read(0, len(before)) != before
    if machine.fits(program.snapshot):
        machine.restore(program.snapshot)
        assert machine.read(0, machine.size) == before
    fresh = process._machine_for(program)
    fresh.restore(program.snapshot)
    assert fresh.read(0, fresh.size) == before


def test_a_machine_that_grew_is_thrown_away(sandbox):
    script = sandbox.compile("const evaluate = ({ text }) => text.length;", limits=Limits(time_ms=5_000))
    assert script.run({"text": "x" * 4_000_000}).value == 4_000_000
    process = sandbox._here()
    assert "machine" not in process._mine.__dict__
    assert script.run({"text": "x"}).value == 1
    assert process._mine.machine.size == script._program.snapshot.size


@pytest.mark.parametrize(("address", "length"), [(-1, 1), (2**32 - 1, 1), (0, 2**31), (2**31, -1)])
def test_an_address_outside_the_machine_is_refused(sandbox, address, length):
    sandbox.compile(CODE)
    machine = sandbox._here()._machine_for(sandbox.compile(CODE)._program)
    with pytest.raises(GuestStopped):
        machine.read(address, length)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"?",
        b"1",
        b"=",
        b"={",
        b"=NaN",
        b"!",
        b"!{}",
        b"!7",
        b'!{"kind":"pwned","message":"","stack":""}',
        b"=" + b"[" * 10**5,
        b"=\xff",
    ],
)
def test_an_answer_that_makes_no_sense_is_a_fault(answer):
    value, fault = answers.read_answer(answer, "", Limits())
    assert value is None
    assert fault.kind in {FaultKind.CRASH, FaultKind.NOT_JSON}
    assert fault.message


def test_nothing_is_written_outside_the_machine(sandbox):
    machine = sandbox._here()._machine_for(sandbox.compile(CODE)._program)
    machine.write(machine.size - 1, b"x")
    for address in (-1, machine.size, 2**32 - 1, 10**12):
        with pytest.raises(GuestStopped):
            machine.write(address, b"x")


def test_the_same_code_is_loaded_once_and_old_code_is_forgotten(sandbox):
    process = sandbox._here()
    first = sandbox.compile(CODE)._program
    assert sandbox.compile(CODE)._program is first
    assert sandbox.compile(CODE, limits=Limits(time_ms=100))._program is not first
    for number in range(SCRIPTS_KEPT + 3):
        sandbox.compile(f"const evaluate = () => {number};")
    assert len(process._programs) == SCRIPTS_KEPT
    assert sandbox.compile(CODE)._program is not first


def _section(wasm: bytes, *, wanted: int) -> bytes:
    """The body of one section of a WebAssembly file, which starts with its number of entries."""
    at = 8
    while at < len(wasm):
        kind, size, shift, at = wasm[at], 0, 0, at + 1
        while True:
            size |= (wasm[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if wasm[at - 1] < 0x80:
                break
        if kind == wanted:
            return wasm[at : at + size]
        at += size
    raise AssertionError(wanted)


def _python(code: str) -> None:
    """Runs code in a process of its own, far from what pytest has imported."""
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_code_that_fills_its_memory_is_forgotten_sooner(sandbox):
    for number in range(6):
        sandbox.compile(f"const full = new Uint8Array(20 << 20).fill({number + 1}); const evaluate = () => 1;")
    kept = sandbox._here()._programs.values()
    assert sum(program.snapshot.held for program in kept) <= MOST_BYTES_KEPT
    assert 1 <= len(kept) < 6
