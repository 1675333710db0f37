"""The language of prompts: which of Jinja is allowed, and the limits that no prompt can pass.

Nothing here trusts the prompt. Attributes are data lookups, methods and filters come from short lists, and whatever can
make a text or a list grow is bounded, so that rendering ends soon and small.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from jinja2 import StrictUndefined, pass_context
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.filters import do_indent, do_join, do_replace, do_round
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
from jinja2.tests import TESTS as JINJA_TESTS
from jinja2.utils import pass_eval_context

from evaluators.paths import ABSENT, MissingPath, take
from evaluators.prompts.budget import MOST_BITS, MOST_LOOPS, metered, of, weight
from evaluators.prompts.rendering import MOST_RENDERED, RenderError, datum, unwrapped

MOST_RANGE = 10_000
MOST_INDENT = 200

# fmt: off
METHODS = frozenset((
    "items", "keys", "values", "get", "upper", "lower", "strip", "lstrip", "rstrip", "split", "splitlines",
    "startswith", "endswith", "count", "find",
))
LOOP_ATTRIBUTES = frozenset(("index", "index0", "revindex", "revindex0", "first", "last", "length"))
FILTERS = frozenset((
    "abs", "capitalize", "count", "d", "default", "dictsort", "first", "float", "indent", "int", "items", "join",
    "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace", "reverse", "round",
    "select", "selectattr", "sort", "string", "sum", "title", "tojson", "trim", "truncate", "unique", "upper",
    "wordcount",
))
TESTS = frozenset((
    "boolean", "defined", "divisibleby", "eq", "equalto", "even", "false", "float", "ge", "greaterthan", "gt", "in",
    "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping", "ne", "none", "number", "odd", "sameas",
    "sequence", "string", "true", "undefined", "upper",
))
# fmt: on


class Missing(StrictUndefined):
    """What stands for a path that the sample lacks: it may be asked whether it is defined, all else is MissingPath."""

    __slots__ = ()

    def __init__(self, path: str) -> None:
        super().__init__(hint=path, exc=MissingPath)  # type: ignore[arg-type]


class Absent(StrictUndefined):
    """What a lookup by Jinja itself did not find, in a filter such as map(attribute="name")."""

    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        return f"There is no “{self._undefined_name}” here."


@pass_context
def each(context: Context, values: Any, path: str) -> Any:
    """What a loop goes over, paid for in advance."""
    if values is None:
        raise MissingPath(path)
    if not isinstance(values, list | tuple | dict | str):
        values = list(islice(values, MOST_LOOPS + 1))
    budget = of(context)
    budget.take_turns(len(values))
    return budget.watched(values)


@pass_context
def watched(context: Context, value: Any) -> Any:
    """One side of a comparison, which takes no memory but may take its time."""
    of(context).check_time()
    return value


def made(value: Any) -> Any:
    """What the prompt puts together without a filter: a list, a slice."""
    return value


def get(value: Any, step: Any, path: str) -> Any:
    """One step into a value that was reached by more than a plain path; what is not there is missing at `path`."""
    if isinstance(step, str | int) and not isinstance(step, bool):
        found = take(value, step)
        if found is not ABSENT:
            return found
    return Missing(path)


def _bounded(length: int) -> None:
    if length > MOST_RENDERED:
        raise RenderError(f"The prompt makes a text longer than {MOST_RENDERED:,} characters.")


def _sized(value: Any) -> int:
    return len(value) if isinstance(value, str | list | tuple) else 0


def _text_length(value: Any) -> int:
    return len(value) if isinstance(value, str) else 0


def joined(values: Iterable[Any], path: str = "") -> str:
    """The texts of the values in a row: Jinja's `~`."""
    texts, length = [], 0
    for value in values:
        texts.append(value if isinstance(value, str) else datum(value, path))
        length += len(texts[-1])
        _bounded(length)
    return "".join(texts)


@pass_eval_context
def join(context: Any, value: Iterable[Any], d: str = "", attribute: str | int | None = None) -> str:
    values = list(value)
    weight(values)
    _bounded(len(values) * len(d) + sum(map(_sized, values)))
    return str(do_join(context, values, d, attribute))


@pass_eval_context
def replace(context: Any, s: str, old: str, new: str, count: int | None = None) -> str:
    s, old, new = str(s), str(old), str(new)
    found = s.count(old)
    _bounded(len(s) + len(new) * (found if count is None or count < 0 else min(found, count)))
    return str(do_replace(context, s, old, new, count))


def indent(s: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    step = len(width) if isinstance(width, str) else width
    if step > MOST_INDENT:
        raise RenderError(f"An indent has at most {MOST_INDENT} characters.")
    _bounded(len(s) + step * (s.count("\n") + 2))
    return str(do_indent(s, width, first, blank))


def round_(value: float, precision: int = 0, method: Any = "common") -> float:
    if abs(precision) > 15:
        raise RenderError("Round to at most 15 places.")
    return do_round(value, precision, method)


def tojson(value: Any, indent: int | None = None) -> str:
    if isinstance(value, Missing | Absent):
        str(value)  # raises: it names what is missing
    text = json.dumps(value, ensure_ascii=False, indent=min(indent, 8) if indent else None)
    _bounded(len(text))
    return text


def range_(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > MOST_RANGE:
        raise RenderError(f"A range has at most {MOST_RANGE:,} numbers.")
    return found


OWN_FILTERS: dict[str, Callable[..., Any]] = {
    "join": join,
    "replace": replace,
    "indent": indent,
    "round": round_,
    "tojson": tojson,
    # Written into the template by `reading`; no prompt may name them.
    "es_data": datum,
    "es_unwrapped": unwrapped,
    "es_each": each,
    "es_get": get,
    "es_joined": joined,
    "es_made": made,
    "es_watched": watched,
}
FREE = frozenset(("es_data", "es_unwrapped", "es_each", "es_get", "es_watched"))  # these make nothing


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja's sandbox, narrowed to FILTERS, TESTS and METHODS, with arithmetic that cannot explode."""

    intercepted_binops = frozenset(SandboxedEnvironment.default_binop_table)

    def __init__(self) -> None:
        super().__init__(
            autoescape=False, undefined=Absent, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
        )
        filters = {name: JINJA_FILTERS[name] for name in FILTERS} | OWN_FILTERS
        self.filters = {name: function if name in FREE else metered(function) for name, function in filters.items()}
        self.tests = {name: JINJA_TESTS[name] for name in TESTS}
        self.globals = {}

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A lookup by a filter such as map(attribute=…): data only, never an attribute of Python's."""
        found = take(obj, argument) if isinstance(argument, str | int) else ABSENT
        return self.undefined(obj=obj, name=argument) if found is ABSENT else found

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return attr in METHODS or attr in LOOP_ATTRIBUTES

    def call(self, context: Context, method: Any, *arguments: Any, **named: Any) -> Any:
        return of(context).pay(super().call(context, method, *arguments, **named))

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        if operator == "+":
            _bounded(_text_length(left) + _text_length(right))
        elif operator == "*":
            _check_product(left, right)
        elif operator == "**":
            _check_power(left, right)
        elif isinstance(left, str):
            raise RenderError("A text cannot be divided; join texts with ~.")
        return of(context).pay(super().call_binop(context, operator, left, right))


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        if left.bit_length() + right.bit_length() > MOST_BITS:
            raise RenderError("The prompt computes a number that is too large.")
        return
    for text, times in ((left, right), (right, left)):
        if _sized(text) and isinstance(times, int) and times > 0:
            _bounded(_text_length(text) * times)
            weight(text, times)


def _check_power(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int) and left.bit_length() * abs(right) > MOST_BITS:
        raise RenderError("The prompt computes a number that is too large.")
