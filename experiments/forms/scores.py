"""Scores of another program as a file that people upload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from evaluators.outside import MOST_NAME, names_of
from experiments.datasets.importing import formats
from experiments.datasets.importing.files import Source, check
from experiments.datasets.importing.rows import BadFile, BadRow
from experiments.forms.imports import SuggestingInput
from experiments.ledger.outside import Fault, Taken
from experiments.models import Experiment

MOST_BYTES = 20 * 1024 * 1024
MOST_ROWS = 200_000


class RowsForm(forms.Form):
    """A file whose rows are settled one by one; see `rows_of`."""

    file = forms.FileField(
        label="File", error_messages={"required": "Choose a CSV, JSONL or JSON file.", "empty": "The file is empty."}
    )

    def clean_file(self) -> UploadedFile:
        file = self.cleaned_data["file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(
                f"The file has more than {MOST_BYTES // 1024 // 1024} MB. Split it into several."
            )
        try:
            check(file)
            shape = formats.recognise(Source(file), file.name)
            next(iter(formats.rows(Source(file), shape)), None)  # a header that cannot be read begins nothing
        except BadFile as error:
            raise forms.ValidationError(str(error)) from None
        return file


class ScoresForm(RowsForm):
    """Which evaluator the scores are of, and the file."""

    evaluator = forms.CharField(label="Evaluator", max_length=MOST_NAME)
    again = forms.BooleanField(
        label="A new round: the scores that came before stay readable as an earlier run", required=False
    )

    def __init__(self, *args: Any, experiment: Experiment, **more: Any) -> None:
        super().__init__(*args, **more)
        self.fields["evaluator"].widget = SuggestingInput(names_of(experiment.project))


def rows_of(file: Any, taken: Taken) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file, each with its line; what cannot be read is refused. Raises BadFile."""
    shape = formats.recognise(Source(file), file.name)
    for number, row in enumerate(formats.rows(Source(file), shape), 1):
        if number > MOST_ROWS:
            raise BadFile(f"The file has more than {MOST_ROWS:,} rows. Those before are stored; send the rest apart.")
        if isinstance(row, BadRow):
            taken.refuse(Fault(row.line, row.field, "", row.reason))
        else:
            yield row.line, row.values
