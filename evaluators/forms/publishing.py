"""The form of a project's publishing rule."""

from __future__ import annotations

from typing import Any

from django import forms

from evalstudio.projects.models import Project
from evaluators.golden import MOST_CASES
from evaluators.kinds.forms import PercentField, as_percent
from evaluators.models import PublishingRule

SHARES = ("min_agreement", "min_sensitivity", "min_specificity")


class PublishingRuleForm(forms.Form):
    """What golden cases must show before a version is published. Nothing filled in asks for nothing."""

    min_agreement = PercentField(
        label="Agreement, %",
        required=False,
        help_text="Of all golden cases, the share with the verdict that must come.",
    )
    min_sensitivity = PercentField(
        label="Sensitivity, %", required=False, help_text="Of the cases that must pass, the share that does."
    )
    min_specificity = PercentField(
        label="Specificity, %", required=False, help_text="Of the cases that must not pass, the share that does not."
    )
    least_cases = forms.IntegerField(
        label="Golden cases, at least", min_value=1, max_value=MOST_CASES, required=False, initial=1
    )

    def __init__(self, data: Any = None, *, rule: PublishingRule | None = None, **more: Any) -> None:
        super().__init__(data, **more)
        if rule:
            self.initial = {"least_cases": rule.least_cases} | {
                name: as_percent(share) for name in SHARES if (share := getattr(rule, name)) is not None
            }
        for name in SHARES:
            self.fields[name].widget.attrs["inputmode"] = "decimal"

    def clean(self) -> dict[str, Any]:
        for name in SHARES:
            share = self.cleaned_data.get(name)
            if share is not None and not 0 <= share <= 1:
                self.add_error(name, "This is a percentage from 0 to 100.")
        halves = [self.cleaned_data.get(name) for name in SHARES[1:]]
        if not self.errors and (halves[0] is None) != (halves[1] is None):
            lacking = SHARES[1] if halves[0] is None else SHARES[2]
            self.add_error(lacking, "Give both or neither: one alone is met by saying the same of every case.")
        return self.cleaned_data

    def save(self, project: Project) -> PublishingRule | None:
        """The rule as it is now; None where nothing is asked any more."""
        shares = {name: self.cleaned_data[name] for name in SHARES}
        if all(share is None for share in shares.values()):
            PublishingRule.objects.filter(project=project).delete()
            return None
        least = {"least_cases": self.cleaned_data["least_cases"] or 1}
        return PublishingRule.objects.update_or_create(project=project, defaults=shares | least)[0]
