"""A real sandbox for the tests, and short ways to run code in it."""

from collections.abc import Callable

import pytest

from evalstudio.calls.javascript import CodeFault, Fault, Limits, Outcome, Sandbox

Run = Callable[..., Outcome]
QUICK = Limits(time_ms=60)


@pytest.fixture(name="sandbox", scope="session")
def real_sandbox(tmp_path_factory: pytest.TempPathFactory) -> Sandbox:
    return Sandbox(tmp_path_factory.getbasetemp().parent / "machine-code")


@pytest.fixture(name="run")
def run_in_sandbox(sandbox: Sandbox) -> Run:
    """Calls a function with the given body on a sample."""

    def run(body: str, sample: dict | None = None, *, seed: int = 0, limits: Limits = QUICK) -> Outcome:
        return sandbox.compile(f"function evaluate(sample) {{ {body}\n}}", limits=limits).run(sample or {}, seed=seed)

    return run


def refusal(sandbox: Sandbox, code: str, limits: Limits = QUICK) -> Fault:
    with pytest.raises(CodeFault) as raised:
        sandbox.compile(code, limits=limits)
    return raised.value.fault
