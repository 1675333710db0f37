"""What an evaluator's author may rely on: the dialect, returned values, faults with lines, logs, repeatable results."""

import json

import pytest

from evalstudio.calls.javascript import FaultKind, Limits
from tests.calls.sandboxed import real_sandbox, refusal, run_in_sandbox  # noqa: F401

SAMPLE = {
    "inputs": {"value": "How long is the river?"},
    "expectedOutputs": {"value": "865 km"},
    "outputs": {"value": "About 865 km."},
    "steps": [{"name": "search", "output": ["a", "b"]}],
}


def test_it_works(sandbox):
    script = sandbox.compile(
        """
        function evaluate({ inputs, expectedOutputs, outputs, steps }) {
          return outputs.value.includes(expectedOutputs.value) && steps[0].output.length === 2 ? 1 : 0;
        }
        """
    )
    outcome = script.run(SAMPLE)
    assert outcome.value == 1
    assert outcome.fault is None
    assert outcome.logs == ()
    assert outcome.took_ms > 0


@pytest.mark.parametrize(
    "code",
    [
        "function evaluate(s) { return s.a + 1; }",
        "const evaluate = (s) => s.a + 1;",
        "let evaluate = function ({ a }) { return a + 1; };",
        "var evaluate = ({ a = 0 }) => a + 1;",
        "async function evaluate(s) { return s.a + 1; }",
        "const evaluate = async ({ a }) => { await null; return (await Promise.resolve(a)) + 1; };",
        "function evaluate(s) { return { then: (resolve) => resolve(s.a + 1) }; }",
        "globalThis.evaluate = (s) => s.a + 1;",
        "'use strict'; function evaluate(s) { return this === undefined ? s.a + 1 : 0; }",
        "class Judge { #n = 1; of(s) { return s.a + this.#n; } } const evaluate = (s) => new Judge().of(s);",
    ],
)
def test_every_way_to_define_evaluate_is_found(sandbox, code):
    assert sandbox.compile(code).run({"a": 1}).value == 2


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sample.missing?.deep ?? 'none'", "none"),
        ("2n ** 64n === 18446744073709551616n", True),
        ("[...'a1b22'.matchAll(/\\d+/g)].map((m) => m[0])", ["1", "22"]),
        ("Object.fromEntries(new Map([['k', [1, [2]].flat()]]))", {"k": [1, 2]}),
        ("/(?<year>\\d{4})(?<=2024)/u.exec('in 2024').groups.year", "2024"),
        ("[3, 1, 2].toSorted().at(-1)", 3),
        ("'ÄÖ ß'.toLowerCase().normalize('NFD').length", 6),
        ("/^\\p{Lu}/u.test('Éa')", True),
        ("new Date(Date.UTC(2024, 1, 29)).toISOString()", "2024-02-29T00:00:00.000Z"),
    ],
)
def test_the_language_is_a_recent_one(run, expression, value):
    assert run(f"return {expression};").value == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("0.25", 0.25),
        ("-0", 0),
        ("1e300", 1e300),
        ("true", True),
        ("'good'", "good"),
        ("null", None),
        ("[1, 'a', null]", [1, "a", None]),
        ("({ score: 1, skipped: undefined, f() {} })", {"score": 1}),
        ("new Number(0.5)", 0.5),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("'\\ud83d\\ude00 \\u0000 \"'", '😀 \x00 "'),
        ("({ '\\udfff': '\\ud800', path: '\\\\ud800' })", {"\ufffd": "\ufffd", "path": "\\ud800"}),
    ],
)
def test_values_come_back_as_json(run, expression, value):
    outcome = run(f"return {expression};")
    assert (outcome.value, outcome.fault) == (value, None)


@pytest.mark.parametrize(
    ("expression", "kind", "part"),
    [
        ("undefined", FaultKind.NO_VALUE, "return statement"),
        ("NaN", FaultKind.NOT_A_NUMBER, "NaN"),
        ("1 / 0", FaultKind.NOT_A_NUMBER, "Infinity"),
        ("-Infinity", FaultKind.NOT_A_NUMBER, "-Infinity"),
        ("({ score: NaN })", FaultKind.NOT_JSON, 'NaN under "score"'),
        ("1n", FaultKind.NOT_JSON, "a BigInt"),
        ("[{ n: 1n }]", FaultKind.NOT_JSON, 'a BigInt under "n"'),
        ("() => 1", FaultKind.NOT_JSON, "a function"),
        ("Symbol('s')", FaultKind.NOT_JSON, "a symbol"),
        ("(() => { const a = {}; a.a = a; return a; })()", FaultKind.NOT_JSON, "contains itself"),
        ("({ toJSON() {} })", FaultKind.NOT_JSON, "JSON form"),
        ("Promise.reject(new Error('no'))", FaultKind.THROWN, "Error: no"),
        ("new Promise(() => {})", FaultKind.NEVER_SETTLED, "never settles"),
    ],
)
def test_what_is_no_value_is_a_fault_and_never_null(run, expression, kind, part):
    outcome = run(f"return {expression};")
    assert outcome.value is None
    assert outcome.fault.kind is kind
    assert part in outcome.fault.message


def test_a_thrown_error_names_the_line_of_the_users_own_code(sandbox):
    code = "function inner(x) {\n  return x.missing.deep;\n}\n\nconst evaluate = (s) =>\n  inner(s);\n"
    fault = sandbox.compile(code).run({"a": 1}).fault
    assert fault.kind is FaultKind.THROWN
    assert fault.message == "TypeError: cannot read property 'deep' of undefined"
    assert (fault.line, fault.column) == (2, 10)
    assert fault.stack == "at inner (evaluator.js:2:10)\nat evaluate (evaluator.js:6:9)"


@pytest.mark.parametrize(
    ("thrown", "message"),
    [
        ("'plain text'", "plain text"),
        ("42", "42"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("Symbol('s')", "Symbol(s)"),
        ("({ code: 7 })", '{"code":7}'),
        ("new (class Mine extends Error { name = 'Mine' })('m')", "Mine: m"),
    ],
)
def test_anything_can_be_thrown(run, thrown, message):
    fault = run(f"throw {thrown};").fault
    assert (fault.kind, fault.message) == (FaultKind.THROWN, message)


@pytest.mark.parametrize(
    ("code", "line", "column"),
    [
        ("let a = 1;\nlet b = ;\n", 2, 9),
        ("function evaluate({ a ) {\n  return a;\n}", 1, 23),
        ("\n\n  const s = 'open\n", 3, 13),
        ("let q = 1;\nlet q = 2;\nfunction evaluate() {}", 2, 7),
        ("export default function evaluate() {}", 1, 1),
        ("/* ä 中 😀 */ x = @;", 1, 18),
    ],
)
def test_a_syntax_error_names_line_and_column(sandbox, code, line, column):
    fault = refusal(sandbox, code)
    assert fault.kind is FaultKind.SYNTAX
    assert fault.message.startswith("SyntaxError: ")
    assert (fault.line, fault.column) == (line, column)


def test_an_error_while_the_code_is_loaded_is_no_syntax_error(sandbox):
    fault = refusal(sandbox, "const limits = {};\nconst most = limits.score.max;\nfunction evaluate() {}")
    assert (fault.kind, fault.line) == (FaultKind.THROWN, 2)


@pytest.mark.parametrize("code", ["", "const score = 1;", "const evaluate = 5;", "function Evaluate() {}", "\ud800"])
def test_code_without_the_function_is_refused(sandbox, code):
    fault = refusal(sandbox, code)
    assert fault.kind in {FaultKind.NO_FUNCTION, FaultKind.SYNTAX}
    assert fault.message


def test_console_lines_are_kept(run):
    outcome = run(
        """
        console.log("text", 1, true, null, undefined, { a: [1] }, [2], Symbol("s"), 3n);
        console.warn(new TypeError("bad"));
        console.error();
        console.info("zwei\\nZeilen 中 😀");
        const self = {}; self.self = self; console.debug(self);
        return 1;
        """
    )
    assert outcome.value == 1
    assert outcome.logs == (
        'text 1 true null undefined {"a":[1]} [2] Symbol(s) 3',
        "TypeError: bad",
        "",
        "zwei\nZeilen 中 😀",
        "[cannot be shown]",
    )


@pytest.mark.parametrize(
    "end", ["throw new Error('x');", "for (;;);", "return evaluate();", "return new Promise(() => {});"]
)
def test_console_lines_survive_whatever_ends_the_call(run, end):
    outcome = run(f"console.log('seen'); {end}", limits=Limits(time_ms=60, log_lines=3))
    assert outcome.fault is not None
    assert outcome.logs[0] == "seen"


def test_lines_logged_while_loading_belong_to_every_call(sandbox):
    script = sandbox.compile("console.log('loaded'); function evaluate(s) { console.log(s.n); return s.n; }")
    assert [outcome.logs for outcome in script.run_many([{"n": 1}, {"n": 2}])] == [("loaded", "1"), ("loaded", "2")]


def test_the_clock_stands_still(run):
    outcome = run("return [Date.now(), new Date().toISOString(), performance.now(), new Date().getTimezoneOffset()];")
    assert outcome.value == [946684800000, "2000-01-01T00:00:00.000Z", 0, 0]


def test_random_numbers_follow_the_seed(run):
    def draw(seed: int) -> list[float]:
        return run("return Array.from({ length: 200 }, Math.random);", seed=seed).value

    assert draw(7) == draw(7)
    assert len({tuple(draw(seed)) for seed in (0, 1, 7, 2**32, -1, 2**63)}) == 6
    assert all(0 <= number < 1 for number in draw(3))
    assert 0.4 < sum(draw(3)) / 200 < 0.6


def test_the_same_call_gives_the_same_outcome(sandbox):
    code = """
    async function evaluate(s) {
      const seen = new Map(s.words.map((word) => [word, Math.random()]));
      console.log(Math.random(), new Date(), [...seen.keys()]);
      return [...seen.values(), Object.keys({ b: 1, a: 2, 1: 3 }), new Error("e").stack, [5, 1, 4].sort()];
    }
    """
    sample = {"words": ["x", "y", "ü"]}
    first, second = (sandbox.compile(code + " " * extra).run(sample, seed=5) for extra in (0, 1))
    assert first.fault is None
    assert (first.value, first.logs) == (second.value, second.logs)


def test_each_sample_meets_its_own_seed(sandbox):
    script = sandbox.compile("const evaluate = () => Math.random();")
    values = [outcome.value for outcome in script.run_many([{}] * 3, [1, 2, 1])]
    assert values == [script.run({}, seed=1).value, script.run({}, seed=2).value, values[0]]
    assert values[0] != values[1]
    with pytest.raises(ValueError, match="zip"):
        script.run_many([{}] * 3, [1])


@pytest.mark.parametrize(
    "sample",
    [
        {"text": "\ud800 lone"},
        {"number": 2**80, "nan": float("nan"), "text": "\udfff"},
        {"__proto__": {"polluted": 1}, "constructor": 1, "toString": None},
        {"": "", "ключ": "значение", "emoji": "👩‍👩‍👧", "zero": "\x00", "line": "\u2028"},
        {"deep": json.loads("[" * 200 + "]" * 200)},
        {},
    ],
)
def test_any_json_may_be_a_sample(run, sample):
    outcome = run(
        "return [Object.keys(sample).length, JSON.stringify(sample).length > 1, sample.polluted ?? 0];", sample
    )
    assert outcome.value == [len(sample), True, 0]


def test_nan_in_a_sample_becomes_null(run):
    assert run("return sample;", {"a": float("nan"), "b": "x"}).value == {"a": None, "b": "x"}
    assert run("return sample.a === null;", {"a": float("nan"), "b": "\ud800"}).value is True


def test_a_sample_that_is_no_json_is_the_callers_mistake(run):
    with pytest.raises(TypeError):
        run("return 1;", {"a": object()})


def test_a_sample_of_five_megabytes_is_read(run):
    text = "Ein Satz mit Umlauten: äöü. " * 180_000
    outcome = run("return sample.text.length;", {"text": text}, limits=Limits(time_ms=5_000, memory_mb=64))
    assert outcome.value == len(text)


@pytest.mark.parametrize("sample", [{"text": "x" * 9_000_000}, {"list": [[0]] * 900_000}])
def test_a_sample_that_does_not_fit_is_a_fault(run, sample):
    outcome = run("return 1;", sample, limits=Limits(time_ms=5_000, memory_mb=8))
    assert outcome.fault.kind is FaultKind.SAMPLE
    assert "8 MB" in outcome.fault.message


@pytest.mark.parametrize(
    "wrong", [{"time_ms": 0}, {"time_ms": 60_000}, {"memory_mb": 1}, {"output_bytes": 0}, {"log_lines": -1}]
)
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError, match="must lie between"):
        Limits(**wrong)
