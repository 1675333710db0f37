"""Whether the right functions were called: compared with the expected calls, with the tools' schemas, or by a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import FAIL, PASS, PASS_FAIL_UNREAD, UNREAD, ForJudge, Found, Lacking
from evaluators.catalogue.registry import Settings, entry
from evaluators.catalogue.schemas import schema_of_case

Calls = tuple[tuple[str, Any], ...]
MOST_VIOLATIONS: Final = 20
PROMPT: Final = """Decide whether the calls that an assistant made to its tools are the right ones.
{% if inputs.request %}
The request:
{{ inputs.request }}
{% endif %}{% if inputs.tools %}
The tools that it could call:
{{ inputs.tools }}
{% endif %}{% if inputs.expected %}
The calls that are expected:
{{ inputs.expected }}
{% endif %}
The calls that it made:
{{ outputs.calls }}
{% if outputs.answer %}
What it answered:
{{ outputs.answer }}
{% endif %}
The verdict is pass if the calls meet the criteria, and fail otherwise."""


def _may_ask(settings: Settings) -> bool:
    return settings["method"] in ("auto", "judge")


def _must_ask(settings: Settings) -> bool:
    return bool(settings["method"] == "judge")


def _faults(settings: Settings) -> Iterator[tuple[str, str]]:
    if _must_ask(settings) and not settings["criteria"].strip():
        yield "criteria", "Say by what the model is to judge."


@entry(
    "Function calling",
    family=RULES,
    measures=PASS_FAIL_UNREAD,
    tags="VR OA",
    faults=_faults,
    may_ask=_may_ask,
    must_ask=_must_ask,
)
def function_calling(
    tool_calls: Calls,
    input: str | None = None,
    output: str | None = None,
    tools: dict[str, Any] | None = None,
    expected_tool_calls: Calls | None = None,
    *,
    method: Annotated[
        Literal["auto", "expected", "schema", "judge"],
        "How calls are checked; auto: by the expected calls if the case has any, else by the tools, else by a model",
    ] = "auto",
    ordered: Annotated[bool, "Calls must come in the expected order"] = False,
    criteria: Annotated[str, "By what a model judges"] = "correct function and parameters",
) -> Found | ForJudge:
    """Passes when the right functions were called with the right arguments."""
    if method == "expected" or (method == "auto" and expected_tool_calls is not None):
        if expected_tool_calls is None:
            raise Lacking("The case has no expected calls to compare with.")
        return _found(_differences(tool_calls, expected_tool_calls, ordered))
    if method == "schema" or (method == "auto" and tools is not None):
        if tools is None:
            raise Lacking("The case has no tools to check the calls against.")
        return _found(_violations(tool_calls, tools))
    asked = {"request": input or "", "tools": tools or {}, "expected": _plain(expected_tool_calls or ())}
    given = {"calls": _plain(tool_calls), "answer": output or ""}
    return ForJudge(PROMPT, criteria, {"inputs": asked, "outputs": given})


def _found(wrong: list[str]) -> Found:
    fails = 1.0 if wrong else 0.0
    return Found({PASS.name: 1 - fails, FAIL.name: fails, UNREAD.name: 0.0}, "\n".join(wrong))


def _plain(calls: Calls) -> list[dict[str, Any]]:
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


def _differences(made: Calls, expected: Calls, ordered: bool) -> list[str]:
    """What was called without being expected, and what was expected and not called."""
    if ordered:
        pairs = list(zip(made, expected, strict=False))
        wrong = [f"Call {n} is {a[0]}, not {b[0]}, or differs in its arguments." for n, (a, b) in _unequal(pairs)]
        return wrong + ([] if len(made) == len(expected) else [f"{len(made)} calls instead of {len(expected)}."])
    missing, extra = list(expected), []
    for call in made:
        match = next((place for place, other in enumerate(missing) if is_same(list(call), list(other))), None)
        if match is None:
            extra.append(call)
        else:
            del missing[match]
    return [f"Not expected: {name}." for name, _ in extra] + [f"Expected and not made: {name}." for name, _ in missing]


def _unequal(pairs: list[tuple[Any, Any]]) -> Iterator[tuple[int, tuple[Any, Any]]]:
    return ((n, (a, b)) for n, (a, b) in enumerate(pairs, 1) if not is_same(list(a), list(b)))


def is_same(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, true is not 1, and the order of an object's fields is nothing."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(is_same(value, b[name]) for name, value in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    return type(a) in _ALIKE.get(type(b), (type(b),)) and bool(a == b)


_ALIKE: Final[dict[type, tuple[type, ...]]] = {int: (int, float), float: (int, float)}


def _violations(calls: Calls, tools: dict[str, Any]) -> list[str]:
    """What the tools say against the calls; without any call there is nothing right about them."""
    if not calls:
        return ["Nothing was called."]
    wrong: list[str] = []
    for name, arguments in calls:
        if name not in tools:
            wrong.append(f"There is no tool {name}.")
        else:
            found = schema_of_case(tools[name]).violations(arguments, MOST_VIOLATIONS)
            wrong += [f"{name} {violation}" for violation in found]
    return wrong[:MOST_VIOLATIONS]
