"""A case with its output as an evaluator sees it."""

from __future__ import annotations

from evaluators.core import Sample
from experiments.models import Output


def sample_of(output: Output) -> Sample:
    """The sample of a stored output, which comes with its case and body."""
    case, body = output.case, output.body
    return Sample(
        inputs=case.inputs,
        expected_outputs=case.expected_outputs,
        outputs=body.outputs,
        steps=body.steps,
        metadata=case.metadata,
    )
