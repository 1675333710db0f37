"""A case as people type it: one field per name, or each part as JSON. Wrong text is kept and told with line and field.

What is typed is a dict of field names to texts. With `mode` "fields" every name of a part has a field of its own,
`text:inputs:question` for a text and `json:inputs:limit` for any other value; with "json" the fields `inputs`,
`expected_outputs` and `metadata` hold objects. `split` and `tags` stand apart in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalstudio.web.foreign import is_storable
from evaluators.catalogue.schemas import NotJson, parse
from experiments.analysis.reading import pretty
from experiments.datasets.contents import TAGS, BadContent, Content, tags_in
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue

PARTS = {"inputs": "Input", "expected_outputs": "Expected output", "metadata": "Metadata"}
MOST_TAGS, LONGEST_TAG = 40, 60
Typed = dict[str, str]


@dataclass(frozen=True, slots=True)
class CaseField:
    """One field of the form. `rows` is its height in lines."""

    name: str
    label: str
    text: str
    is_json: bool
    faults: list[str]

    @property
    def rows(self) -> int:
        lines = sum(1 + len(line) // 90 for line in self.text.split("\n"))
        return max(2 if self.is_json else 1, min(lines, 18))


@dataclass(frozen=True, slots=True)
class Read:
    """What was typed, as content; None where `faults` (sentences by field) says what is wrong."""

    content: Content | None
    faults: dict[str, list[str]]


def typed_of(content: Content, *, as_json: bool = False) -> Typed:
    """The texts that somebody would have typed for this content."""
    found = {"mode": "json" if as_json else "fields", "split": content.split, "tags": ", ".join(content.tags)}
    for part in PARTS:
        value = dict(getattr(content, part) or {})
        if part == "metadata" and _are_tags(value.get(TAGS)):
            del value[TAGS]
        if as_json:
            found[part] = pretty(value) if value else ""
        else:
            found |= {_field(part, name, inner): _text(inner) for name, inner in value.items()}
    return found


def blank_of(content: Content) -> Typed:
    """The fields of a new case that is to have the names of another one."""
    return {name: "" for name in typed_of(content) if name != "mode"} | {"mode": "fields"}


def read(typed: Mapping[str, str], base: Content | None = None) -> Read:
    """The content that was typed. `base` is what was there before: a text that only lost its line ends stays it."""
    faults: dict[str, list[str]] = {}
    parts = {part: _part(part, typed, base, faults) for part in PARTS}
    metadata = {name: value for name, value in parts["metadata"].items() if name != TAGS or not _are_tags(value)}
    tags = _tags(typed.get("tags", ""), faults)
    had_none = bool(base and base.metadata and base.metadata.get(TAGS) == [])
    split = _split(typed.get("split", ""), faults)
    if not parts["inputs"] and not faults:
        faults["inputs"] = ["A case needs an input."]
    content = Content(
        parts["inputs"],
        parts["expected_outputs"] or None,
        metadata | ({TAGS: tags} if tags or had_none else {}) or None,
        split,
    )
    try:
        content.digest()
    except BadContent as error:
        faults.setdefault("inputs", []).append(f"This case {error}.")
    return Read(None if faults else content, faults)


def fields_of(typed: Mapping[str, str], faults: Mapping[str, list[str]]) -> dict[str, list[CaseField]]:
    """The fields of the form by part, in the order they were typed in."""
    as_json = typed.get("mode") == "json"
    found: dict[str, list[CaseField]] = {part: [] for part in PARTS}
    for part in PARTS:
        if as_json:
            found[part] = [CaseField(part, PARTS[part], typed.get(part, ""), True, faults.get(part, []))]
    for field, text in typed.items():
        kind, _, rest = field.partition(":")
        part, _, name = rest.partition(":")
        if not as_json and kind in ("text", "json") and part in PARTS:
            found[part].append(CaseField(field, name, text, kind == "json", faults.get(field, [])))
    return found


def _part(part: str, typed: Mapping[str, str], base: Content | None, faults: dict[str, list[str]]) -> dict[str, Any]:
    if typed.get("mode") == "json":
        value = _json(part, typed.get(part, ""), faults)
        if value is not ABSENT and not isinstance(value, dict):
            faults[part] = ['Line 1: this is no object. Give it names, as in {"question": "Why?"}.']
        return value if isinstance(value, dict) else {}
    before = (getattr(base, part) or {}) if base else {}
    found = {}
    for field, text in typed.items():
        kind, _, rest = field.partition(":")
        of, _, name = rest.partition(":")
        if of != part or kind not in ("text", "json"):
            continue
        value = _json(field, text, faults) if kind == "json" else _same(text, before.get(name), is_new=base is None)
        if value is not ABSENT:
            found[name] = value
    return found


def _same(text: str, before: Any, *, is_new: bool) -> Any:
    """The text; what stood there before where a browser only changed its line ends. A new case leaves out blanks."""
    plain = text.replace("\r\n", "\n")
    if isinstance(before, str) and before.replace("\r\n", "\n").replace("\r", "\n") == plain:
        return before
    return ABSENT if is_new and not plain.strip() else plain


def _json(field: str, text: str, faults: dict[str, list[str]]) -> Any:
    if not text.strip():
        return ABSENT
    try:
        return parse(text.replace("\r\n", "\n"))
    except NotJson as error:
        faults.setdefault(field, []).append(f"This is no JSON. {error}")
        return ABSENT


def _split(text: str, faults: dict[str, list[str]]) -> str:
    try:
        split = fields.read("split", text)
    except BadValue as error:
        faults["split"] = [str(error)]
        return ""
    return "" if split is ABSENT else str(split)


def _tags(text: str, faults: dict[str, list[str]]) -> list[str]:
    """The tags between commas, each once."""
    tags = tags_in(text)
    wrong = next((tag for tag in tags if len(tag) > LONGEST_TAG or not tag.isprintable() or not is_storable(tag)), None)
    if wrong is not None:
        faults["tags"] = [f"“{wrong[:40]}” is no tag: a tag is at most {LONGEST_TAG} characters on one line."]
    elif len(tags) > MOST_TAGS:
        faults["tags"] = [f"A case has at most {MOST_TAGS} tags."]
    return tags


def _are_tags(value: Any) -> bool:
    """Whether the field for tags can hold this: texts without commas."""
    return isinstance(value, list) and all(isinstance(tag, str) and "," not in tag for tag in value)


def _field(part: str, name: str, value: Any) -> str:
    return f"{'text' if isinstance(value, str) else 'json'}:{part}:{name}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)
