"""A scale of the project as people type it, on its page and over the API."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Project, User
from evalstudio.web.foreign import is_storable
from evaluators import scoring
from evaluators.core import FieldError
from evaluators.kinds.forms import UNSTORABLE, Typed
from evaluators.kinds.scored import ScoringForm, typed_scoring
from evaluators.models import Scale


class ScaleForm(ScoringForm):
    """Name (once in its project), description, and options or a range. `faults` has everything wrong by field."""

    name = forms.CharField(max_length=80, error_messages={"required": "Give it a name."})
    description = forms.CharField(required=False, max_length=5_000, widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, data: Any = None, *, project: Project, scale: Scale | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.project, self.scale = project, scale
        self.faults: dict[str, list[FieldError]] = {}

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        namesakes = Scale.objects.filter(project=self.project, name=name)
        namesake = namesakes.exclude(pk=self.scale.pk).first() if self.scale else namesakes.first()
        if namesake:
            which = "An archived" if namesake.archived_at else "Another"
            raise forms.ValidationError(f"{which} scale of this project has this name. Add a word to tell them apart.")
        return name

    def clean_description(self) -> str:
        description: str = self.cleaned_data["description"].replace("\r\n", "\n").strip()
        if not is_storable(description):
            raise forms.ValidationError(UNSTORABLE)
        return description

    def clean(self) -> dict[str, Any]:
        """Everything that is wrong with the scoring, beside what single fields found."""
        found = [FieldError(name, str(message)) for name, messages in self.errors.items() for message in messages]
        if not {"scoring", "range_low", "range_high"} & set(self.errors):
            wrong = [self.placed(fault) for fault in scoring.check(self.typed_scoring())]
            wrong += [self.placed(fault) for fault in self.unstorable_options()]
            for fault in wrong:
                self.add_error(fault.field if fault.field in self.fields else None, fault.message)
            found += wrong
        for fault in found:
            self.faults.setdefault(fault.field, []).append(fault)
        return self.cleaned_data

    def save(self, by: User) -> Scale:
        """The scale as typed. Versions that were saved with it keep it as it was."""
        scale = self.scale or Scale(project=self.project, author=by)
        scale.name, scale.description = self.cleaned_data["name"], self.cleaned_data["description"]
        scale.scoring, scale.updated_at = self.typed_scoring().stored(), timezone.now()
        scale.save()
        AuditEntry.note(self.project, by, "changed" if self.scale else "made", f"scale {scale.name}")
        return scale

    @classmethod
    def typed(cls, scale: Scale) -> Typed:
        """A scale as the fields somebody would have typed for it."""
        return {"name": [scale.name], "description": [scale.description], **typed_scoring(scale.scoring)}
