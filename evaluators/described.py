"""A configuration as people read it: the fields of its kind's form by their labels, long texts apart from settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from django import forms
from django.forms.utils import pretty_name

from evalstudio.projects.models import Project
from evaluators import textdiff
from evaluators.core import COMPARISON
from evaluators.kinds.base import BadConfig
from evaluators.kinds.scored import ScoredForm
from evaluators.models import EvaluatorVersion

SCALE = frozenset(ScoredForm.base_fields) - {"runs_on"}  # what the scale's own drawing shows


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of a configuration: its text as typed, the rows of a list one a line."""

    name: str
    label: str
    text: str
    is_long: bool = False
    language: str = ""  # that a long text is written in, for the editor that shows it


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that two versions have differently, with the words that differ on either side."""

    label: str
    old: tuple[textdiff.Piece, ...]
    new: tuple[textdiff.Piece, ...]


@dataclass(frozen=True, slots=True)
class TextChange:
    """A long text that two versions have differently."""

    label: str
    lines: list[textdiff.Line]


def settings_of(kind: Any, version: EvaluatorVersion, project: Project) -> list[Setting]:
    """The fields of a version that count, in the order of its kind's form. Raises BadConfig where it is unreadable."""
    try:
        typed = kind.form.typed(kind.upgraded(version.config, version.config_schema))
    except (BadConfig, KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise BadConfig(f"{version} cannot be read any more: {error}.") from error
    fields = kind.form(project=project).fields
    if version.config.get("scale"):
        typed = {**typed, "scale": [str(version.config["scale"]["name"])]}  # which is typed as its id
    idle = frozenset() if COMPARISON in typed.get("runs_on", ()) else kind.form.of_comparisons
    named = [_setting(name, field, typed, fields) for name, field in fields.items() if name not in idle]
    extra = [name for name in typed if name not in fields and not _row_of(name, fields)]
    return named + [Setting(name, pretty_name(name), "\n".join(typed[name])) for name in extra]


def differences(old: Sequence[Setting], new: Sequence[Setting]) -> tuple[list[TextChange], list[Change]]:
    """What differs from old to new: the long texts, and the settings."""
    texts: list[TextChange] = []
    settings: list[Change] = []
    before, after = {one.name: one for one in old}, {one.name: one for one in new}
    for name in dict.fromkeys([*after, *before]):
        shown = after.get(name) or before[name]
        was, becomes = (side[name].text if name in side else "" for side in (before, after))
        if shown.is_long:
            lines = textdiff.lines(was, becomes)
            texts += [TextChange(shown.label, lines)] if lines else []
        elif was != becomes:
            settings.append(Change(shown.label, *textdiff.words(was, becomes)))
    return texts, settings


def _setting(name: str, field: forms.Field, typed: Mapping[str, Sequence[str]], fields: Mapping[str, Any]) -> Setting:
    columns = [name, *(other for other in typed if other not in fields and _row_of(other, {name: field}))]
    rows = zip_longest(*(_in_words(field, typed.get(column, ())) for column in columns), fillvalue="")
    text = "\n".join(" · ".join(part for part in row if part) for row in rows).replace("\r\n", "\n").strip()
    is_long = isinstance(field.widget, forms.Textarea)
    language = str(field.widget.attrs.get("data-editor", "")) if is_long else ""
    return Setting(name, str(field.label or pretty_name(name)), text, is_long, language)


def _row_of(name: str, fields: Mapping[str, Any]) -> bool:
    """Whether this column belongs to the rows of one of the fields, as option_percentage does to option_label."""
    first, underscore, _ = name.partition("_")
    return bool(underscore) and any(field.startswith(f"{first}_") for field in fields)


def _in_words(field: forms.Field, texts: Sequence[str]) -> list[str]:
    """What was typed as the page words it: the title of a choice, yes for a tick."""
    if isinstance(field, forms.BooleanField):
        return ["yes" if any(texts) else "no"]
    if isinstance(field, forms.ChoiceField):
        titles = {str(value): str(title) for value, title in list(field.choices)}  # type: ignore[arg-type]
        return [titles.get(text) or text.partition(":")[2] or text for text in texts]
    return list(texts)
