"""What evaluators keep: versions and drafts, shared scales, golden cases, what is published; and the processor."""

from evaluators.models.drafts import Draft
from evaluators.models.evaluators import (
    Evaluator,
    EvaluatorVersion,
    NewerVersion,
    Publication,
    PublishingRule,
    config_hash,
)
from evaluators.models.golden import GoldenCase, GoldenVerdict
from evaluators.models.processors import ProcessorVersion
from evaluators.models.scales import Scale

__all__ = [
    "Draft",
    "Evaluator",
    "EvaluatorVersion",
    "GoldenCase",
    "GoldenVerdict",
    "NewerVersion",
    "ProcessorVersion",
    "Publication",
    "PublishingRule",
    "Scale",
    "config_hash",
]
