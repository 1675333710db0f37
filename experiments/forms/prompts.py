"""A prompt that is to be run as people type it: its messages, whom to ask, about which cases, and who judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from evalstudio.calls.models import connections_for
from evalstudio.projects.models import Project
from evaluators.core import FieldError
from evaluators.kinds.forms import as_number
from evaluators.kinds.judge_form import MOST_TOKENS, ModelField, model_choice
from experiments.datasets.browsing import facets_of
from experiments.forms.judging import JudgingForm
from experiments.forms.starting import MOST_SEED, TAKES, BoundsForm, TakeForm, whole
from experiments.models import DatasetVersion, Experiment, PromptVersion, Run, RunDefaults
from experiments.outputs.judging import Offer
from experiments.outputs.prompting import MOST_TOKENS as USUAL_TOKENS
from experiments.outputs.prompting import Model, Recipe, Texts

MOST_VERSIONS = 300  # of data sets, to choose from
SETS = 3  # of parameters
MOST_SYSTEMS = 12  # at once
CASES = [(value, label.replace("outputs", "cases")) for value, label in TAKES]


class ModelsField(forms.MultipleChoiceField):
    """Models behind connections of the project, each as "3:gpt-4o-mini", cleaned to pairs."""

    widget = forms.CheckboxSelectMultiple

    def offer(self, project: Project) -> None:
        self.one = ModelField()
        self.one.offer(project)
        connections = {connection.pk: connection for connection in connections_for(project)}
        known = PromptVersion.objects.filter(connection__in=connections).values_list(
            "connection", "config__model__name"
        )
        met = {model_choice(pk, name): f"{name} · {connections[pk].name}" for pk, name in known.distinct()}
        self.choices = list((met | dict(self.one.choices)).items())  # type: ignore[arg-type]

    def valid_value(self, value: Any) -> bool:
        return self.one.valid_value(value)

    def clean(self, value: Any) -> list[tuple[int, str]]:
        return [self.one.clean(each) for each in super().clean(value)]


class PromptForm(TakeForm, JudgingForm):
    """All of it. One system, and so one experiment, comes of each model with each set of parameters."""

    things = "cases to ask"

    title = forms.CharField(label="Name", max_length=60)
    version = forms.ChoiceField(label="Data set and version")
    system_message = forms.CharField(widget=forms.Textarea, strip=False, required=False)
    user_message = forms.CharField(widget=forms.Textarea, strip=False, required=False)
    reads_json = forms.BooleanField(label="Read the answer as JSON", required=False)
    models = ModelsField(label="Models", required=False)
    other_connection = forms.ChoiceField(label="Another model of", required=False)
    other_model = forms.CharField(label="Its name", required=False, max_length=200)

    def __init__(self, data: Any = None, *, project: Project, initial: Any = None, **more: Any) -> None:
        versions = _versions(project)
        chosen = _chosen(versions, (data or initial or {}).get("version", ""))
        super().__init__(data, splits=_splits_of(chosen), defaults=RunDefaults.of(project), initial=initial, **more)
        self.project, self.chosen = project, chosen
        self.faults: dict[str, list[FieldError]] = {}
        self.fields["take"].label = "Cases"
        self.fields["repeats"].label = "Answers to each"
        self.fields["take"].choices = CASES if self.splits else CASES[:-1]  # type: ignore[attr-defined]
        self.fields["version"].choices = _grouped(versions)  # type: ignore[attr-defined]
        self.fields["models"].offer(project)  # type: ignore[attr-defined]
        self.offer_judges(Offer.of(project), project, chosen.dataset.name if chosen else "")
        connections = [(str(each.pk), each.name) for each in connections_for(project)]
        self.fields["other_connection"].choices = connections  # type: ignore[attr-defined]
        for place in range(SETS):
            self.fields |= _parameters(place)

    @property
    def parameter_sets(self) -> list[list[forms.BoundField]]:
        return [[self[f"{name}_{place}"] for name in ("temperature", "max_tokens", "seed")] for place in range(SETS)]

    @property
    def compares_parameters(self) -> bool:
        """Whether something is typed in more than the first set."""
        return any(field.value() not in (None, "") or field.errors for row in self.parameter_sets[1:] for field in row)

    @property
    def texts(self) -> Texts:
        """The messages as typed, right or wrong."""
        said = self.data if self.is_bound else self.initial
        system, user = (str(said.get(name, "")).replace("\r\n", "\n") for name in ("system_message", "user_message"))
        return Texts(system, user, bool(said.get("reads_json")))

    def check_texts(self) -> bool:
        """Whether the messages may be sent; what is wrong with them is in `faults`."""
        self.faults = {}
        for fault in self.texts.check():
            self.faults.setdefault(fault.field, []).append(fault)
        return not self.faults

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for name, faults in ({} if self.check_texts() else self.faults).items():
            self.add_error(name, [fault.message for fault in faults])
        if bool(cleaned.get("other_model")) and not cleaned.get("other_connection"):
            self.add_error("other_model", "Add a connection first.")
        if "models" in cleaned and not self._models():
            self.add_error("models", "Choose a model, or name another one.")
        if not self.errors and len(self.recipes()) > MOST_SYSTEMS:
            self.add_error(None, f"That makes {len(self.recipes())} systems. At most {MOST_SYSTEMS} may start at once.")
        return cleaned

    def recipes(self) -> list[Recipe]:
        """Every model with every set of parameters. Only where nothing is wrong with them."""
        models = [
            Model(connection_id, name, **parameters)
            for connection_id, name in self._models()
            for parameters in self._parameter_sets()
        ]
        return [Recipe(self.texts, model) for model in dict.fromkeys(models)]

    @property
    def systems(self) -> list[tuple[str, str, bool]]:
        """What may be tried, its label and whether it is; empty while something is wrong, or there is no choice."""
        recipes = self.recipes() if self.is_bound and self.is_valid() else []
        if len(recipes) < 2:
            return []
        tried = self.tried()
        return [(_name_of(each), each.model.said, each == tried) for each in recipes]

    def tried(self) -> Recipe:
        """The system that was picked to be tried, else the first. Only where nothing is wrong."""
        recipes = self.recipes()
        return next((each for each in recipes if _name_of(each) == self.data.get("tried")), recipes[0])

    def _models(self) -> list[tuple[int, str]]:
        cleaned = self.cleaned_data
        chosen = list(cleaned.get("models") or [])
        if cleaned.get("other_model") and cleaned.get("other_connection"):
            chosen.append((int(cleaned["other_connection"]), cleaned["other_model"].strip()))
        return list(dict.fromkeys(chosen))

    def _parameter_sets(self) -> list[dict[str, Any]]:
        """Those in which something is typed; all defaults where nothing is."""
        sets = []
        for place in range(SETS):
            said = {name: self.cleaned_data.get(f"{name}_{place}") for name in ("temperature", "max_tokens", "seed")}
            if place == 0 or any(value is not None for value in said.values()):
                sets.append(said | {"max_tokens": said["max_tokens"] or USUAL_TOKENS})
        return sets

    @classmethod
    def like(cls, prompt: PromptVersion, run: Run, **more: Any) -> PromptForm:
        """The form as it was when an experiment was started, over the latest version of its data set."""
        recipe = Recipe.of(prompt.config)
        dataset = run.experiment.dataset_version.dataset
        latest = dataset.versions.filter(number=dataset.latest_version).values_list("pk", flat=True).first()
        initial = {
            **BoundsForm.of(run).initial,
            **(run.selection or {}),
            "repeats": run.repeats,
            "title": prompt.title,
            "version": str(latest or ""),
            "system_message": recipe.texts.system,
            "user_message": recipe.texts.user,
            "reads_json": recipe.texts.reads_json,
            "models": [model_choice(recipe.model.connection_id, recipe.model.name)],
            "temperature_0": None if recipe.model.temperature is None else as_number(recipe.model.temperature),
            "max_tokens_0": recipe.model.max_tokens,
            "seed_0": recipe.model.seed,
            **_judged_by(run.experiment),
        }
        return cls(initial=initial, **more)


def _name_of(recipe: Recipe) -> str:
    """What tells the systems of one form apart, whatever is typed in its messages."""
    return f"{recipe.model.connection_id}:{recipe.model.said}"


def _judged_by(experiment: Experiment) -> dict[str, Any]:
    """Who judges an experiment, as it would be chosen again."""
    runs = list(experiment.runs.filter(is_current=True).order_by("pk"))
    against = [run for run in runs if run.baseline_id]
    return {
        "judges": [run.version_id for run in runs if not run.baseline_id],
        "comparing": [run.version_id for run in against],
        "baseline": str(against[0].baseline_id) if against else "",
        "judge_repeats": max((run.repeats for run in runs), default=1),
    }


def _parameters(place: int) -> dict[str, forms.Field]:
    wrong = dict.fromkeys(("invalid", "min_value", "max_value"), "Give a number from 0 to 2.")
    temperature = forms.FloatField(label="Temperature", required=False, min_value=0, max_value=2, error_messages=wrong)
    fields: dict[str, forms.Field] = {
        f"temperature_{place}": temperature,
        f"max_tokens_{place}": whole("Most tokens of an answer", 1, MOST_TOKENS),
        f"seed_{place}": whole("Seed", 0, MOST_SEED),
    }
    for field, unless in zip(fields.values(), ("the endpoint's", str(USUAL_TOKENS), "none"), strict=True):
        field.widget.attrs["placeholder"] = unless
    return fields


def _versions(project: Project) -> list[DatasetVersion]:
    found = DatasetVersion.objects.filter(dataset__project=project, n_cases__gt=0).select_related("dataset")
    return list(found.order_by("dataset__name", "-number")[:MOST_VERSIONS])


def _chosen(versions: list[DatasetVersion], wanted: Any) -> DatasetVersion | None:
    """The version that is asked for, else the first on offer."""
    return next((each for each in versions if str(each.pk) == str(wanted)), versions[0] if versions else None)


def _splits_of(version: DatasetVersion | None) -> list[str]:
    return [name for name in facets_of(version).splits if name] if version else []


def _grouped(versions: list[DatasetVersion]) -> list[tuple[str, list[tuple[str, str]]]]:
    groups: Mapping[str, list[tuple[str, str]]] = {each.dataset.name: [] for each in versions}
    for each in versions:
        cases = f"{each.n_cases:,} case{'' if each.n_cases == 1 else 's'}"
        groups[each.dataset.name].append((str(each.pk), f"{each.dataset.name} v{each.number}, {cases}"))
    return list(groups.items())
