"""The rewriting of a parsed prompt: paths become values looked up beforehand, outputs remember where they come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from evaluators.core import ROOTS
from evaluators.paths import SPAN, Path, parse


@dataclass(frozen=True, slots=True)
class SingleName:
    """A name that stands for a path in single braces; `unwrap` takes an object with one field as that field."""

    path: str
    unwrap: bool = False


SINGLE_NAMES: Final = {
    "actualOutput": SingleName("outputs.value", unwrap=True),
    "input": SingleName("inputs", unwrap=True),
    "expectedOutput": SingleName("expectedOutputs.value"),
    "context": SingleName("outputs.contexts"),
    "conversationHistory": SingleName("outputs.messages"),
    "expectedToolCall": SingleName("expectedOutputs.toolCalls"),
}
_SINGLE = re.compile(r"(?<!\{)\{(?:testCase\.|experimentCase\.)?(" + "|".join(SINGLE_NAMES) + r")\}(?!\})")


class Marker(NodeTransformer):
    """Rewrites one checked prompt in place. Afterwards `names` has the template's variables and the path of each.

    `variables` are the names that people gave to paths: each stands for its path, with or without further steps.
    """

    def __init__(self, source: str, variables: Mapping[str, Path]) -> None:
        prefix = "es"
        while prefix in source:  # so that no variable of the prompt's own is taken for one of ours
            prefix += "_"
        self._prefix = prefix
        self._roots = {root: Path(root) for root in (*ROOTS, SPAN)} | dict(variables)
        self._locals: dict[str, str] = {}  # variables of loops and set, and the path that their values come from
        self.names: dict[str, Path] = {}
        self.reads: dict[Path, None] = {}

    def visit_Template(self, node: nodes.Template) -> nodes.Template:
        self._learn_locals(node)
        self.generic_visit(node)
        return node

    # Where values come from

    def _learn_locals(self, tree: nodes.Template) -> None:
        """Follows values through loops and assignments until nothing new is learned."""
        loops, assignments = list(tree.find_all(nodes.For)), list(tree.find_all(nodes.Assign))
        known = -1
        while known != len(self._locals):
            known = len(self._locals)
            for loop in loops:
                path = self._source(loop.iter)
                self._learn(loop.target, path and f"{path}[*]")
            for assign in assignments:
                self._learn(assign.target, self._source(assign.node))

    def _learn(self, target: nodes.Node, path: str | None) -> None:
        names = [target] if isinstance(target, nodes.Name) else target.find_all(nodes.Name)
        for name in names:
            if path is not None and isinstance(name, nodes.Name):
                self._locals.setdefault(name.name, path)

    def _source(self, node: nodes.Node) -> str | None:
        """The path that the value of an expression comes from, the first where there are several, None for none."""
        match node:
            case nodes.Name() if (root := self._roots.get(node.name)) is not None:
                return root.text
            case nodes.Name():
                return self._locals.get(node.name)
            case nodes.Call(node=nodes.Getattr() as method):
                return self._source(method.node)
            case nodes.Getattr() | nodes.Getitem() if (base := self._source(node.node)) is not None:
                step = _step(node)
                return base if step is None else Path(base, (step,)).text
        return next((path for child in node.iter_child_nodes() if (path := self._source(child)) is not None), None)

    def _plain_path(self, node: nodes.Node) -> Path | None:
        """The path that the expression is, when it is one: a root or a variable, and constant steps."""
        steps: list[str | int] = []
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            step = _step(node)
            if step is None:
                return None
            steps.insert(0, step)
            node = node.node
        root = self._roots.get(node.name) if isinstance(node, nodes.Name) else None
        if root is None:
            return None
        if root.root == SPAN:
            words = (*root.steps, *steps)
            return Path(SPAN, (".".join(map(str, words)),) if words else ())
        return Path(root.root, (*root.steps, *steps))

    # Rewriting

    def _value_of(self, path: Path, line: int) -> nodes.Name:
        name = next((name for name, other in self.names.items() if other == path), None)
        if name is None:
            name = f"{self._prefix}{len(self.names)}"
            self.names[name] = path
            self.reads[path] = None
        return nodes.Name(name, "load", lineno=line)

    def visit_Name(self, node: nodes.Name) -> nodes.Node:
        path = self._plain_path(node)
        return self._value_of(path, node.lineno) if path else node

    def visit_Getattr(self, node: nodes.Getattr) -> nodes.Node:
        return self._lookup(node, nodes.Const(node.attr, lineno=node.lineno))

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        if isinstance(node.arg, nodes.Slice):
            return _filtered(self.generic_visit(node), "es_made")
        return self._lookup(node, node.arg)

    def _lookup(self, node: nodes.Getattr | nodes.Getitem, step: nodes.Expr) -> nodes.Node:
        if path := self._plain_path(node):
            return self._value_of(path, node.lineno)
        if isinstance(node.node, nodes.Name) and node.node.name == "loop":
            return node
        path_text = self._source(node) or "a value"
        if _step(node) is None:
            path_text += "[…]"
        return _filtered(self.visit(node.node), "es_get", self.visit(step), nodes.Const(path_text))

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        if isinstance(node.node, nodes.Getattr):  # a method: not a lookup of data
            node.node.node = self.visit(node.node.node)
        node.args = [self.visit(argument) for argument in node.args]
        node.kwargs = [self.visit(argument) for argument in node.kwargs]
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        source = self._source(node) or ""
        values = nodes.List([self.visit(part) for part in node.nodes], lineno=node.lineno)
        return _filtered(values, "es_joined", nodes.Const(source))

    def visit_For(self, node: nodes.For) -> nodes.Node:
        source = self._source(node.iter) or "a value"
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "es_each", nodes.Const(source))
        return node

    def visit_List(self, node: nodes.List | nodes.Tuple | nodes.Dict) -> nodes.Node:
        self.generic_visit(node)
        is_target = getattr(node, "ctx", "load") != "load"
        return node if is_target or _is_plain(node) else _filtered(node, "es_made")

    visit_Tuple = visit_Dict = visit_List

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        node.expr = _filtered(node.expr, "es_watched")
        return node

    def visit_Output(self, node: nodes.Output) -> nodes.Node:
        node.nodes = [part for child in node.nodes for part in self._marked(child)]
        return node

    def _marked(self, child: nodes.Expr) -> list[nodes.Expr]:
        if isinstance(child, nodes.TemplateData):
            return self._with_single_names(child)
        source = self._source(child)
        value = self.visit(child)
        return [value if source is None else _filtered(value, "es_data", nodes.Const(source))]

    def _with_single_names(self, text: nodes.TemplateData) -> list[nodes.Expr]:
        """The literal text with the names in single braces replaced by their values."""
        parts: list[nodes.Expr] = []
        end = 0
        for found in _SINGLE.finditer(text.data):
            name = SINGLE_NAMES[found[1]]
            parts.append(nodes.TemplateData(text.data[end : found.start()], lineno=text.lineno))
            value: nodes.Expr = self._value_of(parse(name.path), text.lineno + text.data.count("\n", 0, found.start()))
            if name.unwrap:
                value = _filtered(value, "es_unwrapped")
            parts.append(_filtered(value, "es_data", nodes.Const(name.path)))
            end = found.end()
        parts.append(nodes.TemplateData(text.data[end:], lineno=text.lineno))
        return [part for part in parts if not isinstance(part, nodes.TemplateData) or part.data]


def _step(node: nodes.Getattr | nodes.Getitem) -> str | int | None:
    """The constant step of a lookup, None where it is computed or a slice."""
    if isinstance(node, nodes.Getattr):
        return node.attr
    match node.arg:
        case nodes.Const(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case nodes.Neg(node=nodes.Const(value=int() as value)):
            return -value
    return None


def _is_plain(node: nodes.List | nodes.Tuple | nodes.Dict) -> bool:
    """Whether a list holds nothing but what stands in the prompt itself."""
    return all(isinstance(child, nodes.Const) for child in node.iter_child_nodes())


def _filtered(value: Any, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(arguments), [], None, None, lineno=value.lineno)
