"""A case with its output, or with two, as an evaluator sees it."""

from __future__ import annotations

from dataclasses import replace

from evaluators.core import Comparand, Sample
from experiments.models import Output


def sample_of(output: Output, baseline: Output | None = None) -> Sample:
    """The sample of a stored output, which comes with its case and body; compared with a baseline's output if given."""
    case, body = output.case, output.body
    sample = Sample(
        inputs=case.inputs,
        expected_outputs=case.expected_outputs,
        outputs=body.outputs,
        steps=body.steps,
        metadata=case.metadata,
    )
    return compared(sample, baseline.body.outputs, baseline.body.steps) if baseline else sample


def compared(sample: Sample, outputs: object, steps: object) -> Sample:
    """The sample as the compared side of a comparison, whose baseline answered with these outputs and steps."""
    return replace(sample, outputs=outputs, steps=steps, comparison=Comparand(sample.outputs, sample.steps))
