"""A project's processor: JavaScript that makes `processed` of an output before evaluators see it.

It runs right before an evaluator that reads `processed` judges, and for no other. What it makes is not stored: the
sandbox gives the same for the same output and version in 0.4 ms of a processor, which each such evaluator pays, and
there is no second copy of outputs to keep in step with versions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalstudio.projects.models import Project
from evaluators.core import COMPARISON, PROCESSED, FieldError, Sample, Score, Why
from evaluators.engine import Work
from evaluators.models import ProcessorVersion
from evaluators.paths import parse
from evaluators.tools import Tools, javascript

if TYPE_CHECKING:
    from evalstudio.calls.javascript import Outcome

NAME = "process"  # of the function that the code defines
MOST_CODE = 100_000
BLANK_CODE = """function process({ inputs, outputs, expectedOutputs, steps, metadata }) {
  return { words: outputs.value.split(/\\s+/).length };
}
"""
NO_OBJECT = "process returned no object. Return one such as { words: 12 }: evaluators read processed.words."


@dataclass(frozen=True, slots=True)
class Processor:
    """One version, as it runs. Without code it makes nothing."""

    number: int
    code: str

    def applied(self, samples: Sequence[Sample]) -> list[Sample | Score]:
        """Each sample with what is made of its output, or its outputs; the failed score where that goes wrong."""
        if not self.code:
            return list(samples)
        outcomes = iter(self.outcomes([side for sample in samples for side in _sides(sample)]))
        return [self._with(sample, [next(outcomes) for _ in _sides(sample)]) for sample in samples]

    def outcomes(self, samples: Sequence[Sample]) -> list[Outcome]:
        """What comes of the output of each sample: an object, or a fault."""
        from evalstudio.calls.javascript import CodeFault, Outcome

        try:
            script = javascript().compile(self.code, name=NAME)
        except CodeFault as error:
            return [Outcome(None, (), error.fault, 0.0)] * len(samples)
        return [_only_objects(outcome) for outcome in script.run_many([_argument(sample) for sample in samples])]

    def _with(self, sample: Sample, outcomes: list[Outcome]) -> Sample | Score:
        names = ("the baseline's output", "the compared output") if sample.comparison else ("this output",)
        for name, outcome in zip(names, outcomes, strict=True):
            if outcome.fault:
                reason = f"The processor (v{self.number}) failed on {name}. {sentence(outcome)}"
                return Score.failed(Why.PROCESSOR, reason, logs=outcome.logs)
        comparison = sample.comparison and replace(sample.comparison, processed=outcomes[1].value)
        return replace(sample, processed=outcomes[0].value, comparison=comparison)


def sentence(outcome: Outcome) -> str:
    """What went wrong, with the line where that is known."""
    assert outcome.fault is not None
    return f"Line {outcome.fault.line}: {outcome.fault.message}" if outcome.fault.line else outcome.fault.message


def check(code: str) -> list[FieldError]:
    """What is wrong with the code; empty when it may be saved. No code is right: then there is no processor."""
    from evalstudio.calls.javascript import CodeFault

    if len(code) > MOST_CODE:
        return [FieldError("code", f"The code has at most {MOST_CODE:,} characters.")]
    if not code.strip():
        return []
    try:
        javascript().compile(code, name=NAME)
    except CodeFault as error:
        return [FieldError("code", error.fault.message, error.fault.line)]
    return []


def processor_of(project_id: int, number: int | None = None) -> Processor | None:
    """The processor of a project as of a version, or as it is now; None where there is none."""
    versions = ProcessorVersion.objects.filter(project=project_id)
    found = versions.order_by("-number").first() if number is None else versions.filter(number=number).first()
    return Processor(found.number, found.code) if found else None


def processed(sample: Sample, project: Project) -> Sample:
    """The sample with what the project's processor makes of it, or as it is where there is none or it fails."""
    processor = processor_of(project.pk)
    made = processor.applied([sample])[0] if processor else sample
    return made if isinstance(made, Sample) else sample


# --- Evaluators that read it ------------------------------------------------------------------------------------------
def reads_processed(work: Work) -> bool:
    """Whether the evaluator reads what a processor makes. Code reads it where it names it."""
    try:
        return any(is_processed(path) for path in work.kind.paths(work.config))
    except ValueError:  # a prompt or a path that cannot be read any more: it fails by itself
        return False


def is_processed(path: str) -> bool:
    """Whether the path leads into what a processor makes. Raises BadPath."""
    read = parse(path)
    return read.root == PROCESSED or (read.root == COMPARISON and read.steps[:1] == (PROCESSED,))


def number_for(work: Work, project_id: int) -> int | None:
    """The version of the processor that a run of this evaluator uses now, 0 for none; None where it reads none."""
    if not reads_processed(work):
        return None
    processor = processor_of(project_id)
    return processor.number if processor else 0


def behind(work: Work, processor: Processor | None) -> Work:
    """The work with the processor before it, where the evaluator reads what it makes."""
    if processor is None or not reads_processed(work):
        return work
    return replace(work, kind=_Behind(work.kind, processor))


class _Behind:
    """A kind that sees samples with what the processor made; where that failed, so does the score."""

    def __init__(self, kind: Any, processor: Processor) -> None:
        self._kind = kind
        self._processor = processor

    def prepare(self, config: Any, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        judged = self._kind.prepare(config, tools)

        def scores(samples: Sequence[Sample]) -> list[Score]:
            made = self._processor.applied(samples)
            found = iter(judged([each for each in made if isinstance(each, Sample)]))
            return [each if isinstance(each, Score) else next(found) for each in made]

        return scores

    async def one(self, config: Any, sample: Sample, tools: Tools) -> Score:
        """In a thread, since the loop has other rows in the air."""
        made = (await asyncio.to_thread(self._processor.applied, [sample]))[0]
        if isinstance(made, Score):
            return made
        score: Score = await self._kind.one(config, made, tools)
        return score


def _sides(sample: Sample) -> Iterator[Sample]:
    """The sample of each output, the baseline's first."""
    yield sample
    if sample.comparison:
        yield replace(sample, outputs=sample.comparison.outputs, steps=sample.comparison.steps)


def _argument(sample: Sample) -> dict[str, Any]:
    roots = sample.roots()
    return {name: value for name, value in roots.items() if value is not None and name not in (COMPARISON, PROCESSED)}


def _only_objects(outcome: Outcome) -> Outcome:
    from evalstudio.calls.javascript import Fault, FaultKind

    if outcome.fault or isinstance(outcome.value, dict):
        return outcome
    return replace(outcome, value=None, fault=Fault(FaultKind.NO_VALUE, NO_OBJECT))
