"""The form of a golden case: the sample, what must come, a title and a note."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluators.core import Sample
from evaluators.engine import Work
from evaluators.golden import Must, NotKept, asks_for_numbers, checked_must, demands, key_of, stored_sample
from evaluators.kinds.forms import PercentField, as_percent
from evaluators.samples import NotASample, read_sample

NUMBER = "number"  # the choice of a number of one's own


class MustForm(forms.Form):
    """What must come: an option, passing, or a number in per cent."""

    must = forms.ChoiceField(label="It must be", widget=forms.RadioSelect)
    number = PercentField(label="Number, %", required=False, help_text="Within 5 points counts as agreeing.")

    def __init__(self, data: Any = None, *, work: Work, must: Must | None = None, **more: Any) -> None:
        """`must` is what is chosen at first."""
        super().__init__(data, **more)
        self.work = work
        self._demands = {demand.key: demand for demand in demands(work)}
        choices = [(key, demand.words) for key, demand in self._demands.items()]
        if asks_for_numbers(work):
            choices.append((NUMBER, "a number"))
        else:
            del self.fields["number"]
        field = self.fields["must"]
        field.choices = choices  # type: ignore[attr-defined]
        field.error_messages["required"] = "Say what must come."
        if must:
            key = key_of(must)
            is_number = key not in self._demands and "value" in must and "number" in self.fields
            field.initial = NUMBER if is_number else key
            if is_number:
                self.fields["number"].initial = as_percent(must["value"])
        elif len(choices) == 1:
            field.initial = choices[0][0]

    def clean(self) -> dict[str, Any]:
        if self.cleaned_data.get("must") == NUMBER and not self.errors:
            try:
                self.cleaned_data["wanted"] = checked_must({"value": self.cleaned_data["number"]}, self.work)
            except NotKept:
                self.add_error("number", "Give the number that must come, from 0 to 100.")
        return self.cleaned_data

    def wanted(self) -> Must:
        """What must come, of a valid form."""
        chosen = self.cleaned_data["must"]
        return self.cleaned_data["wanted"] if chosen == NUMBER else self._demands[chosen].must


class GoldenForm(MustForm):
    """A golden case that is kept already: what must come, and why."""

    title = forms.CharField(max_length=80, error_messages={"required": "Give it a title."})
    note = forms.CharField(max_length=300, required=False, help_text="Why this must come, for whoever disagrees later.")
    field_order = ("title", "must", "number", "note")


class NewGoldenForm(GoldenForm):
    """A golden case from a sample that was pasted."""

    sample = forms.CharField(
        label="Sample as JSON",
        widget=forms.Textarea(attrs={"rows": 10, "spellcheck": "false", "class": "mono", "data-editor": "json"}),
        error_messages={"required": 'Paste a sample such as {"inputs": {…}, "outputs": {…}}.'},
        strip=False,
    )
    field_order = ("sample", "must", "number", "title", "note")  # type: ignore[assignment]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["title"].required = False
        self.fields["title"].help_text = "The beginning of the sample if left out."

    def clean_sample(self) -> dict[str, Any]:
        try:
            return stored_sample(fitting(read_sample(self.cleaned_data["sample"]), self.work))
        except (NotASample, NotKept) as error:
            raise forms.ValidationError(str(error)) from None


def fitting(sample: Sample, work: Work) -> Sample:
    """The sample, if it has as many outputs as the evaluator looks at. Raises NotKept."""
    if work.needs.compares and sample.comparison is None:
        raise NotKept('This evaluator compares two results: add "comparison": {"outputs": …} to the sample.', "sample")
    if not work.needs.compares and sample.comparison is not None:
        raise NotKept("This evaluator looks at one result: leave “comparison” out of the sample.", "sample")
    return sample
