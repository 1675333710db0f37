"""The inputs of catalogue entries: what each is, where it lies when nobody says so, and how its value is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from evaluators.catalogue.conditions import BadCondition, Condition, condition_of
from evaluators.catalogue.outcomes import BadCase
from evaluators.catalogue.schemas import schema_of_case


class WrongType(ValueError):
    """The value is not what the input takes; the message says what it takes."""


def _nothing(value: Any) -> None:
    """No further check."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input: its key, its default path, what it is in words, and `read`, which raises WrongType and BadCase.

    A constant that is typed for a text is taken as it stands, for other inputs as JSON. What `read` leaves for later
    `check` looks at when a constant is saved, with the same errors.
    """

    key: str
    path: str
    doc: str
    read: Callable[[Any], Any]
    is_text: bool = False
    check: Callable[[Any], Any] = _nothing

    @property
    def title(self) -> str:
        """The key as a label of a form."""
        return self.key[0].upper() + self.key[1:].replace("_", " ").replace(" json", " JSON")


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def as_answer(value: Any) -> str:
    """Text; of an object with a single field that field, otherwise its JSON."""
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    return as_text(value)


def as_texts(value: Any) -> tuple[str, ...]:
    """A list of texts; a bare value is a list of one."""
    return tuple(map(as_answer, value)) if isinstance(value, list) else (as_answer(value),)


def as_json(value: Any) -> Any:
    """JSON; a text that holds JSON is read."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        raise WrongType("JSON, and this text is none") from None


def as_condition(value: Any) -> Condition:
    """A condition, read. Raises BadCase."""
    try:
        return condition_of(as_text(value))
    except BadCondition as error:
        raise BadCase(f"The condition cannot be read. {error}") from None


def as_is(value: Any) -> Any:
    return value


def as_calls(value: Any) -> tuple[tuple[str, Any], ...]:
    """The (name, arguments) of tool calls. Arguments that are JSON text are parsed; other text is left as it is."""
    return tuple((name, _arguments(call.get("arguments"))) for name, call in _functions(value, "tool calls"))


def as_tools(value: Any) -> dict[str, Any]:
    """The tools by name, each with the JSON Schema of its arguments."""
    return {name: {} if (s := tool.get("parameters")) is None else s for name, tool in _functions(value, "tools")}


def _functions(value: Any, what: str) -> list[tuple[str, dict[str, Any]]]:
    """Objects with a name, each bare or under "function" as chat endpoints write them."""
    try:
        value = as_json(value)
        items = [item.get("function", item) for item in ([value] if isinstance(value, dict) else value)]
        return [(str(item["name"]), item) for item in items]
    except (TypeError, AttributeError, KeyError, WrongType):
        raise WrongType(f"a list of {what}, each an object with a name") from None


def _arguments(value: Any) -> Any:
    if value is None or value == "":
        return {}
    try:
        return as_json(value)
    except WrongType:
        return value


INPUTS: Final = {
    one.key: one
    for one in (
        Input("input", "inputs", "The question, prompt or source text.", as_answer, is_text=True),
        Input("output", "outputs.value", "The answer.", as_answer, is_text=True),
        Input("text", "outputs.value", "The text that is looked at.", as_text, is_text=True),
        Input("expected", "expectedOutputs.value", "The expected text, or a list of which any one will do.", as_texts),
        Input("contexts", "outputs.contexts", "The retrieved texts, best first.", as_texts),
        Input("tool_calls", "outputs.toolCalls", "The calls made: name and arguments.", as_calls),
        Input("expected_tool_calls", "expectedOutputs.toolCalls", "The calls expected: name and arguments.", as_calls),
        Input("tools", "inputs.tools", "The tools at hand: name and JSON Schema of the parameters.", as_tools),
        Input("condition", "expectedOutputs.condition", "The condition of the case.", as_condition, is_text=True),
        Input("predicted_label", "outputs.value", "The label given.", as_is),
        Input("expected_label", "expectedOutputs.value", "The right label.", as_is),
        Input("scores", "outputs.scores", "A number for each label.", as_is),
        Input("expected_json", "expectedOutputs.value", "The JSON Schema of the case.", as_is, check=schema_of_case),
    )
}
