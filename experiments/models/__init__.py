"""The tables of experiments: what is judged (datasets, outputs) and what came of it (ledger)."""

from experiments.models.datasets import Case, CaseSpan, CaseWords, Dataset, DatasetVersion, Import, ImportState
from experiments.models.defaults import RunDefaults
from experiments.models.derived import Calibration, Derived, PairColumn, RunVector
from experiments.models.edits import CaseEdit
from experiments.models.ledger import (
    Evaluation,
    EvaluationBody,
    Priority,
    Purpose,
    Run,
    RunLabel,
    RunState,
    Slice,
    StopReason,
)
from experiments.models.outputs import Experiment, Output, OutputBody, Source, System
from experiments.models.prompts import PromptVersion

__all__ = [
    "Calibration",
    "Case",
    "CaseEdit",
    "CaseSpan",
    "CaseWords",
    "Dataset",
    "DatasetVersion",
    "Derived",
    "Evaluation",
    "EvaluationBody",
    "Experiment",
    "Import",
    "ImportState",
    "Output",
    "OutputBody",
    "PairColumn",
    "Priority",
    "PromptVersion",
    "Purpose",
    "Run",
    "RunDefaults",
    "RunLabel",
    "RunState",
    "RunVector",
    "Slice",
    "Source",
    "StopReason",
    "System",
]
