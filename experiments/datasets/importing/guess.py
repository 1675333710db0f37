"""What the columns of a file probably are, by their names. A person can change every guess."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from experiments.datasets.importing.columns import Column
from experiments.datasets.importing.targets import IGNORE, ROOTS, Target

KEYS = ("key", "case_key", "case_id", "id", "uid", "uuid", "example_id", "item_id", "question_id", "test_id")
WORDS = {
    "inputs": "inputs input question questions query prompt instruction instructions text context contexts document"
    " documents article messages conversation passage user_input",
    "expectedOutputs": "expected_outputs expectedoutputs expected_output expected expected_answer reference references"
    " reference_answer answer answers gold gold_answer golden ground_truth groundtruth ideal target correct_answer",
    "outputs": "outputs output response responses completion prediction generated generated_text actual actual_output"
    " model_output model_answer result",
    "metadata": "metadata meta tags",
    "split": "split subset",
    "steps": "steps trace trajectory",
    "latency_ms": "latency_ms latency duration_ms",
    "cost_usd": "cost_usd cost usd",
    "tokens_in": "tokens_in input_tokens prompt_tokens",
    "tokens_out": "tokens_out output_tokens completion_tokens",
    "error": "error error_message exception",
}
MEANINGS = {word: meaning for meaning, words in WORDS.items() for word in words.split()}
FIGURES = {"latency_ms", "cost_usd", "tokens_in", "tokens_out"}
# Roots whose only column carries the answer itself, so that evaluators find it under the usual path.
ANSWERS = ("expectedOutputs", "outputs")


def targets_for(columns: Sequence[Column]) -> list[Target]:
    """One target per column, none of them twice except `ignore`."""
    key = _key_among(columns)
    split_up = {column.path[0] for column in columns if column.is_object and _meaning(column.path[0]) in ROOTS}
    taken: set[Target] = set()
    targets = []
    for column in columns:
        target = Target("key") if column is key else _free(_wish(column, split_up), column, taken)
        targets.append(target)
        taken.add(target)
    return targets


def _key_among(columns: Iterable[Column]) -> Column | None:
    named = {_word(column.name): column for column in columns if len(column.path) == 1 and not column.is_object}
    return next((named[word] for word in KEYS if word in named), None)


def _wish(column: Column, split_up: set[str]) -> Target:
    """An object of a known root is taken apart; any other object goes in whole, and its parts are ignored."""
    if len(column.path) == 2:
        return _dotted(*column.path) if column.path[0] in split_up else IGNORE
    if column.is_object and column.name in split_up:
        return IGNORE
    if column.found == "empty":
        return IGNORE
    parent, dot, name = column.name.partition(".")
    if dot and _meaning(parent) in ROOTS:
        return _dotted(parent, name)
    return _by_word(column)


def _dotted(parent: str, name: str) -> Target:
    return Target(_meaning(parent), fit_name(name))


def _by_word(column: Column) -> Target:
    meaning = _meaning(column.name)
    if meaning in FIGURES and column.found not in ("number", "mixed"):
        meaning = "metadata"
    if meaning in ROOTS and column.found == "object":
        return Target(meaning)
    if meaning in ANSWERS:
        return Target(meaning, "value")
    if meaning in ROOTS:
        name = fit_name(column.name)
        return Target(meaning, "value" if _word(name) in ROOT_WORDS else name)
    return Target(meaning) if meaning else Target("metadata", fit_name(column.name))


ROOT_WORDS = ("inputs", "input", "metadata", "meta")


def _free(wish: Target, column: Column, taken: set[Target]) -> Target:
    """The wish, or where another column has it the column's own name in the same root, or among the metadata."""
    if wish not in taken or wish == IGNORE:
        return wish
    root = wish.root if wish.root in ROOTS else "metadata"
    own = Target(root, fit_name(column.name))
    return own if own not in taken else IGNORE


def _word(name: str) -> str:
    """A name in one spelling: "Case ID", "caseId" and "case-id" are all "case_id"."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _meaning(name: str) -> str:
    return MEANINGS.get(_word(name), "")


def fit_name(name: str) -> str:
    """The column's name as one that a path can spell: letters, digits, `_` and `-`."""
    return re.sub(r"[^\w-]+", "_", name).strip("_")[:100] or "value"
