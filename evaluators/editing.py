"""The editor without its page: what it opens with, what differs from what is saved, and saving."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django import forms
from django.db import IntegrityError, transaction
from django.http import QueryDict

from evalstudio.projects.models import AuditEntry, Project, User
from evalstudio.web.foreign import storable
from evaluators.core import FieldError
from evaluators.differences import as_sentence, named_differences
from evaluators.forms.identity import IdentityForm
from evaluators.kinds import BadConfig, Kind
from evaluators.models import Draft, Evaluator, EvaluatorVersion
from evaluators.paths import BadPath, parse
from evaluators.starters import Starter
from evaluators.typed_rows import repeated

IDENTITY = ("name", "note", "base")
NOT_KEPT = frozenset({"csrfmiddlewaretoken", "do", "evaluator", "kind", "draft", "start", "kept_at"})
Fields = dict[str, list[str]]


class NameTaken(Exception):
    """Somebody else gave this name to an evaluator of the project a moment ago."""


@dataclass(frozen=True)
class Place:
    """Where somebody edits: an evaluator with its latest version, or a new one of a kind, begun under a key."""

    project: Project
    author: User
    kind: Kind
    evaluator: Evaluator | None = None
    latest: EvaluatorVersion | None = None
    key: str = ""
    starter: Starter | None = None

    @property
    def saved_as(self) -> str:
        return str(self.latest or ("the starting point" if self.starter and self.starter.title else "the blank"))

    @property
    def next_number(self) -> int:
        return self.latest.number + 1 if self.latest else 1

    def draft(self) -> Draft | None:
        return Draft.objects.of(self.author, self.evaluator, self.key).filter(project=self.project).first()

    def keep(self, typed: QueryDict) -> Draft:
        return Draft.objects.keep(
            self.project, self.author, self.kind.key, kept_fields(typed), evaluator=self.evaluator, key=self.key
        )

    def forget(self) -> None:
        Draft.objects.of(self.author, self.evaluator, self.key).delete()

    @cached_property
    def saved_fields(self) -> Fields:
        """The latest version, the starting point or a blank, as the fields somebody would have typed for it."""
        if self.latest and self.evaluator:
            config, name = self._readable(self.latest), self.evaluator.name
        else:
            config, name = (self.starter.config, self.starter.title) if self.starter else (self.kind.blank(), "")
        identity = {"name": [name], "base": [str(self.latest.number) if self.latest else ""]}
        return self._chosen(identity | self.kind.form.typed(config))

    def _readable(self, version: EvaluatorVersion) -> dict[str, Any]:
        """What the version says in the present schema; a blank where it cannot be read any more."""
        try:
            self.kind.load(version.config, version.config_schema)
            return self.kind.upgraded(version.config, version.config_schema)
        except BadConfig:
            return self.kind.blank()

    def _chosen(self, fields: Fields) -> Fields:
        """The fields with the first of the offered choices wherever none is made, as a browser shows them."""
        unmade = [name for name in _choices_of(self.kind.form.base_fields) if not any(fields.get(name, []))]
        offered = _choices_of(self.kind.form(project=self.project).fields) if unmade else {}
        return fields | {name: offered[name][:1] for name in unmade if offered[name]}

    def forms(self, typed: QueryDict) -> tuple[IdentityForm, Any]:
        """The two forms over what was typed: name and note, and the kind's own."""
        identity = IdentityForm(typed, project=self.project, evaluator=self.evaluator)
        return identity, self.kind.form(typed, project=self.project)

    def differences(self, typed: Mapping[str, list[str]]) -> list[str]:
        """The names of what differs from the saved version; for a new evaluator, from its starting point."""
        rows = repeated(self.kind.form)
        plain = [field for field in self.kind.form.base_fields if field not in rows]
        names = {"name": "name"} | {field: field.replace("_", " ") for field in plain}
        return named_differences(typed, self.saved_fields, names, rows)

    def sentence(self, typed: Mapping[str, list[str]]) -> str:
        """What differs, as a sentence."""
        return as_sentence(self.differences(typed), self.saved_as)

    def paths(self, typed: QueryDict) -> tuple[str, ...]:
        """The places of a case that the typed form reads, in one spelling each, as far as it can be read already."""
        form = self.kind.form(typed, project=self.project)
        form.is_valid()
        try:
            known = self.kind.paths(form.loaded)
        except ValueError:  # a prompt or a setting is wrong, which is said beside it
            known = ()
        columns = [column for each in repeated(self.kind.form).values() for column in each if column.endswith("path")]
        in_rows = [text for column in columns for text in typed.getlist(column)]
        return tuple(dict.fromkeys(filter(None, map(_spelled, [*known, *in_rows]))))

    def save(self, identity: IdentityForm, form: Any) -> tuple[EvaluatorVersion, bool]:
        """Save the checked forms as the next version and forget the draft: (version, whether anything changed).

        Raises NewerVersion when somebody saved one since these edits began, NameTaken when the name went just now.
        """
        name, config = identity.cleaned_data["name"], form.to_config()
        try:
            with transaction.atomic():
                evaluator = self.evaluator or Evaluator.objects.create(
                    project=self.project, name=name, kind=self.kind.key
                )
                version = evaluator.revise(
                    config,
                    schema=self.kind.schema,
                    author=self.author,
                    note=identity.cleaned_data["note"],
                    after=identity.cleaned_data["base"] if self.evaluator else None,
                )
                renamed = evaluator.rename(name)
                revised = version != self.latest
                self.forget()
                if revised or renamed:
                    act = f"saved {version} of" if revised else "renamed"
                    AuditEntry.note(self.project, self.author, act, f"evaluator {name}")
        except IntegrityError:
            raise NameTaken from None
        return version, revised or renamed


def _spelled(path: str) -> str:
    """The path in its one spelling; "" where the text is none."""
    try:
        return parse(path).text
    except BadPath:
        return ""


def _choices_of(fields: Mapping[str, forms.Field]) -> Fields:
    """The values that each field with choices offers."""
    return {
        name: [str(value) for value, _ in list(field.choices)]  # type: ignore[arg-type]
        for name, field in fields.items()
        if isinstance(field, forms.ChoiceField)
    }


def new_key() -> str:
    """A key for an evaluator that is begun now."""
    return secrets.token_urlsafe(9)


def kept_fields(typed: QueryDict) -> Fields:
    """What a draft keeps of a posted form: everything typed, nothing of the page's own."""
    return {
        storable(name): [storable(value) for value in values] for name, values in typed.lists() if name not in NOT_KEPT
    }


def as_typed(fields: Mapping[str, Iterable[str]]) -> QueryDict:
    """Fields as a form that was posted."""
    typed = QueryDict(mutable=True)
    for name, values in fields.items():
        typed.setlist(name, list(values))
    return typed


def faults_in(identity: IdentityForm | None, form: Any) -> dict[str, list[FieldError]]:
    """What is wrong, by field; empty when both forms are right. Without `identity` the name does not matter."""
    faults: dict[str, list[FieldError]] = {}
    if identity is not None:
        _collect(faults, _plain_errors(identity))
    form.is_valid()
    _collect(faults, form.field_errors)
    return faults


def _plain_errors(form: forms.Form) -> list[FieldError]:
    return [FieldError(field, str(message)) for field, messages in form.errors.items() for message in messages]


def _collect(faults: dict[str, list[FieldError]], errors: Iterable[FieldError]) -> None:
    for error in errors:
        faults.setdefault(error.field, []).append(error)
