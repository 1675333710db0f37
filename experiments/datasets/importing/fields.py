"""The fields that are not free data: what each takes, whatever type its column was guessed to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from experiments.datasets.importing.columns import ABSENT, BadValue, ColumnType, read_as, shown

MAX_KEY = 200
MAX_SPLIT = 40
MAX_ERROR = 500
MAX_TOKENS = 2_147_483_647


def read(field: str, value: Any) -> Any:
    """The value as the field stores it; ABSENT where there is nothing. Raises BadValue."""
    kind, take = FIELDS[field]
    value = read_as(kind, value)
    return ABSENT if value is None or value is ABSENT or value == "" else take(value)


def _key(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadValue("A key is text or a number.")
    key = str(value).strip()
    if len(key) > MAX_KEY:
        raise BadValue(f"The key {shown(key)} is longer than {MAX_KEY} characters.")
    if not key.isprintable():
        raise BadValue("The key holds a line end or another control character.")
    return key


def _split(value: str) -> str:
    split = value.strip()
    if len(split) > MAX_SPLIT or not split.isprintable():
        raise BadValue(f"{shown(value)} is no split: a split is one line of at most {MAX_SPLIT} characters.")
    return split


def _error(value: str) -> str:
    text = value.replace("\0", "")
    return text if len(text) <= MAX_ERROR else text[: MAX_ERROR - 1] + "…"


def _steps(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadValue("Steps are a list.")
    return value


def _amount(value: float) -> float:
    if value < 0:
        raise BadValue(f"{value} is below zero.")
    try:
        return float(value)
    except OverflowError:
        raise BadValue(f"{shown(value)} is beyond every float.") from None


def _tokens(value: float) -> int:
    if value < 0 or value != int(value) or value > MAX_TOKENS:
        raise BadValue(f"{value} is not a count of tokens.")
    return int(value)


FIELDS: dict[str, tuple[ColumnType, Callable[[Any], Any]]] = {
    "key": (ColumnType.AS_IS, _key),
    "split": (ColumnType.TEXT, _split),
    "error": (ColumnType.TEXT, _error),
    "steps": (ColumnType.JSON, _steps),
    "latency_ms": (ColumnType.NUMBER, _amount),
    "cost_usd": (ColumnType.NUMBER, _amount),
    "tokens_in": (ColumnType.NUMBER, _tokens),
    "tokens_out": (ColumnType.NUMBER, _tokens),
}
