"""Who judges new outputs from the beginning, as a part of every form that brings some."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms

from evalstudio.projects.models import Project
from evalstudio.web.numbers import moment
from evaluators.models import EvaluatorVersion
from experiments.forms.starting import whole
from experiments.ledger.asked import MOST_REPEATS
from experiments.models import Experiment
from experiments.outputs.judging import Chosen, Offer

MOST_BASELINES = 100  # the latest, to choose from


class VersionsField(forms.TypedMultipleChoiceField):
    """Any of some versions, by id."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, **more: Any) -> None:
        super().__init__(coerce=int, required=False, **more)

    def offer(self, versions: Iterable[EvaluatorVersion]) -> None:
        self.choices = [(version.pk, f"{version.evaluator.name} {version}") for version in versions]


class JudgingForm(forms.Form):
    """Evaluators of single outputs, and comparative ones together with the result that they compare with."""

    judges = VersionsField(label="Evaluators")
    comparing = VersionsField(label="Comparative evaluators")
    baseline = forms.ChoiceField(
        label="Compare with",
        required=False,
        error_messages={"invalid_choice": "Choose a result of this data set."},
    )
    judge_repeats = whole("Judgements of each", 1, MOST_REPEATS)

    def offer_judges(self, offer: Offer, project: Project, dataset: str) -> None:
        """`dataset` is the name of that which the outputs answer, there or still to be made. At most one query."""
        self.offer = offer
        self.fields["judges"].offer(offer.versions)  # type: ignore[attr-defined]
        self.fields["comparing"].offer(offer.comparing)  # type: ignore[attr-defined]
        self.fields["judges"].initial = [version.pk for version in offer.always]
        found = _baselines(project, dataset) if offer.comparing else []
        self.fields["baseline"].choices = [("", "nothing"), *found]  # type: ignore[attr-defined]

    @property
    def can_compare(self) -> bool:
        """Whether there is something to compare with."""
        return len(self.fields["baseline"].choices) > 1  # type: ignore[attr-defined]

    @property
    def is_comparing(self) -> bool:
        """Whether something is chosen there, right or wrong."""
        return any(self[name].value() or self[name].errors for name in ("comparing", "baseline"))

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if "comparing" in cleaned and "baseline" in cleaned:
            if cleaned["comparing"] and not cleaned["baseline"]:
                self.add_error("baseline", "Choose the result that they compare with.")
            elif cleaned["baseline"] and not cleaned["comparing"]:
                self.add_error("comparing", "Choose who compares the two.")
        return cleaned

    def judging(self) -> Chosen:
        """What the valid form chooses."""
        said = self.cleaned_data
        return Chosen(
            versions=[*said.get("judges", ()), *said.get("comparing", ())],
            baseline=int(said["baseline"]) if said.get("baseline") else None,
            repeats=said.get("judge_repeats") or 1,
        )


def _baselines(project: Project, dataset: str) -> list[tuple[str, str]]:
    found = Experiment.objects.filter(project=project, dataset_version__dataset__name=dataset).order_by("-pk")
    return [
        (str(each.pk), f"{each.system.name} · v{each.dataset_version.number} · {moment(each.created_at)}")
        for each in found.select_related("system", "dataset_version")[:MOST_BASELINES]
    ]
