"""The form of the AI judge: the model on offer, variables with their paths, and what is asked of the endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from django import forms

from evalstudio.calls.models import Connection, ModelTraits
from evalstudio.calls.vision import sees_images
from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in, is_storable
from evaluators.core import FieldError
from evaluators.kinds.base import Stored
from evaluators.kinds.forms import UNSTORABLE, Typed, as_number
from evaluators.kinds.judge import Judge
from evaluators.kinds.scored import ScoredForm
from evaluators.models import EvaluatorVersion

MOST_TOKENS = 100_000


SEES = " · sees images"


class ModelField(forms.ChoiceField):
    """A model behind a connection of the project, as "3:gpt-4o-mini", cleaned to (3, "gpt-4o-mini")."""

    def offer(self, project: Project) -> None:
        """List the models of the project's connections: their defaults, those met before, those in use."""
        connections = {
            connection.pk: connection
            for connection in Connection.objects.filter(project=project, archived_at=None).order_by("name")
        }
        met = ModelTraits.objects.filter(connection__in=connections).values_list("connection_id", "model")
        used = EvaluatorVersion.objects.filter(evaluator__project=project, evaluator__kind=Judge.key)
        used_pairs = used.order_by().values_list("config__connection_id", "config__model").distinct()
        defaults = [(pk, connection.model) for pk, connection in connections.items()]
        pairs = dict.fromkeys([*defaults, *sorted({*met, *(pair for pair in used_pairs if pair[0] in connections)})])
        self.choices = [
            (model_choice(pk, model), f"{model} · {connections[pk].name}{SEES if sees_images(model) else ''}")
            for pk, model in pairs
            if model
        ]
        self._connection_ids = frozenset(connections)

    def valid_value(self, value: str) -> bool:
        connection, _, model = str(value).partition(":")
        return id_in(connection) in self._connection_ids and 0 < len(model.strip()) <= 200 and is_storable(model)

    def clean(self, value: Any) -> tuple[int, str]:
        connection, _, model = super().clean(value).partition(":")
        return int(connection), model.strip()


def model_choice(connection_id: int | None, model: str) -> str:
    """The value of a choice of model; empty where none is chosen."""
    return "" if connection_id is None else f"{connection_id}:{model}"


@dataclass(frozen=True, slots=True)
class TypedRow:
    """One row of a list as typed; `row` is its place on the page."""

    row: int
    texts: tuple[str, ...]


class Rows(forms.Widget):
    """Reads rows from lists of equal order; rows in which nothing is typed are left out."""

    def __init__(self, *columns: str) -> None:
        super().__init__()
        self.columns = columns

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[TypedRow]:
        rows = enumerate(zip_longest(*(data.getlist(column) for column in self.columns), fillvalue=""))
        stripped = ((row, tuple(text.strip() for text in texts)) for row, texts in rows)
        return [TypedRow(row, texts) for row, texts in stripped if any(texts)]


VARIABLE_COLUMNS = ("variable_name", "variable_path")


class JudgeForm(ScoredForm):
    """The settings of a judge as people type them."""

    kind = Judge()
    blanks = ScoredForm.blanks | {"model": (None, ""), "variable_name": (), "image_path": ()}
    of_comparisons = frozenset({"both_orders"})
    field_order = ("prompt", "model", "guide")

    prompt = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14, "data-editor": "prompt"}), strip=False, required=False
    )
    model = ModelField(
        error_messages={
            "required": "Choose a model.",
            "invalid_choice": "This model's connection is not in this project any more. Choose another.",
        }
    )
    guide = forms.CharField(
        label="Reasoning guide", widget=forms.Textarea(attrs={"rows": 3}), strip=False, required=False
    )
    variable_name = forms.Field(label="Variables", widget=Rows(*VARIABLE_COLUMNS), required=False)
    image_path = forms.Field(label="Images", widget=Rows("image_path"), required=False)
    both_orders = forms.BooleanField(label="Ask in both orders", required=False)
    weighted = forms.BooleanField(label="Weigh options by their probabilities", required=False)
    temperature = forms.FloatField(min_value=0, max_value=2, initial=0, required=False)
    max_tokens = forms.IntegerField(min_value=1, max_value=MOST_TOKENS, initial=1024, required=False)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, required=False)

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, project=project, **more)
        self.fields["model"].offer(project)  # type: ignore[attr-defined]

    def own_faults(self) -> list[FieldError]:
        return [*super().own_faults(), *self._unstorable("variable_name"), *self._unstorable("image_path")]

    def _unstorable(self, name: str) -> list[FieldError]:
        rows = enumerate(self.cleaned_data[name])
        return [FieldError(f"{name}.{index}", UNSTORABLE) for index, row in rows if not is_storable("".join(row.texts))]

    def placed(self, fault: FieldError) -> FieldError:
        """A fault of the n-th variable or image with the row of the page that it was typed in."""
        name, _, index = fault.field.partition(".")
        if not index or name not in (*VARIABLE_COLUMNS, "image_path"):
            return super().placed(fault)
        rows = self.cleaned_data["image_path" if name == "image_path" else "variable_name"]
        return replace(fault, field=f"{name}.{rows[int(index)].row}")

    def own_config(self) -> Stored:
        cleaned = self.cleaned_data
        connection_id, model = cleaned["model"]
        return {
            "prompt": _unix(cleaned["prompt"]),
            "guide": _unix(cleaned["guide"]).strip(),
            "connection_id": connection_id,
            "model": model,
            "temperature": 0.0 if cleaned["temperature"] is None else cleaned["temperature"],
            "max_tokens": cleaned["max_tokens"] or 1024,
            "seed": cleaned["seed"],
            "both_orders": cleaned["both_orders"],
            "weighted": cleaned["weighted"],
            "variables": [dict(zip(("name", "path"), row.texts, strict=True)) for row in cleaned["variable_name"]],
            "images": [row.texts[0] for row in cleaned["image_path"]],
        }

    @classmethod
    def own_typed(cls, config: Mapping[str, Any]) -> Typed:
        return {
            "prompt": [str(config["prompt"])],
            "guide": [str(config["guide"])],
            "model": [model_choice(config["connection_id"], config["model"])],
            "variable_name": [_text(variable["name"]) for variable in config["variables"]],
            "variable_path": [_text(variable["path"]) for variable in config["variables"]],
            "image_path": [_text(path) for path in _list(config["images"])],
            "both_orders": _ticked(config["both_orders"]),
            "weighted": _ticked(config["weighted"]),
            "temperature": [as_number(config["temperature"])],
            "max_tokens": [str(config["max_tokens"])],
            "seed": ["" if config["seed"] is None else str(config["seed"])],
        }


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _ticked(value: Any) -> list[str]:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return ["on"] if value else []


def _unix(text: str) -> str:
    """Text with the line ends of the house; browsers send CRLF."""
    return text.replace("\r\n", "\n")
