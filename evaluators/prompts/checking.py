"""What a prompt may not say, as errors with the line and the nearest right word."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from jinja2 import meta, nodes
from jinja2.sandbox import SandboxedEnvironment

from evaluators.core import COMPARISON, ROOTS, FieldError
from evaluators.paths import SPAN, nearest
from evaluators.prompts.language import FILTERS, LOOP_ATTRIBUTES, METHODS, TESTS
from evaluators.prompts.marking import SINGLE_NAMES

SPECIAL: Final = frozenset(("self", "super", "caller", "varargs", "kwargs"))
RESERVED: Final = SPECIAL | frozenset((
    "and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None", "loop", "range",
))  # fmt: skip
MOST_PARTS = 5_000  # expressions and statements of a prompt
MOST_DEEP = 50  # parts within parts
MOST_LOOPS_DEEP = 10
MOST_SET = 100
TOO_DEEP = "The prompt is nested too deeply."

# fmt: off
_ALLOWED: Final = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Name, nodes.Const,
    nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr, nodes.Filter, nodes.Test,
    nodes.Call, nodes.Getitem, nodes.Getattr, nodes.Slice, nodes.Concat, nodes.Compare, nodes.Operand, nodes.BinExpr,
    nodes.UnaryExpr,
)
# fmt: on
_TAGS: Final = {
    nodes.AssignBlock: "a set block",
    nodes.Block: "block",
    nodes.CallBlock: "call",
    nodes.Extends: "extends",
    nodes.FilterBlock: "a filter block",
    nodes.FromImport: "import",
    nodes.Import: "import",
    nodes.Include: "include",
    nodes.Macro: "macro",
    nodes.NSRef: "namespace",
    nodes.ScopedEvalContextModifier: "autoescape",
    nodes.With: "with",
}


def check(tree: nodes.Template, field: str, language: SandboxedEnvironment, names: Sequence[str]) -> list[FieldError]:
    """What is wrong with the parsed prompt, by line; empty when it may be used. `names` are those of the case."""
    if too_large := _too_large(tree, field):
        return [too_large]
    set_names = {target.name for assign in tree.find_all(nodes.Assign) for target in _targets(assign.target)}
    errors = [error for node in _all(tree) for error in _check_node(node, field, set_names, names)]
    if not errors:
        errors = _check_names(tree, field, language, names)
    return sorted(errors, key=lambda error: error.line or 0)


def _too_large(tree: nodes.Template, field: str) -> FieldError | None:
    """Whether the prompt has more parts, or parts within parts, than may be gone through. No recursion here."""
    stack: list[tuple[nodes.Node, int, int]] = [(tree, 0, 0)]
    parts = assignments = 0
    while stack:
        node, depth, loops = stack.pop()
        parts += 1
        assignments += isinstance(node, nodes.Assign)
        loops += isinstance(node, nodes.For)
        if depth > MOST_DEEP or loops > MOST_LOOPS_DEEP:
            return FieldError(field, TOO_DEEP, node.lineno)
        if parts > MOST_PARTS or assignments > MOST_SET:
            what = f"{MOST_PARTS:,} expressions" if parts > MOST_PARTS else f"{MOST_SET} variables"
            return FieldError(field, f"A prompt has at most {what}.", node.lineno)
        further = {id(branch): place for place, branch in enumerate(node.elif_)} if isinstance(node, nodes.If) else {}
        stack += [(child, depth + 1 + further.get(id(child), 0), loops) for child in node.iter_child_nodes()]
    return None


def _all(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in node.iter_child_nodes():
        yield from _all(child)


def _targets(target: nodes.Node) -> Iterator[nodes.Name]:
    if isinstance(target, nodes.Name):
        yield target
    yield from target.find_all(nodes.Name)


def _check_node(node: nodes.Node, field: str, set_names: set[str], names: Sequence[str]) -> Iterator[FieldError]:
    match node:
        case nodes.Filter() if node.name not in FILTERS:
            yield _unlisted(node, field, f"There is no filter “{node.name}”.", node.name, FILTERS)
        case nodes.Test() if node.name not in TESTS:
            yield _unlisted(node, field, f"There is no test “{node.name}”.", node.name, TESTS)
        case nodes.Getattr(node=nodes.Name(name="loop")) if node.attr not in LOOP_ATTRIBUTES:
            yield _unlisted(node, field, f"A loop has no “{node.attr}”.", node.attr, LOOP_ATTRIBUTES)
        case nodes.Call():
            yield from _check_call(node, field)
        case nodes.For() if node.recursive:
            yield FieldError(field, "A loop in a prompt cannot be recursive.", node.lineno)
        case nodes.Name() if node.ctx == "store" and node.name in (*ROOTS, *names):
            message = f"“{node.name}” is a part of the case; give this variable another name."
            yield FieldError(field, message, node.lineno, None, node.name)
        case nodes.List() | nodes.Tuple() | nodes.Dict():
            yield from _check_literal(node, field, set_names)
        case _ if not isinstance(node, _ALLOWED):
            tag = _TAGS.get(type(node), type(node).__name__.lower())
            yield FieldError(field, f"A prompt cannot use {tag}; use if, for, set and filters.", node.lineno)


def _unlisted(node: nodes.Node, field: str, message: str, name: str, listed: Collection[str]) -> FieldError:
    return FieldError(field, message, node.lineno, nearest(name, sorted(listed)), name)


def _check_literal(node: nodes.Node, field: str, set_names: set[str]) -> Iterator[FieldError]:
    """Lists of lists of lists that were set before would double in size with every line."""
    if getattr(node, "ctx", "load") == "load" and any(name.name in set_names for name in node.find_all(nodes.Name)):
        message = "A list in a prompt cannot hold a variable that was set; join texts with ~."
        yield FieldError(field, message, node.lineno)


def _check_call(node: nodes.Call, field: str) -> Iterator[FieldError]:
    match node.node:
        case nodes.Name(name="range"):
            return
        case nodes.Getattr(attr=name) if name in METHODS:
            return
        case nodes.Getattr(attr=name) | nodes.Name(name=name):
            listed = METHODS if isinstance(node.node, nodes.Getattr) else ("range",)
            yield _unlisted(node, field, f"“{name}” cannot be called in a prompt.", name, listed)
        case _:
            message = "Only methods of texts, lists and objects can be called in a prompt."
            yield FieldError(field, message, node.lineno)


def _check_names(
    tree: nodes.Template, field: str, language: SandboxedEnvironment, names: Sequence[str]
) -> list[FieldError]:
    tree.set_environment(language)
    special = {name.name for name in tree.find_all(nodes.Name)} & SPECIAL
    unknown = (meta.find_undeclared_variables(tree) | special) - {*names, "range"}
    lines: dict[str, int] = {}
    for name in tree.find_all(nodes.Name):
        if name.name in unknown and name.ctx == "load":
            lines[name.name] = min(lines.get(name.name, name.lineno), name.lineno)
    return [_unknown(name, field, line, [name for name in names if name != SPAN]) for name, line in lines.items()]


def not_seen(root: str, names: Sequence[str]) -> str:
    """The sentence about a part of the case that this prompt may not read."""
    return f"“{root}” is not there when this prompt is sent. It sees {', '.join(names[:-1])} and {names[-1]}."


def _unknown(name: str, field: str, line: int, names: Sequence[str]) -> FieldError:
    if "outputs" not in names:
        message = not_seen(name, names) if name in (*ROOTS, SPAN) else f"There is no “{name}”. {_there_are(names)}."
        return FieldError(field, message, line, nearest(name, names), name)
    if name == COMPARISON:
        message = "“comparison” is there only where two results are compared; this evaluator sees one."
        return FieldError(field, message, line, None, name)
    if name in SINGLE_NAMES and f"{name}s" not in names:
        message = f"“{name}” stands in single braces, {{{name}}}; in double braces write its path."
        return FieldError(field, message, line, SINGLE_NAMES[name].path, name)
    message = f"“{name}” is no name of a case and no variable. {_there_are(names)}; Mapping adds names of your own."
    return FieldError(field, message, line, nearest(name, names), name)


def _there_are(names: Sequence[str]) -> str:
    return f"There are {', '.join(names[:-1])} and {names[-1]}"
