"""Moving evaluators between projects and installations: one JSON file, without ids and without keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from evalstudio.calls.models import Connection
from evalstudio.web.foreign import is_storable, is_too_deep
from evaluators.core import PARTS
from evaluators.golden import MOST_CASES, NotKept, is_must, sample_in, stored_sample
from evaluators.models import Evaluator, Publication

FORMAT = "evalstudio.evaluator"
SCHEMA = 1
MOST_BYTES = 5_000_000
MOST_VERSIONS = 200
MOST_NUMBER = 30_000  # of a version or a schema


class NotAnExport(ValueError):
    """This is no exported evaluator; the message says what is wrong with it."""


# --- Out --------------------------------------------------------------------------------------------------------------
def exported(evaluator: Evaluator) -> dict[str, Any]:
    """The evaluator with its versions and golden cases, as it goes into a file. Five queries."""
    names = dict(Connection.objects.filter(project=evaluator.project_id).values_list("pk", "name"))
    published = set(Publication.objects.filter(version__evaluator=evaluator).values_list("version", flat=True))
    standing = evaluator.published_version
    return {
        "format": FORMAT,
        "schema": SCHEMA,
        "name": evaluator.name,
        "kind": evaluator.kind,
        "published_version": standing.number if standing else None,
        "versions": [
            {
                "number": version.number,
                "note": version.note,
                "author": version.author.username if version.author else None,
                "created_at": version.created_at.isoformat(),
                "published": version.pk in published,
                "schema": version.config_schema,
                "config": _without_ids(version.config, names),
            }
            for version in evaluator.versions.select_related("author").order_by("number")
        ],
        "golden_cases": [
            {
                "title": case.title,
                "note": case.note,
                "author": case.author.username if case.author else None,
                "created_at": case.created_at.isoformat(),
                "must": case.must,
                "sample": case.sample,
            }
            for case in evaluator.golden_cases.select_related("author").order_by("pk")
        ],
    }


def _without_ids(config: Mapping[str, Any], names: Mapping[int, str]) -> dict[str, Any]:
    """The configuration with its connection and its scale by name."""
    told = dict(config)
    if "connection_id" in told:
        told["connection"] = names.get(told.pop("connection_id"))
    if isinstance(told.get("scale"), dict):
        told["scale"] = {name: value for name, value in told["scale"].items() if name != "id"}
    return told


# --- In ---------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Told:
    """One version as the file tells it; `connection` is the name of the one it calls."""

    number: int
    note: str
    author: str
    created_at: datetime
    is_published: bool
    schema: int
    config: dict[str, Any]
    connection: str | None


@dataclass(frozen=True, slots=True)
class ToldCase:
    """One golden case as the file tells it."""

    title: str
    note: str
    author: str
    created_at: datetime
    must: dict[str, Any]
    sample: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Incoming:
    """What a file tells. Its shape is right; whether it fits into a project is another question."""

    name: str
    kind: str
    published_version: int | None
    versions: tuple[Told, ...]
    cases: tuple[ToldCase, ...]

    @property
    def connections(self) -> dict[str, list[str]]:
        """The connections that it calls by name, each with the models it asks there."""
        found: dict[str, list[str]] = {}
        for version in self.versions:
            if version.connection:
                models = found.setdefault(version.connection, [])
                model = str(version.config.get("model") or "")
                if model and model not in models:
                    models.append(model)
        return found


def read(content: bytes) -> Incoming:
    """What an uploaded file tells. Raises NotAnExport."""
    if len(content) > MOST_BYTES:
        raise NotAnExport(f"The file is larger than {MOST_BYTES // 1_000_000} MB.")
    try:
        data = orjson.loads(content.decode())
    except UnicodeDecodeError:
        raise NotAnExport("This is no text, so it is no exported evaluator.") from None
    except orjson.JSONDecodeError as error:
        raise NotAnExport(f"This is not JSON. Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    return told_by(data)


def told_by(data: Any) -> Incoming:
    """What parsed JSON tells. Raises NotAnExport."""
    if is_too_deep(data):
        raise NotAnExport("The JSON is nested too deeply.")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise NotAnExport("This is not an evaluator that EvalStudio exported: its “format” says something else.")
    if data.get("schema") != SCHEMA:
        raise NotAnExport("This file was made by a newer EvalStudio. Bring this one up to date first.")
    if not _is_sound(data):
        raise NotAnExport("The file holds characters that cannot be stored: NUL or halves of characters.")
    versions = tuple(_version(row, at) for at, row in enumerate(_rows(data, "versions", MOST_VERSIONS), 1))
    if not versions:
        raise NotAnExport("The file holds no version, so there is nothing to bring.")
    numbers = [version.number for version in versions]
    if sorted(set(numbers)) != numbers:
        raise NotAnExport("The numbers of the versions do not rise from one to the next.")
    cases = tuple(_case(row, at) for at, row in enumerate(_rows(data, "golden_cases", MOST_CASES), 1))
    published = data.get("published_version")
    return Incoming(
        _text(data, "name", "the evaluator", 120).strip() or "Imported evaluator",
        _text(data, "kind", "the evaluator", 20),
        published if published in numbers else None,
        versions,
        cases,
    )


def _rows(data: Mapping[str, Any], name: str, most: int) -> list[Any]:
    rows = data.get(name, [])
    if not isinstance(rows, list):
        raise NotAnExport(f"“{name}” is a list.")
    if len(rows) > most:
        raise NotAnExport(f"“{name}” holds {len(rows):,} entries; {most:,} is the most.")
    return rows


def _version(row: Any, at: int) -> Told:
    where = f"version {at} of the file"
    number, schema = _count(_entry(row, where), "number"), _count(row, "schema")
    if not number or not schema:
        raise NotAnExport(f"In {where}, “number” and “schema” are whole numbers from 1.")
    config = row.get("config")
    if not isinstance(config, dict):
        raise NotAnExport(f"In {where}, “config” is an object.")
    calls = "connection" in config or "connection_id" in config
    config = {name: value for name, value in config.items() if name != "connection_id"}
    connection = config.pop("connection", None)
    if not isinstance(connection, str | None):
        raise NotAnExport(f"In {where}, “connection” is the name of one.")
    if calls:
        config["connection_id"] = None  # until the project's own is known
    note, author = _text(row, "note", where, 300), _text(row, "author", where, 150)
    return Told(number, note, author, _when(row), row.get("published") is True, schema, config, connection or None)


def _case(row: Any, at: int) -> ToldCase:
    where = f"golden case {at} of the file"
    sample, must = _entry(row, where).get("sample"), row.get("must")
    if not isinstance(sample, dict) or not set(sample) <= set(PARTS):
        raise NotAnExport(f"In {where}, “sample” is an object with some of {', '.join(PARTS)}.")
    if not is_must(must):
        raise NotAnExport(f"In {where}, “must” is no verdict.")
    try:
        stored = stored_sample(sample_in(sample))
    except NotKept as error:
        raise NotAnExport(f"In {where}: {error}") from None
    title, note = _text(row, "title", where, 200), _text(row, "note", where, 300)
    return ToldCase(title or "Golden case", note, _text(row, "author", where, 150), _when(row), must, stored)


def _entry(row: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(row, dict):
        raise NotAnExport(f"{where[0].upper()}{where[1:]} is an object.")
    return row


def _text(row: Mapping[str, Any], name: str, where: str, most: int) -> str:
    text = row.get(name)
    text = "" if text is None else text
    if not isinstance(text, str) or len(text) > most:
        raise NotAnExport(f"In {where}, “{name}” is a text of at most {most} characters.")
    return text


def _count(row: Mapping[str, Any], name: str) -> int:
    """A whole number from 1 that a column holds; 0 for anything else."""
    number = row.get(name)
    return number if type(number) is int and 1 <= number <= MOST_NUMBER else 0


def _when(row: Mapping[str, Any]) -> datetime:
    """When it was made; now where that is not told, or lies ahead."""
    now = timezone.now()
    try:
        told = parse_datetime(str(row.get("created_at") or ""))
    except ValueError:
        return now
    if told is None:
        return now
    told = timezone.make_aware(told) if timezone.is_naive(told) else told
    return min(told, now)


def _is_sound(data: Any) -> bool:
    """Whether every database holds all its texts."""
    if isinstance(data, str):
        return is_storable(data)
    if isinstance(data, dict):
        return all(is_storable(name) and _is_sound(value) for name, value in data.items())
    return all(map(_is_sound, data)) if isinstance(data, list) else True
