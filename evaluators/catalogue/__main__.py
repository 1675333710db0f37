"""The catalogue as a page of the documentation: python -m evaluators.catalogue > docs/catalogue.md"""

from __future__ import annotations

import json
from collections.abc import Iterator

from evaluators.catalogue import TAGS, Entry, classification, families
from evaluators.catalogue.inputs import Input
from evaluators.catalogue.parameters import Parameter

HEAD = """# Built-in evaluators

Made from the code by `python -m evaluators.catalogue`; a test compares the two.

An evaluator of the kind *Built-in* names one of these entries, sets its parameters and maps its inputs to places of a
case. An input that is not mapped is read at its default path; a constant takes the place of a path as `=text` in the
editor and as `{"literal": …}` in a configuration. A case that lacks a required input is unscored; an empty text is a
value. The first measure of an entry is its score; what is not measured of a case is left out.
"""

OF_RUNS = """These look at all rows of a run together. Each is a starting point of the kind *Classification*, whose
settings have the names of these inputs and parameters: a row gets its label, the right one and the scores of all
labels, and what is told of the whole stands on the run's page of classes and in the API. Labels may be plain values or
`{"key": …, "value": …}`; whatever is told is then told key by key.
"""


def page() -> str:
    """The whole page."""
    lines = [HEAD]
    for family, entries in families().items():
        lines.append(f"## {family}\n")
        for entry in entries:
            lines.extend(_lines(entry))
    lines.append(f"## {classification.FAMILY}\n\n{OF_RUNS}")
    for one in classification.aggregates():
        lines.extend(_lines(one))
    lines.append("## Standards\n")
    lines.extend(f"- **{tag}**: {words}" for tag, words in TAGS.items())
    return "\n".join(lines) + "\n"


def _lines(entry: Entry) -> Iterator[str]:
    yield f"### {entry.title}\n"
    yield f"`{entry.key}` {entry.summary}\n"
    yield from (_input(one, one.key in entry.optional) for one in entry.inputs)
    yield from map(_parameter, entry.parameters)
    measures = (f"{one.title} (`{one.name}`, {one.direction} is better)" for one in entry.measures)
    passes = "" if entry.primary.threshold is None else f" Passes at {entry.primary.threshold}."
    yield f"- Measures: {'; '.join(measures)}.{passes}"
    yield f"- Evidence for: {', '.join(entry.tags)}\n"


def _input(one: Input, optional: bool) -> str:
    return f"- Input `{one.key}`{', optional' if optional else ''}: {one.doc} By default `{one.path}`."


def _parameter(one: Parameter) -> str:
    start = "must be given" if one.is_required else f"`{json.dumps(one.start)}` by default"
    choices = f", of {', '.join(f'`{choice}`' for choice in one.choices)}" if one.choices else ""
    return f"- Parameter `{one.name}` ({one.shape}{choices}; {start}): {one.doc}."


if __name__ == "__main__":
    print(page(), end="")
