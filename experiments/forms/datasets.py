"""What a person decides about a dataset as a whole: its name, its schema, its splits, and a case from an output."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from evalstudio.projects.models import Project
from evalstudio.web.foreign import holds_endless
from evaluators.catalogue.parameters import BadSetting
from evaluators.catalogue.schemas import NotJson, parse
from experiments.datasets.contents import BadContent, canonical
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue
from experiments.datasets.schemas import checks
from experiments.models import Dataset

MOST_SPLITS = 10
EXAMPLE = "train 80\ntest 20"


class NewDatasetForm(forms.Form):
    """A dataset without cases yet."""

    name = forms.CharField(
        label="Name",
        max_length=120,
        error_messages={"required": "Give it a name."},
        widget=forms.TextInput({"autocomplete": "off"}),
    )

    def clean_name(self) -> str:
        name = " ".join(self.cleaned_data["name"].split())
        if not name.isprintable():
            raise ValidationError("Leave out the control characters.")
        return name


class SchemaForm(forms.Form):
    """JSON Schemas of the parts of a case; an empty text is none."""

    inputs = forms.CharField(
        label="Inputs",
        required=False,
        strip=False,
        max_length=100_000,
        widget=forms.Textarea({"rows": 14, "spellcheck": "false", "class": "mono"}),
    )
    expected_outputs = forms.CharField(
        label="Expected outputs",
        required=False,
        strip=False,
        max_length=100_000,
        widget=forms.Textarea({"rows": 14, "spellcheck": "false", "class": "mono"}),
    )

    def clean_inputs(self) -> Any:
        return checked_schema("inputs", self.cleaned_data["inputs"])

    def clean_expected_outputs(self) -> Any:
        return checked_schema("expected_outputs", self.cleaned_data["expected_outputs"])

    def to_schema(self) -> dict[str, Any]:
        return {part: schema for part, schema in self.cleaned_data.items() if schema}


def checked_schema(part: str, text: str) -> Any:
    """The schema of a text, None where it is blank. Raises ValidationError with a sentence that names the line."""
    if not text.strip():
        return None
    try:
        schema = parse(text.replace("\r\n", "\n"))
    except NotJson as error:
        raise ValidationError(f"This is no JSON. {error}") from None
    return sound_schema(part, schema)


def sound_schema(part: str, schema: Any) -> Any:
    """The schema, if it is one. Raises ValidationError."""
    if not isinstance(schema, dict):
        raise ValidationError("A schema is a JSON object.")
    try:
        canonical(schema)
    except BadContent as error:
        raise ValidationError(f"No dataset can keep this schema: it {error}.") from None
    if holds_endless(schema):
        raise ValidationError("No dataset can keep this schema: it holds a number beyond every float.")
    try:
        checks({part: schema})
    except BadSetting as error:
        raise ValidationError(str(error)) from None
    return schema


class SplitsForm(forms.Form):
    """Into which splits all cases are dealt, with shares in any unit, and by which seed."""

    splits = forms.CharField(
        label="Splits and shares",
        initial=EXAMPLE,
        max_length=1_000,
        help_text="One split a line with its share: of 100, or of whatever they add up to.",
        error_messages={"required": "Name at least one split with its share."},
        widget=forms.Textarea({"rows": 4, "spellcheck": "false"}),
    )
    seed = forms.IntegerField(
        label="Seed",
        initial=1,
        min_value=0,
        max_value=2**31 - 1,
        help_text="The same seed deals the same cases out the same way.",
        error_messages={"required": "Give a seed."},
    )

    def clean_splits(self) -> list[tuple[str, float]]:
        """The splits with their shares of 1."""
        lines = [line for line in self.cleaned_data["splits"].splitlines() if line.strip()]
        if len(lines) > MOST_SPLITS:
            raise ValidationError(f"At most {MOST_SPLITS} splits.")
        found = [self._line(number, line) for number, line in enumerate(lines, 1)]
        names = [name for name, _ in found]
        if repeated := next((name for name in names if names.count(name) > 1), ""):
            raise ValidationError(f"“{repeated}” stands there twice.")
        total = sum(weight for _, weight in found)
        return [(name, weight / total) for name, weight in found]

    def _line(self, number: int, line: str) -> tuple[str, float]:
        name, _, weight = line.strip().rpartition(" ")
        try:
            split, share = fields.read("split", name), float(weight.rstrip("%"))
        except (BadValue, ValueError):
            raise ValidationError(f"Line {number}: write a split and its share, as in “train 80”.") from None
        if split is ABSENT or not 0 < share < 1e9:
            raise ValidationError(f"Line {number}: write a split and its share above zero, as in “train 80”.")
        return str(split), share


class FromOutputForm(forms.Form):
    """Into which dataset the case of an output goes, under which key, and what is expected of it."""

    dataset = forms.ModelChoiceField(
        label="Dataset", queryset=Dataset.objects.none(), empty_label=None, error_messages={"required": "Choose one."}
    )
    key = forms.CharField(
        label="Key",
        max_length=200,
        error_messages={"required": "Give it a key."},
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    expected = forms.ChoiceField(
        label="Expected output",
        choices=[
            ("output", "this output"),
            ("case", "what the case expects already"),
            ("none", "nothing"),
        ],
        initial="output",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        datasets = Dataset.objects.filter(project=project, latest_version__gt=0).order_by("name")
        self.fields["dataset"].queryset = datasets  # type: ignore[attr-defined]

    def clean_key(self) -> str:
        try:
            key = fields.read("key", self.cleaned_data["key"])
        except BadValue as error:
            raise ValidationError(str(error)) from None
        if key is ABSENT:
            raise ValidationError("Give it a key.")
        return str(key)
