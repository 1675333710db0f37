"""JSON and JSON Schemas: texts are parsed strictly, schemas fetch nothing and their patterns end in time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar, Final

from evaluators.catalogue.outcomes import BadCase
from evaluators.catalogue.parameters import JSON, BadSetting

MOST_BACKTRACKS: Final = 1_000_000  # of one pattern: far below a second
MOST_MESSAGE: Final = 200
_OUT_OF_TIME = frozenset(("backtrackLimitExceeded", "regexEngineFailure"))


class NotJson(ValueError):
    """The text is no JSON; the message says where it stops being so."""


def parse(text: str) -> Any:
    """The value of a text that is JSON and nothing else: no NaN, no comments, no code fences. Raises NotJson."""
    try:
        return _STRICT.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except RecursionError:
        raise NotJson("It is nested too deeply.") from None


def _no_constant(name: str) -> Any:
    raise NotJson(f"{name} is no JSON.")


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < 4000 else float(digits)  # Python refuses to read longer ones


_STRICT = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole)


@dataclass(frozen=True, slots=True)
class Violation:
    """Where a value breaks its schema, by which keyword, and how."""

    path: str
    keyword: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class Schema:
    """A JSON Schema of draft 2020-12, or of the draft that `$schema` names. Raises BadSetting when it is none."""

    shape: ClassVar = JSON

    def __init__(self, stored: Any) -> None:
        from jsonschema_rs import FancyRegexOptions, ValidationError, validator_for

        self.is_empty = stored == {}
        try:
            self._validator = validator_for(
                stored,
                validate_formats=True,
                offline=True,
                pattern_options=FancyRegexOptions(backtrack_limit=MOST_BACKTRACKS),
            )
        except ValidationError as error:
            place = _spelled(error.instance_path)
            at = "" if place == "$" else f" at {place}"
            raise BadSetting(f"This is no JSON Schema{at}: {_cut(error.message)}.") from None
        except (ValueError, TypeError) as error:
            raise BadSetting(f"This is no JSON Schema: {_cut(str(error))}.") from None

    def violations(self, value: Any, most: int, keywords: frozenset[str] = frozenset()) -> list[Violation]:
        """Where the value breaks it, at most `most` places; with `keywords`, only by one of them.

        Raises TimeoutError when a pattern takes too long and BadCase for a value that is nested too deeply.
        """
        try:
            return list(islice(self._broken(value, keywords), most))
        except ValueError as error:
            raise BadCase(f"The JSON cannot be validated: {_cut(str(error))}.") from None

    def _broken(self, value: Any, keywords: frozenset[str]) -> Iterator[Violation]:
        for error in self._validator.iter_errors(value):
            if error.kind.name in _OUT_OF_TIME:
                raise TimeoutError
            keyword = next((step for step in reversed(error.schema_path) if isinstance(step, str)), "")
            if not keywords or keyword in keywords:
                yield Violation(_spelled(error.instance_path), keyword, _cut(error.message))


@lru_cache(maxsize=256)
def _compiled(schema: str) -> Schema:
    try:
        return Schema(json.loads(schema))
    except (json.JSONDecodeError, RecursionError):
        raise BadSetting("This is no JSON Schema: the text is no JSON.") from None


def schema_of_case(stored: Any) -> Schema:
    """A schema that a case brings along, as an object or as JSON text. Raises BadCase."""
    try:
        return _compiled(stored if isinstance(stored, str) else json.dumps(stored))
    except BadSetting as error:
        raise BadCase(str(error)) from None


def _spelled(path: list[str | int]) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)


def _cut(message: str) -> str:
    line = " ".join(message.split()).rstrip(".")
    return line if len(line) <= MOST_MESSAGE else line[: MOST_MESSAGE - 1] + "…"
