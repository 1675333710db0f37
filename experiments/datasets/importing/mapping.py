"""From a row of a file to a draft of a case and its output, by the mapping that a person confirmed."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from experiments.datasets.contents import TAGS, BadContent, Content, digest_of, tags_in
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue, ColumnType, read_as, shown, value_at
from experiments.datasets.importing.rows import BadRow, Row
from experiments.datasets.importing.targets import CONTENT, Target

TAGS_TARGET = Target("metadata", TAGS)  # a cell holds them between commas, JSON as a list


@dataclass(frozen=True, slots=True)
class OutputDraft:
    """What a row says about the system's answer. `digest` is the same for the same answer with the same figures."""

    digest: str
    outputs: dict[str, Any] | None = None
    steps: list[Any] | None = None
    error: str = ""
    latency_ms: float | None = None
    cost_usd: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What a row says about a case. `content` holds only what the row gives a value for; `digest` is that content's."""

    line: int
    key: str
    content: Content
    digest: str
    output: OutputDraft | None = None


@dataclass(frozen=True)
class Rule:
    """One column and what it becomes."""

    path: tuple[str, ...]
    target: Target
    kind: ColumnType

    @property
    def column(self) -> str:
        return ".".join(self.path)

    @cached_property
    def is_converted(self) -> bool:
        """Whether a value may go in other than it stands in the file."""
        return self.kind is not ColumnType.AS_IS or self.target.root in fields.FIELDS


class RowProblem(Exception):
    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


@dataclass(frozen=True)
class Mapping:
    """All rules of an import; `known` are the paths of all columns that the person saw, mapped or not."""

    rules: tuple[Rule, ...]
    known: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def load(cls, options: Names[str, Any]) -> Mapping:
        """From the stored options of an import."""
        rules = [
            Rule(tuple(rule["path"]), Target.parse(rule["target"]), ColumnType(rule["type"]))
            for rule in options["mapping"]
        ]
        return cls(tuple(rules), tuple(tuple(column["path"]) for column in options["columns"]))

    @cached_property
    def key_column(self) -> str:
        """The column that holds the key, or nothing."""
        return next((rule.column for rule in self.rules if rule.target.root == "key"), "")

    @cached_property
    def has_inputs(self) -> bool:
        return any(rule.target.root == "inputs" for rule in self.rules)

    @cached_property
    def has_outputs(self) -> bool:
        return any(rule.target.is_output for rule in self.rules)

    @cached_property
    def has_content(self) -> bool:
        """Whether rows can say anything about the content of cases."""
        return any(rule.target.root in CONTENT for rule in self.rules)

    def draft(self, row: Row) -> Draft | BadRow:
        try:
            return self._draft(row)
        except RowProblem as problem:
            return BadRow(row.line, problem.reason, problem.field)
        except BadContent as error:
            return BadRow(row.line, f"This row {error}.")

    def _draft(self, row: Row) -> Draft:
        roots: dict[str, dict[str, Any]] = {"inputs": {}, "expectedOutputs": {}, "outputs": {}, "metadata": {}}
        single: dict[str, Any] = {}
        for rule in self.rules:
            value = value_at(rule.path, row.values)
            if value is ABSENT or (rule.is_converted and (value := _converted(rule, value)) is ABSENT):
                continue
            root, name = rule.target
            if name:
                roots[root][name] = tags_in(value) if rule.target == TAGS_TARGET and isinstance(value, str) else value
            elif root in roots:
                roots[root].update(_object(rule, value))
            else:
                single[root] = value
        key = self._key(single.pop("key", None), roots["inputs"])
        content = Content(
            roots["inputs"], roots["expectedOutputs"] or None, roots["metadata"] or None, single.pop("split", "")
        )
        return Draft(row.line, key, content, content.digest(), _output(roots["outputs"], single))

    def _key(self, key: str | None, inputs: dict[str, Any]) -> str:
        """The row's own key, or one that the same inputs always get."""
        if self.key_column:
            if not key:
                raise RowProblem(self.key_column, "The key is empty.")
            return key
        if not inputs:
            raise RowProblem("", "This row has no inputs.")
        return digest_of(inputs)[:16]


def _output(outputs: dict[str, Any], figures: dict[str, Any]) -> OutputDraft | None:
    if not outputs and not figures:
        return None
    return OutputDraft(digest_of([outputs, figures]), outputs or None, **figures)


def _converted(rule: Rule, value: Any) -> Any:
    """The value as its field or column has it.

    An empty cell is left out, except among the outputs: a system that answered nothing did answer.
    """
    root = rule.target.root
    try:
        if root in fields.FIELDS:
            return fields.read(root, value)
        value = read_as(rule.kind, value)
    except BadValue as error:
        raise RowProblem(rule.column, str(error)) from error
    return ABSENT if value == "" and rule.kind is ColumnType.TEXT and root != "outputs" else value


def _object(rule: Rule, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RowProblem(rule.column, f"{shown(value)} is not an object. Give {rule.target.root} a name to hold it.")
    return value
