"""What cases of a dataset must look like: a JSON Schema for inputs and one for expected outputs, where it has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from evaluators.catalogue.outcomes import BadCase
from evaluators.catalogue.parameters import BadSetting
from evaluators.catalogue.schemas import Schema
from experiments.datasets.contents import Content
from experiments.models import CaseSpan, Dataset

ROOTS = {"inputs": "inputs", "expected_outputs": "expectedOutputs"}  # name in the schema → name in paths
MOST_FAULTS = 5  # of one root of one case
MOST_LISTED = 50


class Broken(NamedTuple):
    """Where a case breaks the schema, as a path, and how, as a sentence."""

    field: str
    reason: str


Check = Callable[[Content], list[Broken]]


class Breaking(NamedTuple):
    """The cases of a version that break a schema: how many, and the first of them, each with how."""

    total: int
    first: list[tuple[CaseSpan, list[Broken]]]


def checks_of(dataset: Dataset | None) -> Check:
    """What tells where a content breaks the schema of the dataset; without a schema nothing does."""
    schema = dataset.schema if dataset else {}
    return checks(schema) if schema else lambda content: []


def checks(schema: Mapping[str, Any]) -> Check:
    """The same for a schema that may not be saved yet. Raises BadSetting where one is no JSON Schema."""
    known = {root: _compiled(orjson.dumps(schema[root])) for root in ROOTS if root in schema}

    def check(content: Content) -> list[Broken]:
        return [broken for root, one in known.items() for broken in _broken(one, root, getattr(content, root) or {})]

    return check


def breaking(dataset: Dataset, number: int) -> Breaking:
    """The cases of a version that break the schema of the dataset. It reads every case."""
    check, total = checks_of(dataset), 0
    first: list[tuple[CaseSpan, list[Broken]]] = []
    if dataset.schema:
        spans = CaseSpan.objects.filter(dataset=dataset).at(number).select_related("case").order_by("position", "pk")
        for span in spans.iterator(chunk_size=500):
            if found := check(content_of(span.case)):
                total += 1
                first += [(span, found)] if len(first) < MOST_LISTED else []
    return Breaking(total, first)


def content_of(case: Any) -> Content:
    return Content(case.inputs, case.expected_outputs, case.metadata, case.split)


@lru_cache(maxsize=64)
def _compiled(stored: bytes) -> Schema:
    return Schema(orjson.loads(stored))


def _broken(schema: Schema, root: str, value: Any) -> list[Broken]:
    try:
        found = schema.violations(value, MOST_FAULTS)
    except TimeoutError:
        return [Broken(ROOTS[root], "A pattern of the schema takes too long on this.")]
    except BadCase as error:
        return [Broken(ROOTS[root], str(error))]
    return [Broken(f"{ROOTS[root]}{one.path.removeprefix('$')}", f"By the schema, {one.message}.") for one in found]


__all__ = ["BadSetting", "Breaking", "Broken", "Check", "breaking", "checks", "checks_of", "content_of"]
