"""Runs an evaluator's JavaScript: QuickJS inside WebAssembly, a pristine machine for every call.

    sandbox = Sandbox(cache_dir)                    # one per process; nothing is built before the first compile
    script = sandbox.compile(code)                  # raises CodeFault with line and column
    outcome = script.run({"inputs": ..., "outputs": ...}, seed=7)

**The dialect.** The code is a script (not a module) that defines a function named `evaluate`, or as `compile` says:
as a `function`, an `async function`, or a `const` holding one. It gets one object and returns a number, boolean,
string, null, or an object or array of these. The language is ECMAScript 2023 as QuickJS-NG speaks it. There is no
host: no `require`, `process`, `fetch`, `setTimeout`, `WebAssembly`, `Atomics`, `Intl` (so `toLocaleString` knows no
locales) and nothing to import.
What a script keeps in globals is gone at the next call; each call behaves as if the code had just been loaded.

**Repeatable.** The clock stands still at 2000-01-01T00:00:00Z (`Date`, `performance`), the time zone is UTC,
`Math.random` follows the seed of the call (0 while the code is loaded). The same code, sample and seed give the same
outcome.

**Limits** (`Limits`) on processor time, memory and output are kept from outside the machine and hold for loading the
code as well as for each call; whatever the code does, `Script.run` returns an `Outcome`. Lines of `console.log`,
`debug`, `info`, `warn` and `error` come back in `Outcome.logs`, also when the call failed.

Importing this package is cheap: wasmtime is loaded by the first `compile`. No Django here.
"""

from .limits import Limits
from .outcome import CodeFault, Fault, FaultKind, Outcome
from .sandbox import Sandbox, Script

__all__ = ["CodeFault", "Fault", "FaultKind", "Limits", "Outcome", "Sandbox", "Script"]
