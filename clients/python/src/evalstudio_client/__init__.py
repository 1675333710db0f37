"""The Python client of EvalStudio."""

from evalstudio_client.client import EvalStudio
from evalstudio_client.errors import EvalStudioError, NotFound, Refused, Rejected, StillRunning, Unreachable
from evalstudio_client.gate import Requirement
from evalstudio_client.prompts import Model, Parameters, RunOptions
from evalstudio_client.report import Check, Outcome, Report

__all__ = [
    "Check",
    "EvalStudio",
    "EvalStudioError",
    "Model",
    "NotFound",
    "Outcome",
    "Parameters",
    "Refused",
    "Rejected",
    "Report",
    "Requirement",
    "RunOptions",
    "StillRunning",
    "Unreachable",
]
