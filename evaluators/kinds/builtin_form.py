"""The form of a built-in: its fields are those of the entry that was chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from evalstudio.projects.models import Project
from evalstudio.web.foreign import is_storable
from evaluators import catalogue
from evaluators.catalogue import Entry
from evaluators.catalogue import parameters as shapes
from evaluators.catalogue.inputs import INPUTS, Input
from evaluators.catalogue.parameters import Parameter
from evaluators.core import FieldError
from evaluators.kinds.base import Stored
from evaluators.kinds.builtin import Builtin
from evaluators.kinds.builtin_checks import INPUT, PARAMETER
from evaluators.kinds.forms import UNSTORABLE, KindForm, PercentField, Typed, as_number, as_percent
from evaluators.kinds.judge_form import ModelField, model_choice

LITERAL = "="  # begins a constant in the place of a path


class BadJson(ValueError):
    """The text is no JSON, from this line on."""

    def __init__(self, error: json.JSONDecodeError) -> None:
        super().__init__(f"This is no JSON: {error.msg}.")
        self.line = error.lineno


def read_setting(parameter: Parameter, values: list[str]) -> Any:
    """What was typed for a parameter as it is stored; what cannot be read as it was typed. Raises BadJson."""
    text = values[-1] if values else ""
    match parameter.shape:
        case shapes.FLAG:
            return bool(text)
        case shapes.CHOICES:
            return [choice for choice in parameter.choices if choice in values] + sorted(
                set(values) - set(parameter.choices) - {""}
            )
        case shapes.TEXTS:
            return _texts(text)
        case shapes.WHOLE | shapes.NUMBER:
            return _number(parameter, text)
        case shapes.JSON:
            return _json(text) if text.strip() else {}
    return text.replace("\r\n", "\n")


def _texts(text: str) -> list[str]:
    """One a line, or a JSON list for texts of several lines."""
    text = text.replace("\r\n", "\n")
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, list) and all(isinstance(item, str) for item in found):
            return found
    return [line for line in text.split("\n") if line]


def _number(parameter: Parameter, text: str) -> Any:
    text = text.strip()
    if not text:
        return parameter.start
    try:
        return int(text) if parameter.shape == shapes.WHOLE else float(text)
    except ValueError:
        return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadJson(error) from None
    except RecursionError:
        raise BadJson(json.JSONDecodeError("nested too deeply", text, 0)) from None


def typed_setting(parameter: Parameter, stored: Any) -> list[str]:
    """A stored setting as somebody would have typed it."""
    match parameter.shape:
        case shapes.FLAG:
            return ["on"] if stored else []
        case shapes.CHOICES:
            return [str(choice) for choice in stored]
        case shapes.TEXTS:
            is_plain = all(text and "\n" not in text for text in stored) and not "".join(stored[:1]).startswith("[")
            return ["\n".join(stored) if is_plain else json.dumps(stored, ensure_ascii=False)]
        case shapes.NUMBER if isinstance(stored, int | float):
            return [as_number(stored)]
        case shapes.JSON:
            return [json.dumps(stored, ensure_ascii=False, indent=2) if stored else ""]
    return [str(stored)]


def read_source(one: Input, text: str) -> Any:
    """A path, or the constant behind "=": a text as it stands, for other inputs JSON where it is some."""
    if not text.startswith(LITERAL):
        return text.strip()
    said = text.removeprefix(LITERAL)
    if one.is_text:
        return {"literal": said}
    try:
        return {"literal": json.loads(said)}
    except (ValueError, RecursionError):
        return {"literal": said}


def typed_source(one: Input, stored: Any) -> str:
    if isinstance(stored, str):
        return stored
    said = stored["literal"]
    return LITERAL + (said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


class OptionalModel(ModelField):
    """A model, or none."""

    def offer(self, project: Project) -> None:
        super().offer(project)
        self.choices = [("", "None; what only a model could tell stays unscored"), *list(self.choices)]  # type: ignore[arg-type]

    def clean(self, value: Any) -> Any:
        return super().clean(value) if value else (None, "")


class Values(forms.Widget):
    """Everything that was typed under a name."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        return list(data.getlist(name))


def _slots() -> dict[str, forms.Field]:
    """A field for every parameter and input of the catalogue; a form keeps those of its entry."""
    names = [PARAMETER + one.name for entry in catalogue.entries() for one in entry.parameters]
    names += [INPUT + key for key in INPUTS]
    return {name: forms.Field(required=False, widget=Values) for name in names}


class BuiltinForm(KindForm):
    """The settings of a built-in as people type them: parameter_… and input_… of the entry, threshold, model."""

    kind = Builtin()
    blanks: ClassVar[dict[str, Any]] = {"model": (None, "")}

    entry = forms.CharField(required=False)
    model = OptionalModel(required=False)
    threshold = PercentField(label="Passes at, %", required=False)

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, project=project, **more)
        self.fields["model"].offer(project)  # type: ignore[attr-defined]
        self.chosen = entry_of(data)
        own = {"entry", "threshold", "model"}
        if self.chosen:
            own |= {PARAMETER + one.name for one in self.chosen.parameters}
            own |= {INPUT + one.key for one in self.chosen.inputs}
        self.fields = {name: field for name, field in self.fields.items() if name in own}
        self._bad_json: dict[str, BadJson] = {}

    def own_faults(self) -> list[FieldError]:
        bad_json = [FieldError(PARAMETER + name, str(error), error.line) for name, error in self._bad_json.items()]
        return bad_json + [
            FieldError(name, UNSTORABLE)
            for name, values in self.cleaned_data.items()
            if isinstance(values, list) and not all(map(is_storable, values))
        ]

    def to_config(self) -> Stored:
        if self.chosen is None:
            return self.kind.blank()
        connection_id, model = self.cleaned_data["model"] if self.chosen.asks else (None, "")
        return {
            **self.kind.start(self.chosen),
            "parameters": {one.name: self._setting(one) for one in self.chosen.parameters},
            "mapping": dict(filter(None, map(self._source, self.chosen.inputs))),
            "threshold": self.cleaned_data["threshold"],
            "connection_id": connection_id,
            "model": model,
        }

    def _setting(self, parameter: Parameter) -> Any:
        try:
            return read_setting(parameter, self.cleaned_data[PARAMETER + parameter.name] or [])
        except BadJson as error:
            self._bad_json[parameter.name] = error
            return parameter.start

    def _source(self, one: Input) -> tuple[str, Any] | None:
        """The input with its source, None where it is left at its default path."""
        text = next(iter(self.cleaned_data[INPUT + one.key] or []), "")
        source = read_source(one, text)
        return (one.key, source) if source not in ("", one.path) else None

    @classmethod
    def typed(cls, config: Mapping[str, Any]) -> Typed:
        entry = entry_of(config)
        if entry is None and config["entry"]:
            raise ValueError(f"there is no entry “{config['entry']}”")
        plain: Typed = {
            "entry": [str(config["entry"])],
            "model": [model_choice(config["connection_id"], config["model"])],
            "threshold": ["" if config["threshold"] is None else as_percent(config["threshold"])],
        }
        if entry is None:
            return plain
        stored, mapping = {**entry.start(), **config["parameters"]}, config["mapping"]
        _check_shapes(entry, stored, mapping)
        settings = {PARAMETER + one.name: typed_setting(one, stored[one.name]) for one in entry.parameters}
        sources = {INPUT + one.key: [typed_source(one, mapping[one.key])] for one in entry.inputs if one.key in mapping}
        return plain | settings | sources


BuiltinForm.base_fields.update(_slots())


def _check_shapes(entry: Entry, settings: Mapping[str, Any], mapping: Mapping[str, Any]) -> None:
    """Raise ValueError for a name that the entry does not have and for a setting of another shape."""
    parameters = {one.name: one for one in entry.parameters}
    strange = (set(settings) - set(parameters)) | (set(mapping) - {one.key for one in entry.inputs})
    if strange:
        raise ValueError(f"{entry.key} has no {min(strange)}")
    for name, parameter in parameters.items():
        if fault := parameter.fault(settings[name]):
            raise ValueError(f"{name}: {fault}")


def entry_of(typed: Any) -> Entry | None:
    """The entry that a form names; None where it names none that there is."""
    try:
        return catalogue.get(typed.get("entry") or "") if typed else None
    except KeyError:
        return None
