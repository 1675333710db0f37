"""What a person chooses before an evaluator is tried on a sample of stored outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.db.models import QuerySet

from evalstudio.web.foreign import id_in
from evalstudio.web.numbers import moment
from evaluators.core import Needs
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.change import Trial
from experiments.analysis.noise import measure
from experiments.analysis.sampling import MOST
from experiments.ledger.start import CannotStart
from experiments.models import Experiment, Run

MOST_LISTED = 200  # experiments that can be chosen from, the newest
ASKED = ("from", "to", "experiment", "n", "against")  # of a trial
OUTPUTS, TRIED, REPEATS, MOST_REPEATS = 20, 50, 5, 20
UNKNOWN = "This result is not in this project."
GRADED = "Nothing here gives the scores of {version}, so it cannot be tried. Let people, or your program, judge again."


@dataclass(frozen=True)
class Offer:
    """What can be chosen for an evaluator: results, and versions by their number, the newest first."""

    evaluator: Evaluator
    experiments: list[Experiment]
    numbers: list[int]

    @classmethod
    def of(cls, evaluator: Evaluator) -> Offer:
        """Two queries."""
        newest = _results_of(evaluator).order_by("-pk")[:MOST_LISTED]
        return cls(
            evaluator, list(newest), list(evaluator.versions.order_by("-number").values_list("number", flat=True))
        )

    @property
    def everything(self) -> QuerySet[Experiment]:
        """Every result that may be named, listed or not."""
        return _results_of(self.evaluator)

    @property
    def published(self) -> int | None:
        version = self.evaluator.published_version
        return version.number if version else None

    def named(self, number: int) -> str:
        return f"v{number}, published" if number == self.published else f"v{number}"

    def first_versions(self) -> dict[str, int]:
        """From the published version to the latest; where they are one, from the version before it."""
        if not self.numbers:
            return {}
        latest, before = self.numbers[0], self.numbers[:2][-1]
        return {"from": self.published if self.published not in (None, latest) else before, "to": latest}

    def first_sample(self) -> dict[str, int]:
        """The result on which the evaluator ran last and what it was compared with, else the newest. One query."""
        last = Run.objects.filter(version__evaluator=self.evaluator, experiment__in=self.experiments).last()
        if last is None:
            return dict(self._newest_two())
        return {"experiment": last.experiment_id} | ({"against": last.baseline_id} if last.baseline_id else {})

    def _newest_two(self) -> Iterator[tuple[str, int]]:
        """The newest result, and the newest other one of its data set."""
        for first in self.experiments[:1]:
            yield "experiment", first.pk
            dataset = first.dataset_version.dataset_id
            others = [each.pk for each in self.experiments[1:] if each.dataset_version.dataset_id == dataset]
            yield from [("against", pk) for pk in others[:1]]


def _results_of(evaluator: Evaluator) -> QuerySet[Experiment]:
    found = Experiment.objects.filter(project=evaluator.project_id)
    return found.select_related("system", "project", "dataset_version__dataset")


class ExperimentField(forms.ModelChoiceField):
    """An experiment of the project; the newest are listed, any may be named."""

    def offer(self, listed: list[Experiment]) -> None:
        blank = [("", self.empty_label)] if self.empty_label else []
        self.choices = [*blank, *((each.pk, self.label_from_instance(each)) for each in listed)]

    def label_from_instance(self, experiment: Any) -> str:
        return f"{experiment.system.name} on {experiment.dataset_version}, {moment(experiment.created_at)}"


class SampleForm(forms.Form):
    """On which outputs to try: those of an experiment and, for what compares two results, against which other one."""

    versions: ClassVar[dict[str, str]] = {}  # the fields that name versions, with their labels

    experiment = ExperimentField(
        queryset=Experiment.objects.none(),
        label="Outputs of",
        empty_label=None,
        error_messages={"required": "Choose whose outputs to judge.", "invalid_choice": UNKNOWN},
    )
    against = ExperimentField(
        queryset=Experiment.objects.none(),
        label="Compared with",
        required=False,
        empty_label="choose a result",
        error_messages={"invalid_choice": UNKNOWN},
    )

    def __init__(self, data: Any = None, *, offer: Offer, **more: Any) -> None:
        super().__init__(data, **more)
        self.offer = offer
        for name in ("experiment", "against"):
            field: Any = self.fields[name]
            field.queryset = offer.everything
            field.offer(offer.experiments)
        for name, label in self.versions.items():
            self.fields[name] = _version(label, offer)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        needs = [need for name in self.versions if (need := self._needs(name))]
        if len(needs) < len(self.versions):
            return cleaned
        if len({need.compares for need in needs}) > 1:
            self.add_error(
                list(self.versions)[-1], "One of the two judges a result, the other compares two. Choose alike."
            )
        elif not needs[0].compares:
            cleaned["against"] = None
        elif not cleaned.get("against") and "against" not in self.errors:
            self.add_error("against", "This evaluator compares two results. Choose the one to compare with.")
        elif cleaned.get("experiment"):
            self._check_pair(cleaned["experiment"], cleaned.get("against"))
        return cleaned

    @property
    def compares(self) -> bool:
        """Whether a version that is chosen compares two results, so that a second one has to be named. One query."""
        numbers = [id_in(str(self[name].value() or "")) for name in self.versions]
        chosen = self.offer.evaluator.versions.select_related("evaluator").filter(number__in=[n for n in numbers if n])
        return any(_compares(version) for version in chosen)

    def _needs(self, name: str) -> Needs | None:
        """What the version of a field needs; where it cannot be tried, None, and the field says why."""
        version: EvaluatorVersion | None = self.cleaned_data.get(name)
        if version is None:
            return None
        try:
            needs = work_of(version).needs
        except BadConfig:
            self.add_error(name, f"{version} cannot be read any more. Choose another, or save it again.")
            return None
        if not needs.is_judged_here:
            self.add_error(name, GRADED.format(version=version))
            return None
        return needs

    def _check_pair(self, experiment: Experiment, against: Experiment | None) -> None:
        if against is None:
            return
        if experiment == against:
            self.add_error("against", "A result cannot be compared with itself. Choose another.")
        elif experiment.dataset_version.dataset_id != against.dataset_version.dataset_id:
            self.add_error("against", "The two answer different data sets. Choose a result of the same one.")


def _compares(version: EvaluatorVersion) -> bool:
    try:
        return work_of(version).needs.compares
    except BadConfig:
        return False


def _count(label: str, least: int, most: int, start: int) -> forms.IntegerField:
    said = f"Give a number from {least} to {most}."
    return forms.IntegerField(
        label=label,
        min_value=least,
        max_value=most,
        initial=start,
        error_messages={"required": said, "invalid": said, "min_value": said, "max_value": said},
    )


def _version(label: str, offer: Offer) -> forms.ModelChoiceField:
    field = forms.ModelChoiceField(
        queryset=offer.evaluator.versions.select_related("evaluator"),
        to_field_name="number",
        empty_label=None,
        label=label,
        error_messages={"invalid_choice": "This evaluator has no such version.", "required": "Choose a version."},
    )
    field.choices = [(number, offer.named(number)) for number in offer.numbers]
    return field


class NoiseForm(SampleForm):
    """How to measure the noise floor of a version."""

    versions: ClassVar[dict[str, str]] = {"version": "Version"}
    outputs = _count("Outputs", 2, MOST, OUTPUTS)
    repeats = _count("Times each", 2, MOST_REPEATS, REPEATS)

    def start(self, user: Any) -> Run | None:
        """The measurement that the valid form asks for; where it cannot start, None, and the form says why."""
        said = self.cleaned_data
        sizes = {"outputs": said["outputs"], "repeats": said["repeats"]}
        try:
            return measure(said["version"], said["experiment"], user, baseline=said["against"], **sizes)
        except CannotStart as error:
            self.add_error(None, str(error))
            return None


class ChangeForm(SampleForm):
    """Which two versions to compare, on how many outputs."""

    versions: ClassVar[dict[str, str]] = {"from": "From", "to": "To"}
    n = _count("How many", 2, MOST, TRIED)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("from") and cleaned.get("from") == cleaned.get("to"):
            self.add_error("to", "Choose two different versions.")
        return cleaned

    def trial(self) -> Trial:
        """What the valid form asks for."""
        said = self.cleaned_data
        return Trial(said["from"], said["to"], said["experiment"], said["n"], said["against"])

    def start(self, user: Any) -> tuple[Run, Run] | None:
        """The two runs that the valid form asks for; where they cannot start, None, and the form says why."""
        try:
            return self.trial().start(user)
        except CannotStart as error:
            self.add_error(None, str(error))
            return None
