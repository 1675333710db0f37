"""What is wrong with the configuration of a built-in, field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator

from evaluators import paths
from evaluators.catalogue import Entry
from evaluators.catalogue.binding import Source
from evaluators.catalogue.inputs import Input, WrongType
from evaluators.catalogue.outcomes import BadCase
from evaluators.catalogue.parameters import BadSetting
from evaluators.core import FieldError
from evaluators.kinds.builtin import BuiltinConfig
from evaluators.paths import BadPath
from evaluators.scoring import check_passing

PARAMETER, INPUT = "parameter_", "input_"  # the fields of forms: these with the name behind


def check(config: BuiltinConfig) -> list[FieldError]:
    """Everything that is wrong; empty when it may be saved."""
    entry = config.entry
    if entry is None:
        return [FieldError("entry", "Choose what is checked.")]
    errors = [*_wrong_settings(entry, config), *_wrong_sources(entry, config), *check_passing(config.passing)]
    if entry.must_ask(config.parameters) and not config.asks:
        errors.append(FieldError("model", "Choose the model that judges."))
    return errors


def _wrong_settings(entry: Entry, config: BuiltinConfig) -> Iterator[FieldError]:
    stored, wrong = config.parameters, False
    for parameter in entry.parameters:
        try:
            if parameter.is_required and stored[parameter.name] == "":
                raise BadSetting("Fill this in; there is nothing that it could be by itself.")
            parameter.read(stored[parameter.name])
        except BadSetting as error:
            wrong = True
            yield FieldError(PARAMETER + parameter.name, str(error), error.line)
    if not wrong:
        yield from (FieldError(PARAMETER + name, message) for name, message in entry.faults(stored))


def _wrong_sources(entry: Entry, config: BuiltinConfig) -> Iterator[FieldError]:
    mapping = dict(config.mapping)
    for one in entry.inputs:
        if source := mapping.get(one.key):
            yield from _wrong_source(one, source)


def _wrong_source(one: Input, source: Source) -> Iterator[FieldError]:
    field = INPUT + one.key
    try:
        if source.literal is None:
            paths.parse(source.path)
        else:
            one.check(one.read(json.loads(source.literal)))
    except BadPath as error:
        found = source.path.strip().partition(".")[0] if error.suggestion else None
        yield FieldError(field, str(error), suggestion=error.suggestion, found=found)
    except WrongType as error:
        yield FieldError(field, f"This should be {error}.")
    except BadCase as error:
        yield FieldError(field, str(error))
