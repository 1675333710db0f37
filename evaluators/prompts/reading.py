"""From the text of a prompt to a template: what it may say is checked, and every place of a value is marked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Final

from jinja2 import Template, TemplateError, TemplateSyntaxError, nodes

from evaluators.core import COMPARISON, ROOTS, FieldError, Sample
from evaluators.paths import SPAN, MissingPath, Path, parse, resolve
from evaluators.prompts.budget import PLACE, Budget
from evaluators.prompts.checking import TOO_DEEP, check, not_seen
from evaluators.prompts.language import Missing, Sandbox, range_
from evaluators.prompts.marking import Marker
from evaluators.prompts.rendering import Rendered, RenderError, collected

MOST_CHARACTERS = 100_000
FIELD: Final = "prompt"
SANDBOX: Final = Sandbox()
# What a filter, an operator or Jinja itself raises over values that it was not made for.
BROKEN = (
    TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError, AssertionError, RuntimeError,
)  # fmt: skip

# Attributes of spans have dots in their names; these first words tell them from a mistyped part of the case.
# fmt: off
SPAN_WORDS = frozenset((
    "agent", "ai", "db", "document", "embedding", "exception", "fi", "gen_ai", "http", "llm", "openinference",
    "reranker", "retrieval", "session", "tool", "tool_call", "traceloop", "user",
))
# fmt: on
SPAN_NAMES = frozenset(("input.value", "input.mime_type", "output.value", "output.mime_type"))
_INDEX = re.compile(r"\[-?\d+\]")
_SPAN_ATTRIBUTE = re.compile(r"(?<=\{\{)(?P<before>-?\s*)(?P<name>[A-Za-z_][\w-]*(?:\.[\w-]+)+)(?=\s*(?:\||-?\}\}))")


class PromptError(ValueError):
    """The text is no prompt; `errors` says what is wrong and where."""

    def __init__(self, errors: tuple[FieldError, ...]) -> None:
        super().__init__(errors[0].message)
        self.errors = errors


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt that is ready to be rendered. `literal` is its own text, without anything that a case puts in.

    `compares` tells whether it sees two outputs. `variables` are the names that people gave to paths.
    """

    source: str
    literal: str
    reads: tuple[Path, ...]
    compares: bool
    variables: Mapping[str, Path]
    _template: Template
    _names: Mapping[str, Path]

    @property
    def paths(self) -> tuple[str, ...]:
        """The places of a case that it reads."""
        return tuple(path.text for path in self.reads)

    @property
    def roots(self) -> frozenset[str]:
        """The parts of a case that it reads."""
        return frozenset(path.root for path in self.reads)

    def lacks(self, missing: MissingPath) -> str:
        """The sentence about a path that this prompt reads and a case does not have."""
        plain = _INDEX.sub("[*]", missing.path)
        names = (name for name, path in self.variables.items() if _leads_to(_INDEX.sub("[*]", path.text), plain))
        reader = next((f"The variable {name}" for name in names), "The prompt")
        return f"{reader} reads {missing.path}, which this case does not have."

    def render(self, sample: Sample) -> Rendered:
        """The message for this sample. Raises MissingPath (the case lacks a path that is read) and RenderError."""
        roots, template = sample.roots(), self._template
        values: dict[str, Any] = {"range": range_, PLACE: Budget()}
        try:
            values |= {name: _value(roots, path) for name, path in self._names.items()}
            pieces = template.root_render_func(template.new_context(values, shared=True))
            return collected(pieces, compares=self.compares)
        except (MissingPath, RenderError) as error:
            if isinstance(error, RenderError) and error.line is None:
                error.line = _line(template, error.__traceback__)
            raise
        except (RecursionError, MemoryError) as error:
            raise RenderError("The values are nested too deeply, or too large, for this prompt.") from error
        except BROKEN as error:
            raise RenderError(_sentence(error), _line(template, error.__traceback__)) from error


def _leads_to(beginning: str, path: str) -> bool:
    return path.startswith(beginning) and path[len(beginning) : len(beginning) + 1] in ("", ".", "[")


def _value(roots: Mapping[str, Any], path: Path) -> Any:
    try:
        return resolve(roots, path)
    except MissingPath as missing:
        return Missing(missing.path)


def _sentence(error: Exception) -> str:
    words = str(error).strip() or type(error).__name__
    return f"The prompt broke over this case: {words.rstrip('.')}."


def _line(template: Template, trace: TracebackType | None) -> int | None:
    """The line of the prompt in which the error arose."""
    line = None
    while trace:
        if (
            trace.tb_frame.f_globals.get("__jinja_template__") is template
            or "__jinja_template__" in trace.tb_frame.f_globals
        ):
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line


@lru_cache(maxsize=64)
def compile(
    source: str,
    compares: bool = False,
    variables: tuple[tuple[str, str], ...] = (),
    sees: tuple[str, ...] = (*ROOTS, SPAN),
) -> Prompt:
    """The prompt that the text spells. Raises PromptError with everything that is wrong.

    `comparison` is there in a prompt that compares. `variables` are names with the path that each stands for, in the
    spelling of `paths`; none is the name of a root. `sees` are the parts of a case that it may read.
    """
    if not source.strip():
        raise PromptError((FieldError(FIELD, "Write a prompt: what to look at, and how to judge it."),))
    if len(source) > MOST_CHARACTERS:
        raise PromptError((FieldError(FIELD, f"A prompt has at most {MOST_CHARACTERS:,} characters."),))
    try:
        return _read(source, compares, {name: parse(path) for name, path in variables}, sees)
    except PromptError:
        raise
    except TemplateSyntaxError as error:
        message = (error.message or "This is no Jinja template").rstrip(".")
        fault = FieldError(FIELD, f"{message[0].upper()}{message[1:]}.", line=error.lineno)
    except (RecursionError, MemoryError, SyntaxError):
        fault = FieldError(FIELD, TOO_DEEP)
    except ValueError:  # of Python's, about numbers
        fault = FieldError(FIELD, "The prompt holds a number with thousands of digits.")
    raise PromptError((fault,))


def _read(source: str, compares: bool, variables: Mapping[str, Path], sees: Sequence[str]) -> Prompt:
    tree = SANDBOX.parse(_with_span_attributes(source, variables) if SPAN in sees else source)
    names = [root for root in sees if root != SPAN and (compares or root != COMPARISON)] + list(variables)
    if errors := check(tree, FIELD, SANDBOX, [*names, SPAN] if SPAN in sees else names):
        raise PromptError(tuple(errors))
    literal = "".join(text.data for text in tree.find_all(nodes.TemplateData))
    marker = Marker(source, variables)
    marker.visit(tree)
    if unseen := next((path.root for path in marker.reads if path.root not in sees), None):
        raise PromptError((FieldError(FIELD, not_seen(unseen, sees)),))
    template = Template.from_code(SANDBOX, SANDBOX.compile(tree), {})
    template.new_context()  # fills Jinja's own caches before threads share it
    return Prompt(source, literal, tuple(marker.reads), compares, variables, template, dict(marker.names))


def _with_span_attributes(source: str, variables: Collection[str]) -> str:
    """Bare names of span attributes become lookups by their whole name, before Jinja takes them apart at the dots."""
    words = SPAN_WORDS - set(variables)

    def lookup(found: re.Match[str]) -> str:
        name = found["name"]
        known = name.split(".")[0] in words or (name in SPAN_NAMES and name.split(".")[0] not in variables)
        return f'{found["before"]}{SPAN}["{name}"]' if known else found[0]

    return _SPAN_ATTRIBUTE.sub(lookup, source)
