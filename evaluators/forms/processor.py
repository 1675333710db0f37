"""The form of a processor's next version."""

from __future__ import annotations

from django import forms
from django.db import transaction

from evalstudio.projects.models import AuditEntry, Project, User
from evalstudio.web.foreign import is_storable
from evaluators.core import FieldError
from evaluators.kinds.forms import UNSTORABLE
from evaluators.models import ProcessorVersion
from evaluators.processing import check


class Overtaken(Exception):
    """Somebody saved a version after the one that these edits began with."""


class ProcessorForm(forms.Form):
    """Code and a note. `base` is the version that the edits began with, 0 for none; None does not ask."""

    code = forms.CharField(strip=False, required=False)
    note = forms.CharField(max_length=300, required=False)
    base = forms.IntegerField(min_value=0, required=False)

    def clean_code(self) -> str:
        code: str = self.cleaned_data["code"].replace("\r\n", "\n")
        return code if code.strip() else ""

    def faults(self) -> dict[str, list[FieldError]]:
        """What is wrong, by field; empty when it may be saved."""
        found = {name: [FieldError(name, str(each)) for each in messages] for name, messages in self.errors.items()}
        for name in {"code", "note"} & set(self.cleaned_data):
            if not is_storable(self.cleaned_data[name]):
                found[name] = [FieldError(name, UNSTORABLE)]
        if "code" not in found and (faults := check(self.cleaned_data["code"])):
            found["code"] = faults
        return found

    @transaction.atomic
    def save(self, project: Project, author: User) -> tuple[ProcessorVersion | None, bool]:
        """The next version, and whether it is new: the same code again is the version there is, None for none at all.

        Raises Overtaken.
        """
        Project.objects.select_for_update().get(pk=project.pk)  # one save at a time
        latest = ProcessorVersion.objects.filter(project=project).order_by("-number").first()
        number, code = latest.number if latest else 0, latest.code if latest else ""
        said = self.cleaned_data
        if code == said["code"]:
            return latest, False
        if said["base"] not in (None, number):
            raise Overtaken
        made = ProcessorVersion.objects.create(
            project=project, number=number + 1, code=said["code"], note=said["note"], author=author
        )
        AuditEntry.note(project, author, f"saved {made} of", "the processor")
        return made, True
