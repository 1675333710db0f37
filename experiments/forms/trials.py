"""What a person chooses before an evaluator is tried on a sample of stored outputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from django import forms

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
GRADED = "People give the scores of {version}, so it cannot be tried here. Let them grade the outputs again instead."


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

    def __init__(self, data: Any = None, *, evaluator: Evaluator, **more: Any) -> None:
        super().__init__(data, **more)
        self.evaluator = evaluator
        mine = Experiment.objects.filter(project=evaluator.project_id).select_related(
            "system", "project", "dataset_version__dataset"
        )
        self.listed = list(mine.order_by("-pk")[:MOST_LISTED])
        for name in ("experiment", "against"):
            field: Any = self.fields[name]
            field.queryset = mine
            field.offer(self.listed)
        for name, label in self.versions.items():
            self.fields[name] = _version(label, evaluator)

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
        chosen = self.evaluator.versions.select_related("evaluator").filter(number__in=[n for n in numbers if n])
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
        if needs.lane == "people":
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


def _version(label: str, evaluator: Evaluator) -> forms.ModelChoiceField:
    return forms.ModelChoiceField(
        queryset=evaluator.versions.select_related("evaluator").order_by("-number"),
        to_field_name="number",
        empty_label=None,
        label=label,
        error_messages={"invalid_choice": "This evaluator has no such version.", "required": "Choose a version."},
    )


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


def first_choice(evaluator: Evaluator, listed: list[Experiment]) -> dict[str, int]:
    """The result on which an evaluator ran last and what it was compared with, else the newest. One query."""
    last = Run.objects.filter(version__evaluator=evaluator, experiment__in=listed).order_by("-pk").first()
    if last is not None:
        return {"experiment": last.experiment_id} | ({"against": last.baseline_id} if last.baseline_id else {})
    return dict(_newest_two(listed))


def _newest_two(listed: list[Experiment]) -> Iterator[tuple[str, int]]:
    """The newest result, and the newest other one of its data set."""
    if not listed:
        return
    yield "experiment", listed[0].pk
    dataset = listed[0].dataset_version.dataset_id
    for other in listed[1:]:
        if other.dataset_version.dataset_id == dataset:
            yield "against", other.pk
            return
