"""What evaluators keep: their versions and drafts, the scales they share, their golden cases and what is published."""

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
from evaluators.models.scales import Scale

__all__ = [
    "Draft",
    "Evaluator",
    "EvaluatorVersion",
    "GoldenCase",
    "GoldenVerdict",
    "NewerVersion",
    "Publication",
    "PublishingRule",
    "Scale",
    "config_hash",
]
