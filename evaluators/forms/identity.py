"""What every evaluator has besides its configuration: a name, and a note for the version being saved."""

from __future__ import annotations

from typing import Any

from django import forms

from evalstudio.projects.models import Project
from evaluators.models import Evaluator


class IdentityForm(forms.Form):
    """The name of an evaluator (once in its project) and the note of the next version.

    `base` is the number of the version that the edits began from, empty for a new evaluator.
    """

    name = forms.CharField(max_length=120, error_messages={"required": "Give it a name."})
    note = forms.CharField(max_length=300, required=False)
    base = forms.IntegerField(required=False, min_value=1, widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, project: Project, evaluator: Evaluator | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        self.project, self.evaluator = project, evaluator

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        namesakes = Evaluator.objects.filter(project=self.project, name=name)
        if self.evaluator:
            namesakes = namesakes.exclude(pk=self.evaluator.pk)
        namesake = namesakes.first()
        if namesake:
            archived = "an archived evaluator" if namesake.archived_at else "another evaluator"
            raise forms.ValidationError(
                f"“{name}” is the name of {archived} of this project. Add a word that tells them apart."
            )
        return name
