"""What a person decides about an import: which file goes into which dataset, and what its columns become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from difflib import get_close_matches
from typing import Any, NamedTuple

from django import forms

from evalstudio.projects.models import Project, User
from experiments.datasets.importing import preview, receiving
from experiments.datasets.importing.columns import Column, ColumnType
from experiments.datasets.importing.files import too_large
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.guess import fit_name, targets_for
from experiments.datasets.importing.rows import BadFile
from experiments.datasets.importing.targets import FIELDS, IGNORE, OUTPUT_FIELDS, ROOTS, Target
from experiments.datasets.importing.upload import is_too_large
from experiments.forms.judging import JudgingForm
from experiments.models import Dataset, Import, System
from experiments.outputs.judging import Offer

TITLES = {
    "key": "Key",
    "inputs": "Input",
    "expectedOutputs": "Expected output",
    "outputs": "Output",
    "metadata": "Metadata",
    "split": "Split",
    "steps": "Steps",
    "latency_ms": "Latency, ms",
    "cost_usd": "Cost, USD",
    "tokens_in": "Tokens in",
    "tokens_out": "Tokens out",
    "error": "Error",
    "ignore": "Leave out",
}
TYPE_TITLES = {
    ColumnType.AS_IS: "as in the file",
    ColumnType.TEXT: "text",
    ColumnType.NUMBER: "number",
    ColumnType.BOOLEAN: "true or false",
    ColumnType.JSON: "JSON",
}


class SuggestingInput(forms.TextInput):
    """A text field that offers existing names, and takes new ones."""

    template_name = "experiments/import_suggesting.html"

    def __init__(self, names: list[str], attrs: dict[str, Any] | None = None) -> None:
        super().__init__({"autocomplete": "off", **(attrs or {})})
        self.names = names

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        context["names"] = self.names
        context["widget"]["attrs"]["list"] = f"{name}-names"
        return context


class SaysErrors:
    """For callers without a page: the sentences of all errors by field, "" for those of the form."""

    errors: Any

    def errors_by_field(self) -> dict[str, list[str]]:
        return {"" if name == "__all__" else name: list(said) for name, said in self.errors.items()}


class ImportFileForm(SaysErrors, forms.Form):
    """Which file goes into which dataset."""

    file = forms.FileField(
        label="File",
        help_text="CSV, JSONL or a JSON list, as it is or packed with gzip.",
        error_messages={"required": "Choose a file.", "empty": "The file is empty."},
        widget=forms.FileInput({"accept": ".csv,.tsv,.jsonl,.ndjson,.json,.gz"}),
    )
    dataset = forms.CharField(
        label="Dataset",
        max_length=120,
        help_text="An existing one gets a new version; a new name makes a new dataset.",
        error_messages={"required": "Name the dataset."},
    )

    def __init__(self, *args: Any, project: Project, meta: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        names = Dataset.objects.filter(project=project).order_by("name").values_list("name", flat=True)
        self.fields["dataset"].widget = SuggestingInput(list(names[:200]), {"maxlength": 120, "required": True})
        if is_too_large(dict(meta or {})):
            self.fields["file"].error_messages["required"] = too_large("The file has")

    def clean_dataset(self) -> str:
        return _one_line(self.cleaned_data["dataset"])

    def receive(self, author: User | None) -> Import | None:
        """Keep the valid form's file; where it is none that can be read, None, and the form says so."""
        try:
            return receiving.receive(self.project, author, self.cleaned_data["file"], self.cleaned_data["dataset"])
        except BadFile as error:
            self.add_error("file", str(error))
            return None


class ColumnFields(NamedTuple):
    """A column with its fields, for the page."""

    column: Column
    samples: list[str]
    target: forms.BoundField
    name: forms.BoundField
    type: forms.BoundField


class MappingForm(SaysErrors, JudgingForm):
    """What the columns of an upload become: for each a target, for some a name, and the type it is read as.

    And who judges the outputs as soon as these are there.
    """

    system = forms.CharField(
        label="System",
        max_length=120,
        required=False,
        help_text="What made these outputs: a model, a prompt version, a pipeline.",
    )

    def __init__(self, data: Any = None, *, job: Import, offer: Offer | None = None) -> None:
        super().__init__(data)
        self.job = job
        self.shape = Shape(job.format, job.options["delimiter"])
        self.columns = preview.stored_columns(job.options)
        names = System.objects.filter(project=job.project_id).order_by("name").values_list("name", flat=True)
        self.fields["system"].widget = SuggestingInput(list(names[:200]), {"maxlength": 120})
        self.offer_judges(offer or Offer.of(job.project), job.project, job.options["dataset"])
        for number, (column, target) in enumerate(zip(self.columns, targets_for(self.columns), strict=True)):
            self._add_fields(number, column, target)

    @classmethod
    def answering(cls, job: Import, options: Mapping[str, Any], offer: Offer | None = None) -> MappingForm:
        """The form filled in with the guesses, and with `targets` and `types` of `options` in their place."""
        form = cls(job=job, offer=offer)
        data = {name: field.initial for name, field in form.fields.items()}
        data["system"] = options.get("system") or ""
        numbers = {column.name: number for number, column in enumerate(form.columns)}
        for name, target in options.get("targets", {}).items():
            root, _, inner = target.partition(".")
            data |= {f"target_{numbers.get(name)}": root, f"name_{numbers.get(name)}": inner}
        for name, kind in options.get("types", {}).items():
            data[f"type_{numbers.get(name)}"] = kind
        filled = cls(data, job=job, offer=form.offer)
        filled.full_clean()
        for name in {**options.get("targets", {}), **options.get("types", {})}:
            if name not in numbers:
                filled.add_error(None, _unknown_column(name, list(numbers)))
        return filled

    def column_fields(self) -> Iterator[ColumnFields]:
        for number, column in enumerate(self.columns):
            cells = [row[1][number] for row in self.job.options["rows"]]
            samples = [cell for cell in cells if cell][:2]
            yield ColumnFields(column, samples, *(self[f"{part}_{number}"] for part in ("target", "name", "type")))

    def clean_system(self) -> str:
        return _one_line(self.cleaned_data["system"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        taken: dict[Target, str] = {}
        for number, column in enumerate(self.columns):
            target = self._clean_target(number, column)
            if target in taken:
                self.add_error(f"target_{number}", f"“{taken[target]}” becomes {target} already.")
            elif target and target != IGNORE:
                taken[target] = column.name
        self._check_whole(set(taken))
        return cleaned

    def to_options(self) -> dict[str, Any]:
        """The mapping and the system, as an import stores them."""
        mapping = [
            {"path": column.path, "target": str(target), "type": self.cleaned_data[f"type_{number}"]}
            for number, column in enumerate(self.columns)
            if (target := self._target(number)) != IGNORE
        ]
        return {"mapping": mapping, "system": self.cleaned_data.get("system", ""), "judging": asdict(self.judging())}

    def foretellable(self) -> bool:
        """Whether it is clear what the columns become; who made the outputs, and who judges them, may still be open."""
        return self.is_valid() or set(self.errors) <= {"system", *JudgingForm.base_fields}

    def _add_fields(self, number: int, column: Column, guessed: Target) -> None:
        kinds = [kind for kind in TYPE_TITLES if self.shape.has_types or kind is not ColumnType.AS_IS]
        self.fields[f"target_{number}"] = forms.ChoiceField(
            label=f"{column.name} becomes",
            choices=[(root, TITLES[root]) for root in ("key", *ROOTS, *FIELDS[1:], IGNORE.root)],
            initial=guessed.root,
            error_messages={"invalid_choice": f"“%(value)s” is none of {', '.join((*ROOTS, *FIELDS, IGNORE.root))}."},
        )
        self.fields[f"name_{number}"] = forms.CharField(
            label=f"Name for {column.name}",
            required=False,
            max_length=100,
            initial=guessed.name or ("" if column.is_object else fit_name(column.path[-1])),
            widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
        )
        self.fields[f"type_{number}"] = forms.ChoiceField(
            label=f"Type of {column.name}",
            choices=[(kind.value, TYPE_TITLES[kind]) for kind in kinds],
            initial=preview.first_type(column, self.shape).value,
        )

    def _target(self, number: int) -> Target:
        """Raises ValueError where the name is none."""
        root = self.cleaned_data[f"target_{number}"]
        name = self.cleaned_data[f"name_{number}"].strip() if root in ROOTS else ""
        return Target.parse(f"{root}.{name}" if name else root)

    def _clean_target(self, number: int, column: Column) -> Target | None:
        if f"target_{number}" in self.errors or f"name_{number}" in self.errors:
            return None
        try:
            target = self._target(number)
        except ValueError as error:
            self.add_error(f"name_{number}", str(error))
            return None
        if target.root in ROOTS and not target.name and column.found != "object":
            self.add_error(f"name_{number}", f"Name it, as in {target.root}.{fit_name(column.path[-1])}.")
            return None
        return target

    def _check_whole(self, targets: set[Target]) -> None:
        roots = {target.root for target in targets}
        if self.errors:
            return
        if not roots & {*ROOTS, *OUTPUT_FIELDS, "split"}:
            self.add_error(None, "Nothing of the file goes in. Choose what at least one column becomes.")
        elif "key" not in roots and "inputs" not in roots:
            self.add_error(None, "Choose which column is the key: without inputs, only a key ties a row to a case.")
        if any(target.is_output for target in targets) and not self.cleaned_data.get("system"):
            self.add_error("system", "Name the system that made the outputs.")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if not line.isprintable():
        raise forms.ValidationError("Leave out the control characters.")
    return line


def _unknown_column(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, n=1)
    there_are = f"Did you mean “{near[0]}”?" if near else f"There are {', '.join(names)}."
    return f"There is no column “{name}”. {there_are}"
