"""What one rendering may use: turns of loops, time, and the size of all that it makes on the way.

Checking single operations is not enough: a thousand harmless ones in a row, or a list that holds one long text a
million times, end a process as surely. So whatever makes a value pays for it here, and pays for what lies within it as
often as it would be written out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Final

from jinja2 import pass_context
from jinja2.runtime import Context

from evaluators.prompts.rendering import RenderError

MOST_LOOPS = 50_000  # turns of all loops of one rendering
MOST_SECONDS = 2.0
MOST_MADE = 16_000_000  # rough bytes of one value that a prompt makes, with all it refers to
MOST_MADE_IN_ALL = 64_000_000
MOST_BITS = 4096  # of a whole number that is computed

PLACE: Final = "es budget"  # among the variables of a rendering; no prompt can spell it

_TEXT, _ITEM, _OTHER = 50, 8, 30  # rough bytes of an empty text, of a place in a list, of anything else


class Budget:
    """What is left of one rendering's turns, time and size."""

    __slots__ = ("deadline", "left", "loops")

    def __init__(self) -> None:
        self.loops = MOST_LOOPS
        self.left = MOST_MADE_IN_ALL
        self.deadline = time.monotonic() + MOST_SECONDS

    def take_turns(self, turns: int) -> None:
        self.loops -= turns
        if self.loops < 0:
            raise RenderError(f"The prompt loops more than {MOST_LOOPS:,} times.")

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise RenderError(f"The prompt takes longer than {MOST_SECONDS:g} seconds to render.")

    def pay(self, value: Any) -> Any:
        """The value, paid for. One that is made while it is gone through is watched meanwhile."""
        self.check_time()
        if isinstance(value, Iterator):
            return self.watched(value)
        self.left -= weight(value)
        if self.left < 0:
            raise RenderError("The prompt makes too many long texts and lists.")
        return value

    def watched(self, values: Any) -> Iterator[Any]:
        """The values, with a look at the clock before each."""
        for value in values:
            self.check_time()
            yield value


def of(context: Context) -> Budget:
    """The budget of the rendering under way."""
    budget: Budget = context.parent[PLACE]
    return budget


def weight(value: Any, times: int = 1) -> int:
    """Rough bytes of a value written out, `times` over. Raises RenderError where that is more than MOST_MADE."""
    total, stack = 0, [value]
    while stack:
        inner = stack.pop()
        if isinstance(inner, str):
            total += _TEXT + len(inner)
        elif isinstance(inner, dict):
            total += _TEXT + 2 * _ITEM * len(inner)
            if total * times <= MOST_MADE:
                stack += inner.keys()
                stack += inner.values()
        elif isinstance(inner, list | tuple):
            total += _TEXT + _ITEM * len(inner)
            if total * times <= MOST_MADE:
                stack += inner
        else:
            total += _checked(inner) if isinstance(inner, int) else _OTHER
        if total * times > MOST_MADE:
            raise RenderError("The prompt makes a text or list that is too long.")
    return total


def _checked(number: int) -> int:
    if number.bit_length() > MOST_BITS:
        raise RenderError("The prompt computes a number that is too large.")
    return _OTHER


# What a filter of Jinja's wants before the value, by the mark that it carries.
_FIRST: Final[dict[str | None, Callable[[Context], tuple[Any, ...]]]] = {
    None: lambda context: (),
    "context": lambda context: (context,),
    "eval_context": lambda context: (context.eval_ctx,),
    "environment": lambda context: (context.environment,),
}


def metered(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose results are paid for."""
    first = _FIRST[getattr(getattr(function, "jinja_pass_arg", None), "name", None)]

    @pass_context
    @wraps(function)
    def paid(context: Context, *arguments: Any, **named: Any) -> Any:
        return of(context).pay(function(*first(context), *arguments, **named))

    return paid
