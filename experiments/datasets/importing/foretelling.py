"""What an import would do, found by going through the file without writing."""

from __future__ import annotations

from collections.abc import Mapping as Names
from dataclasses import dataclass
from typing import Any

from experiments.datasets.importing import arriving
from experiments.datasets.importing.effects import Effect, foretold
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.mapping import Mapping
from experiments.datasets.importing.merging import merge
from experiments.datasets.importing.reading import Reading
from experiments.datasets.importing.rows import BadFile, BadRow
from experiments.datasets.importing.tally import Tally
from experiments.models import Dataset, Import

LOOKED_AT_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Forecast:
    """`rows` were gone through; `is_whole` says whether those are all. `problem` says why the file cannot go in."""

    effect: Effect
    rows: int
    is_whole: bool
    first_bad: BadRow | None = None
    problem: str = ""

    def sentence(self) -> str:
        said = " ".join(foretold(self.effect))
        return said if self.is_whole else f"Going by the first {self.rows:,} rows: {said}"


def foretell(job: Import, options: Names[str, Any]) -> Forecast:
    """Go through the first LOOKED_AT_BYTES of an upload with a mapping (and system) that need not be stored yet."""
    options = {**job.options, **options}
    dataset = Dataset.objects.filter(project=job.project, name=options["dataset"]).first()
    tally, rows, first_bad, is_whole, problem = Tally(), 0, None, True, ""
    with job.file.open("rb") as stored:
        reading = Reading(stored, Shape(job.format, options["delimiter"]), Mapping.load(options))
        try:
            for batch in reading.batches():
                merged = merge(batch.drafts, dataset, reading.mapping)
                tally, rows = tally.plus(batch, merged), batch.last_row
                first_bad = first_bad or min(batch.bad + merged.bad, key=lambda bad: bad.line, default=None)
                if reading.source.text_read > LOOKED_AT_BYTES:
                    is_whole = False
                    break
        except BadFile as error:
            problem = str(error)
    return Forecast(_effect(tally, dataset, options), rows, is_whole, first_bad, problem)


def _effect(tally: Tally, dataset: Dataset | None, options: Names[str, Any]) -> Effect:
    latest = dataset.latest_version if dataset else 0
    is_new = bool(tally.added or tally.changed)
    system = options.get("system", "")
    known = not is_new and dataset is not None and arriving.same_experiment(dataset, system, tally.digest) is not None
    return Effect(
        options["dataset"],
        latest + is_new,
        system,
        tally.added,
        tally.changed,
        tally.unchanged,
        outputs=0 if known else tally.with_output,
        outputs_unchanged=tally.with_output if known else 0,
        bad=tally.bad,
    )
