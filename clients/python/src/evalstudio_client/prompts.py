"""Whom a prompt asks, and how, as `EvalStudio.run_prompt` takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from evalstudio_client.errors import NotFound
from evalstudio_client.wire import JSON


@dataclass(frozen=True, slots=True)
class Model:
    """A model behind a connection of the project, by the connection's name or id; None where there is only one."""

    name: str
    connection: str | int | None = None


class Parameters(TypedDict, total=False):
    """What is sent along. A parameter that is left out is left to the endpoint; `max_tokens` is 1024 unless told."""

    temperature: float
    max_tokens: int
    seed: int


class RunOptions(TypedDict, total=False):
    """Which cases are asked, and how far the run may go. `seed` draws the cases that are taken at random."""

    take: Literal["all", "first", "random", "split"]
    n: int
    seed: int
    split: str
    priority: Literal["low", "normal", "high"]
    limit_usd: float | None
    limit_minutes: float | None


def systems(
    models: Iterable[str | Model], parameters: Sequence[Parameters], connections: Sequence[Mapping[str, Any]]
) -> list[JSON]:
    """Every model with every set of parameters, as the API takes them. Raises NotFound."""
    asked = [Model(model) if isinstance(model, str) else model for model in models]
    return [
        {"connection": _connection(model, connections), "model": model.name, **told}
        for model in asked
        for told in parameters or ({},)
    ]


def _connection(model: Model, known: Sequence[Mapping[str, Any]]) -> int:
    if isinstance(model.connection, int):
        return model.connection
    found = [one for one in known if model.connection in (None, one["name"])]
    if len(found) == 1:
        return int(found[0]["id"])
    names = ", ".join(f"“{one['name']}”" for one in known) or "none"
    if model.connection is None:
        raise NotFound(f"Say which connection serves “{model.name}”. There are: {names}.")
    raise NotFound(f"There is no connection “{model.connection}” in this project. There are: {names}.")
