"""Whether the cases have what an evaluator reads: paths, and in how many samples nothing stands at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from django.db.models import QuerySet

from evaluators.core import COMPARISON, PROCESSED, Comparand, Sample
from evaluators.paths import SPAN, MissingPath, existing_paths, nearest, resolve
from evaluators.processing import Processor
from experiments.models import CaseSpan, Dataset, Experiment, Output

MOST_LOOKED_AT = 1_000
MOST_PROCESSED = 50  # somebody waits, and a processor may take its time
MOST_LISTED = 20  # samples whose own paths are listed, to find the one that was meant
OUTPUT_ROOTS = ("outputs", "steps", PROCESSED, SPAN, COMPARISON)
MAY_READ_STEPS = ("steps", SPAN, PROCESSED, f"{COMPARISON}.steps", f"{COMPARISON}.{PROCESSED}")


@dataclass(frozen=True, slots=True)
class Reach:
    """One path: how many of the samples that were looked at have it, and a path that was probably meant if few do."""

    path: str
    found: int
    seen: int
    suggestion: str | None = None

    @property
    def lacking(self) -> int:
        return self.seen - self.found

    @property
    def share(self) -> float:
        """Of the samples, those that lack it."""
        return self.lacking / self.seen if self.seen else 0.0


def reach_of(paths: Sequence[str], samples: Iterator[Sample]) -> list[Reach]:
    """In how many of the samples something stands at each path."""
    found, seen = dict.fromkeys(paths, 0), 0
    existing: dict[str, None] = {}
    for sample in samples:
        roots = sample.roots()
        for path in paths:
            found[path] += _has(roots, path)
        if seen < MOST_LISTED:
            existing |= dict.fromkeys(path for path, _ in existing_paths(roots))
        seen += 1
    return [Reach(path, n, seen, _meant(path, existing) if n * 2 < seen else None) for path, n in found.items()]


def _has(roots: dict[str, object], path: str) -> bool:
    try:
        resolve(roots, path)
    except MissingPath:
        return False
    return True


def _meant(path: str, existing: Iterable[str]) -> str | None:
    """The existing path that is nearest to this one, in the same part of a case."""
    root = path.partition(".")[0].partition("[")[0]
    return nearest(path, [other for other in existing if other not in (path, root) and other.startswith(root)])


def samples_to_read(
    dataset: Dataset, experiment: Experiment | None, compared: Experiment | None, paths: Sequence[str]
) -> tuple[Iterator[Sample], int]:
    """(the samples of an experiment's first outputs, or of a data set's first cases, and how many there are in all).

    Outputs of systems that failed on their case are left out. In a comparison only cases that both answered count.
    """
    if experiment is None:
        spans = CaseSpan.objects.filter(dataset=dataset).at(dataset.latest_version).order_by("position", "pk")
        return _of_cases(spans), spans.count()
    outputs = _answered(experiment, paths)
    if compared is None:
        return (_seen(output, paths) for output in outputs.order_by("pk")[:MOST_LOOKED_AT]), outputs.count()
    others = _answered(compared, paths).filter(attempt=0)
    outputs = outputs.filter(attempt=0, case__in=others.values("case"))
    return _of_pairs(outputs.order_by("case")[:MOST_LOOKED_AT], others, paths), outputs.count()


def through(processor: Processor, samples: Iterator[Sample]) -> Iterator[Sample]:
    """The first samples with what the processor makes of them; without it where that fails."""
    first = list(islice(samples, MOST_PROCESSED))
    made = processor.applied(first)
    return (each if isinstance(each, Sample) else sample for each, sample in zip(made, first, strict=True))


def _of_cases(spans: QuerySet[CaseSpan]) -> Iterator[Sample]:
    for span in spans.select_related("case")[:MOST_LOOKED_AT]:
        case = span.case
        yield Sample(inputs=case.inputs, expected_outputs=case.expected_outputs, metadata=case.metadata)


def _of_pairs(baselines: QuerySet[Output], others: QuerySet[Output], paths: Sequence[str]) -> Iterator[Sample]:
    baselines_by_case = {output.case_id: output for output in baselines}
    for other in others.filter(case__in=list(baselines_by_case)).order_by("case"):
        sample, compared = _seen(baselines_by_case[other.case_id], paths), _seen(other, paths)
        yield replace(sample, comparison=Comparand(compared.outputs, compared.steps))


def _seen(output: Output, paths: Sequence[str]) -> Sample:
    """The sample of an output, without its steps where no path leads to them: they are long."""
    case, body = output.case, output.body
    return Sample(
        inputs=case.inputs,
        expected_outputs=case.expected_outputs,
        outputs=body.outputs,
        steps=body.steps if _read_steps(paths) else None,
        metadata=case.metadata,
    )


def _answered(experiment: Experiment, paths: Sequence[str]) -> QuerySet[Output]:
    rows = Output.objects.filter(experiment=experiment, error="", body__isnull=False).select_related("case", "body")
    return rows if _read_steps(paths) else rows.defer("body__steps")


def _read_steps(paths: Sequence[str]) -> bool:
    return any(path == COMPARISON or path.startswith(MAY_READ_STEPS) for path in paths)
