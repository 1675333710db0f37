"""Code that means harm, or might as well: it costs its own score and nothing else."""

import resource
import sys

import pytest

from evalstudio.calls.javascript import CodeFault, FaultKind, Limits
from tests.calls.sandboxed import QUICK, real_sandbox, refusal, run_in_sandbox  # noqa: F401

ENDLESS = {
    "loop": "for (;;);",
    "caught": "for (;;) { try { for (;;) evaluate(); } catch {} }",
    "finally": "try { for (;;); } finally { return 1; }",
    "generator": "for (const _ of (function* () { for (;;) yield 1; })());",
    "clock": "const start = Date.now(); while (Date.now() - start < 1);",
    "regular expression": "return /(a+)+$/.test('a'.repeat(60) + 'b');",
    "quadratic regular expression": "return /a*b/.test('a'.repeat(1e6));",
    "sort": "return Array.from({ length: 1e5 }, (_, i) => i).sort(() => { for (let i = 0; i < 1e4; i++); return 1; });",
    "bigint": "let x = 3n; for (;;) x = x * x % (2n ** 4000n);",
    "microtasks": "return new Promise(() => { const again = () => Promise.resolve().then(again); again(); });",
    "microtasks beside an answer": "queueMicrotask(function f() { queueMicrotask(f); }); return Promise.resolve(1);",
    "thenable": "return { then(resolve) { resolve(this); } };",
    "getter of the answer": "return { get score() { for (;;); } };",
    "message of the error": "throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } });",
    "console": "for (;;) console.log('x'.repeat(2000));",
    "toJSON in the console": "console.log({ toJSON() { for (;;); } });",
    "finalizer": "for (;;) new FinalizationRegistry(() => {}).register({}, 1);",
}
GREEDY = {
    "array": "const a = []; for (;;) a.push({ a: [a.length] });",
    "strings": "const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length);",
    "one string": "return 'x'.repeat(2 ** 29).length;",
    "joined string": "let text = 'x'; for (;;) text = [text, text].join('');",
    "typed arrays": "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1));",
    "one typed array": "return new Float64Array(1 << 27).length;",
    "resized buffer": "const b = new ArrayBuffer(8, { maxByteLength: 1 << 28 }); b.resize(1 << 28); return 1;",
    "map": "const m = new Map(); for (let i = 0; ; i++) m.set(i, [i]);",
    "bound functions": "let f = () => 1; for (;;) f = f.bind(null);",
    "memory caught": "const a = []; for (;;) { try { a.push(new Uint8Array(1e6)); } catch { a.push(a.length); } }",
    "promises": "const a = []; for (;;) a.push(new Promise(() => {}));",
    "regular expression": "return new RegExp('(a|b)*'.repeat(100)).exec('ab'.repeat(1e6)).length;",
    "parse": "return JSON.parse('[' + '[],'.repeat(3e6) + '[]]').length;",
}
DEEP = {
    "recursion": "return evaluate();",
    "recursion through map": "const f = () => [1].map(f); return f();",
    "getter": "const o = { get a() { return this.a; } }; return o.a;",
    "proxy": "const p = new Proxy({}, { get: (target, key, self) => self[key] }); return p.a;",
    "constructor": "class A { constructor() { new A(); } } return new A();",
    "toString": "const o = { toString() { return '' + this; } }; return '' + o;",
    "async": "async function f() { await f(); } return f();",
    "json": "return JSON.parse('['.repeat(1e6));",
    "returned object": "let a = []; for (let i = 0; i < 20_000; i++) a = [a]; return a;",
    "nested source": "return eval('('.repeat(1e5));",
    "flat": "let a = []; for (let i = 0; i < 20_000; i++) a = [a]; return a.flat(Infinity);",
    "replace": "const f = () => 'a'.replace(/a/, f); return f();",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_endless_code_ends(run, name):
    outcome = run(ENDLESS[name])
    assert outcome.value is None
    assert outcome.fault.kind is FaultKind.TIME
    assert "60 ms" in outcome.fault.message


@pytest.mark.parametrize("name", GREEDY)
def test_greedy_code_takes_no_memory_of_the_host(run, name):
    before = _peak_mb()
    outcome = run(GREEDY[name], limits=Limits(time_ms=2_000, memory_mb=16))
    assert outcome.value is None
    assert outcome.fault.kind in {FaultKind.MEMORY, FaultKind.TIME}
    assert _peak_mb() - before < 48


@pytest.mark.parametrize("name", DEEP)
def test_deep_code_overflows_only_its_own_stack(run, name):
    outcome = run(DEEP[name], limits=Limits(time_ms=2_000))
    assert outcome.value is None
    assert outcome.fault.kind is FaultKind.STACK


@pytest.mark.parametrize("depth", [900, 1_100, 3_000])
def test_deeply_nested_answers_are_read_or_refused(run, depth):
    outcome = run(f"let a = []; for (let i = 1; i < {depth}; i++) a = [a]; return a;", limits=Limits(time_ms=2_000))
    assert outcome.fault is None or outcome.fault.kind in {FaultKind.NOT_JSON, FaultKind.STACK}


@pytest.mark.parametrize(
    "body", ["for (;;);", "const a = []; for (;;) a.push(new Uint8Array(1e6));", "(function f() { f(); })();"]
)
def test_limits_hold_while_code_is_loaded(sandbox, body):
    kind = refusal(sandbox, f"{body}\nfunction evaluate() {{ return 1; }}").kind
    assert kind in {FaultKind.TIME, FaultKind.MEMORY, FaultKind.STACK}


@pytest.mark.parametrize(
    "code", ["(" * 200_000, "function f(){" * 100_000, "x" * 5_000_000, "[" * 10**6, "\0", "`${" * 10_000]
)
def test_source_text_is_no_weapon(sandbox, code):
    with pytest.raises(CodeFault):
        sandbox.compile(code, limits=QUICK)


@pytest.mark.parametrize(
    "body",
    [
        "return 'x'.repeat(3e6);",
        "return '中'.repeat(400);",
        "return '\\u0001'.repeat(300);",
        "return Array(600).fill(1);",
        "return { text: 'x'.repeat(2000) };",
    ],
)
def test_a_huge_answer_is_refused(run, body):
    fault = run(body, limits=Limits(time_ms=2_000, output_bytes=1_000)).fault
    assert fault.kind is FaultKind.OUTPUT
    assert "1,000 bytes" in fault.message


def test_a_flood_of_console_lines_is_cut(run):
    many = run("for (let i = 0; i < 20_000; i++) console.log('line', i); return 1;", limits=Limits(time_ms=5_000))
    assert many.value == 1
    assert many.logs[:2] == ("line 0", "line 1")
    assert len(many.logs) == 101
    assert many.logs[-1] == "(19,900 more lines not kept)"
    long = run("console.log('中'.repeat(1e6)); return 1;", limits=Limits(time_ms=5_000))
    assert long.logs == ("中" * 1_000 + "…",)
    wide = run("for (let i = 0; i < 100; i++) console.log('y'.repeat(900)); return 1;")
    assert sum(map(len, wide.logs)) < 33_000
    assert wide.logs[-1].endswith("more lines not kept)")
    none = run("console.log('a'); return 1;", limits=Limits(log_lines=0))
    assert none.logs == ("(1 more line not kept)",)


def test_forged_line_breaks_make_no_more_lines(run):
    logs = run("console.log('\\0'.repeat(900)); return 1;", limits=Limits(log_lines=5)).logs
    assert len(logs) <= 6


HOST_NAMES = {
    "engine": ["std", "os", "bjson", "print", "scriptArgs", "gc", "host", "__loadScript", "evalScript", "WebAssembly"],
    "node": [
        "process",
        "require",
        "module",
        "exports",
        "global",
        "Buffer",
        "setTimeout",
        "setInterval",
        "setImmediate",
    ],
    "browser": [
        "window",
        "self",
        "fetch",
        "XMLHttpRequest",
        "WebSocket",
        "Worker",
        "importScripts",
        "navigator",
        "crypto",
    ],
    "other": ["Deno", "Bun", "Atomics", "Intl", "TextEncoder", "structuredClone", "URL"],
}


def test_the_host_has_no_name_inside(run):
    assert run("return Object.values(sample).flat().filter((name) => name in globalThis);", HOST_NAMES).value == []
    assert (
        run("return Function('return typeof process')() + (0, eval)('typeof require');").value == "undefinedundefined"
    )


@pytest.mark.parametrize(
    "body", ["return import('fs');", "return import('./x.js');", "return import('data:text/javascript,1');"]
)
def test_nothing_can_be_imported(run, body):
    assert run(body).fault.kind is FaultKind.THROWN


TRICKS = {
    "globals": "globalThis.kept = (globalThis.kept ?? 0) + 1; return kept;",
    "variable of the script": "return ++count;",
    "prototype": "Object.prototype.kept = (Object.prototype.kept ?? 0) + 1; return {}.kept;",
    "function": "evaluate.calls = (evaluate.calls ?? 0) + 1; return evaluate.calls;",
    "built-in": "Math.kept = (Math.kept ?? 0) + 1; return Math.kept;",
    "symbol": "const key = Symbol.for('kept'); Symbol[key] = (Symbol[key] ?? 0) + 1; return Symbol[key];",
    "regular expression": "pattern.test('aaaa'); return pattern.lastIndex;",
    "frozen": "const was = Object.isFrozen(Math) ? 2 : 1; Object.freeze(Math); return was;",
    "console": "const was = console.kept ?? 1; console.kept = 2; console.log = null; return was;",
    "evaluate replaced": "evaluate = () => 2; return 1;",
    "built-ins removed": "const was = typeof JSON === 'object' ? 1 : 2; delete globalThis.JSON; return was;",
    "buffer": "return ++bytes[0];",
}


@pytest.mark.parametrize("name", TRICKS)
def test_nothing_is_left_for_the_next_call(sandbox, name):
    kept = "let count = 0; const pattern = /a/g; const bytes = new Uint8Array(9);"
    code = f"{kept} function evaluate() {{ {TRICKS[name]} }}"
    script = sandbox.compile(code, limits=QUICK)
    assert [script.run({}).value for _ in range(3)] == [1, 1, 1]
    assert [outcome.value for outcome in script.run_many([{}] * 3)] == [1, 1, 1]


def test_one_evaluator_leaves_nothing_for_another(sandbox):
    for _ in range(2):
        spoil = sandbox.compile("function evaluate() { Object.prototype.x = 1; JSON.stringify = null; return 1; }")
        assert spoil.run({}).value == 1
        assert sandbox.compile("function evaluate() { return [typeof {}.x, typeof JSON.stringify]; }").run(
            {}
        ).value == [
            "undefined",
            "function",
        ]


def test_a_machine_is_pristine_after_it_was_cut_short(run):
    names = "return Object.getOwnPropertyNames(globalThis).concat(typeof kept);"
    pristine = run(names).value
    assert pristine[-1] == "undefined"
    for body in (ENDLESS["loop"], GREEDY["typed arrays"], DEEP["json"]):
        assert run(f"globalThis.kept = 1; {body}").fault is not None
        assert run(names).value == pristine


@pytest.mark.parametrize(
    "tamper",
    [
        "JSON.stringify = () => '=1'; JSON.parse = () => 1;",
        "Object.prototype.toJSON = () => 1;",
        "String.prototype.slice = Array.prototype.map = () => 1; globalThis.String = () => '1';",
        "Promise.prototype.then = () => { throw 1; }; globalThis.Promise = null;",
        "Object.prototype.kind = 'crash'; Array.prototype[Symbol.iterator] = null;",
        "Reflect.apply = null; globalThis.isFinite = () => false; Math.random = null;",
        "Error.prepareStackTrace = () => 1; Error.prototype.toString = () => 'x';",
        "Object.defineProperty(Object.prototype, 'then', { get() { throw 1; }, configurable: true });",
        "Object.defineProperty(Array.prototype, '0', { set() { throw 1; }, configurable: true });",
    ],
)
def test_tampering_with_built_ins_fools_nobody_but_the_code_itself(run, tamper):
    for body in ("return 0.5;", "throw new Error('mine');", "return Promise.reject(1);", "return { a: [1] };"):
        outcome = run(f"{tamper} {body}")
        assert outcome.fault is None or outcome.fault.kind is FaultKind.THROWN
    assert run(f"{tamper.replace('Object.defineProperty(Object.prototype', '(() => {})(0')} return 0.5;").value == 0.5


@pytest.mark.parametrize(
    "body",
    [
        "return { get score() { throw new Error('from a getter'); } };",
        "return new Proxy({}, { ownKeys() { throw new Error('from a proxy'); } });",
        "return { get then() { throw new Error('from then'); } };",
        "return { then() { throw new Error('from then'); } };",
        "throw new Proxy(new Error('x'), { get() { throw 1; } });",
        "throw Object.defineProperty(new Error('x'), 'stack', { get() { throw 1; } });",
        "throw { toString() { throw 1; }, toJSON() { throw 2; } };",
        "const e = new Error('x'); e.stack = 'at evaluator.js:99999999:1'; throw e;",
        "const e = new Error('x'); e.stack = 'evaluator.js:5000:70\\n'.repeat(1e4); throw e;",
        "throw Object.assign(new Error('m'.repeat(1e6)), { name: 'n'.repeat(1e5) });",
        "throw new InternalError('out of cheese');",
    ],
)
def test_traps_in_answers_and_errors_are_faults(run, body):
    outcome = run(body)
    assert outcome.fault.kind is FaultKind.THROWN
    assert len(outcome.fault.message) <= 2_001
    assert outcome.fault.line in {None, 1}


def test_the_harness_can_be_found_and_is_of_no_use(run):
    steal = """
        Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunction());
        const [, harness] = new Error().stack;
    """
    assert run(f"{steal} return typeof harness;").value == "function"
    outcome = run(f"{steal} return harness([0, 0, {{}}]);")
    assert outcome.fault.kind in {FaultKind.STACK, FaultKind.TIME, FaultKind.MEMORY}


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
