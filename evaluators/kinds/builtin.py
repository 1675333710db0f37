"""The built-in: an entry of the catalogue with its parameters, its inputs mapped to places of a case."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators import catalogue, scoring
from evaluators.catalogue import Entry
from evaluators.catalogue.binding import Source, source_of
from evaluators.core import FieldError, Measure, Needs, Sample, Score
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.scored import blank_scale
from evaluators.scoring import Passing, Scoring
from evaluators.tools import Tools

if TYPE_CHECKING:
    from evaluators.framing import Question
    from evaluators.kinds.builtin_form import BuiltinForm

NO_MODEL = "Only a model could tell here, and this evaluator has none."


@dataclass(frozen=True, slots=True)
class BuiltinConfig:
    """An entry, None before one is chosen; its settings as JSON; where its inputs come from; the model it may ask."""

    entry: Entry | None
    settings: str
    mapping: tuple[tuple[str, Source], ...]
    passing: Passing
    scoring: Scoring
    connection_id: int | None
    model: str

    @property
    def parameters(self) -> dict[str, Any]:
        """The settings as they are stored, one for each parameter of the entry."""
        stored: dict[str, Any] = json.loads(self.settings)
        return stored

    @property
    def asks(self) -> bool:
        """Whether it may ask a model."""
        return self.entry is not None and self.connection_id is not None and self.entry.may_ask(self.parameters)


class Builtin:
    """A computing kind, and a calling one where an entry asks a model."""

    key = "builtin"
    title = "Built-in"
    summary = "A check from the catalogue: keywords, lengths, links, formats, leaks, loops, tool calls."
    icon = "checks"
    schema = 1
    can_compare = False

    @property
    def form(self) -> type[BuiltinForm]:
        from evaluators.kinds.builtin_form import BuiltinForm

        return BuiltinForm

    def blank(self) -> Stored:
        own: Stored = {"entry": "", "parameters": {}, "mapping": {}, "connection_id": None, "model": ""}
        return {**blank_scale(scoring.PERCENTAGE), **own, "threshold": 0.5}  # as most entries have it

    def start(self, entry: Entry) -> Stored:
        """The configuration that an evaluator of this entry begins with."""
        passes = {"threshold": entry.primary.threshold, "direction": entry.primary.direction}
        return {**self.blank(), "entry": entry.key, "parameters": entry.start(), **passes}

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
        """Parameters that the entry has got since it was stored have their defaults."""
        if schema != self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        try:
            entry = _entry(stored["entry"])
            return {**stored, "parameters": {**(entry.start() if entry else {}), **stored["parameters"]}}
        except (KeyError, TypeError) as error:
            raise BadConfig(f"This is not the configuration of a built-in: {error!r}.") from error

    def load(self, stored: Mapping[str, Any], schema: int) -> BuiltinConfig:
        config = self.upgraded(stored, schema)
        try:
            entry = _entry(config["entry"])
            _check_names(entry, config["parameters"], config["mapping"])
            return BuiltinConfig(
                entry=entry,
                settings=json.dumps(config["parameters"], ensure_ascii=False, sort_keys=True),
                mapping=tuple((key, Source.of(source)) for key, source in sorted(config["mapping"].items())),
                passing=Passing(config["threshold"], config["direction"]),
                scoring=scoring.read(config["scoring"]),
                connection_id=config["connection_id"],
                model=config["model"],
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadConfig(f"This is not the configuration of a built-in: {error!r}.") from error

    def needs(self, config: BuiltinConfig) -> Needs:
        return Needs("net", config.connection_id) if config.asks else Needs("cpu")

    def measures(self, config: BuiltinConfig) -> tuple[Measure, ...]:
        return config.entry.measures[1:] if config.entry else ()

    def check(self, config: BuiltinConfig) -> list[FieldError]:
        from evaluators.kinds.builtin_checks import check

        return check(config)

    def paths(self, config: BuiltinConfig) -> tuple[str, ...]:
        """Of optional inputs only those that somebody mapped: a case may lack the others."""
        if config.entry is None:
            return ()
        mapping, optional = dict(config.mapping), config.entry.optional
        read = [one for one in config.entry.inputs if one.key in mapping or one.key not in optional]
        sources = [source_of(one, mapping) for one in read]
        return tuple(dict.fromkeys(source.path for source in sources if source.literal is None))

    def message(self, config: BuiltinConfig, sample: Sample) -> Question | None:
        from evaluators.kinds.builtin_work import question

        return question(config, sample) if config.asks else None

    def prepare(self, config: BuiltinConfig, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        """The entry with its parameters made ready once: patterns, schemas."""
        from evaluators.kinds.builtin_work import Worker

        worker = Worker(config)
        if worker.entry.is_async:
            return lambda samples: asyncio.run(worker.scores_at_once(samples))
        return lambda samples: [worker.score(sample) for sample in samples]

    async def one(self, config: BuiltinConfig, sample: Sample, tools: Tools) -> Score:
        """The score of one sample; a model is asked only where the entry cannot tell by itself."""
        from evaluators.kinds.builtin_work import judged

        return await judged(config, sample, tools)


def _entry(key: str) -> Entry | None:
    """Raises KeyError for a key that there is not."""
    return catalogue.get(key) if key else None


def _check_names(entry: Entry | None, parameters: Mapping[str, Any], mapping: Mapping[str, Any]) -> None:
    """Raise KeyError for a parameter or an input that the entry does not have."""
    known = {parameter.name for parameter in entry.parameters} if entry else set()
    inputs = {one.key for one in entry.inputs} if entry else set()
    if strange := sorted(set(parameters) - known | set(mapping) - inputs):
        raise KeyError(strange[0])
