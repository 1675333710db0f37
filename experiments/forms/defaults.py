"""The form of what new runs of a project begin with."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db import transaction

from evalstudio.projects.models import Project
from evaluators.models import Evaluator
from experiments.forms.starting import BoundsForm, limits_typed
from experiments.models import RunDefaults
from experiments.outputs.judging import Offer


class RunDefaultsForm(BoundsForm):
    """Limits of new runs, and the evaluators that judge every new result. Nothing filled in asks for nothing."""

    evaluators = forms.ModelMultipleChoiceField(
        Evaluator.objects.none(),
        label="Always run these",
        help_text="They judge every new result, unless others are chosen when it is made.",
        widget=forms.CheckboxSelectMultiple,
        required=False,
    )

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, **more)
        del self.fields["priority"]
        self.project, self.known = project, RunDefaults.of(project)
        always = list(self.known.evaluators.values_list("pk", flat=True))
        self.initial = {**limits_typed(self.known), "evaluators": always}
        offered = Evaluator.objects.filter(pk__in=[version.evaluator_id for version in Offer.of(project).versions])
        self.fields["evaluators"].queryset = offered.order_by("name")  # type: ignore[attr-defined]

    def bounds(self) -> dict[str, Any]:
        self.cleaned_data.setdefault("priority", None)
        return super().bounds()

    @transaction.atomic
    def save(self) -> RunDefaults:
        limits = self.bounds()
        saved, _ = RunDefaults.objects.update_or_create(
            project=self.project, defaults={name: limits[name] for name in ("limit_usd", "limit_s")}
        )
        saved.evaluators.set(self.cleaned_data["evaluators"])
        return saved
