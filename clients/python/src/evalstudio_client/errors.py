"""What can go wrong, as sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class EvalStudioError(Exception):
    """Anything that keeps EvalStudio from doing what it was asked."""


class Unreachable(EvalStudioError):
    """No answer came, however often it was asked."""


class Refused(EvalStudioError):
    """EvalStudio answered no. `status` is the HTTP status, `errors` say which fields are to blame."""

    def __init__(self, status: int, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> None:
        places = "; ".join(f"{error.get('field') or 'request'}: {error.get('message')}" for error in errors[:5])
        super().__init__(f"{detail} {places}".strip())
        self.status = status
        self.detail = detail
        self.errors = list(errors)


class Rejected(EvalStudioError):
    """Some outputs were not accepted; the others are stored, and the experiment is still open for the right ones.

    `faults` have `case`, the key as it was sent, and `message`, the reason.
    """

    def __init__(self, experiment: Mapping[str, Any], faults: Sequence[Mapping[str, Any]], accepted: int) -> None:
        first = "; ".join(f"{fault.get('case') or 'an output'}: {fault.get('message')}" for fault in faults[:5])
        super().__init__(f"{len(faults)} outputs were not accepted, {accepted} are stored. {first}")
        self.experiment = dict(experiment)
        self.faults = list(faults)
        self.accepted = accepted


class NotFound(EvalStudioError):
    """There is no data set or evaluator of this name in the project."""


class StillRunning(EvalStudioError, TimeoutError):
    """The time to wait is over. `why` are the reasons of the rows that have not run."""

    def __init__(self, runs: Sequence[Mapping[str, Any]], why: Sequence[str]) -> None:
        names = ", ".join(run["evaluator"] or f"answers of experiment {run['experiment_id']}" for run in runs)
        super().__init__(f"Still running: {names}. {' '.join(why)}".strip())
        self.runs = list(runs)
        self.why = list(why)
