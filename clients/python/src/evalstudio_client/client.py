"""EvalStudio from Python: read cases, send outputs, have them judged, decide."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

from evalstudio_client.batches import batches
from evalstudio_client.errors import EvalStudioError, NotFound, Refused, Rejected, StillRunning
from evalstudio_client.gate import LEAST_COVERAGE, Gate, Requirement, is_over
from evalstudio_client.prompts import Model, Parameters, RunOptions, systems
from evalstudio_client.report import Report
from evalstudio_client.wire import JSON, Wire

POLL_S = (0.2, 5.0)  # the first pause between looks at runs and the longest

Progress = Callable[[list[JSON]], object]


class EvalStudio:
    """One project of an EvalStudio, opened with an API token. Safe to use in a `with` block, which closes it.

    Experiments, runs, cases and results are dicts as the API gives them.
    """

    def __init__(self, base_url: str, token: str, project: str, **options: Any) -> None:
        """`options`: `timeout_s` and `tries` of one request."""
        self._wire = Wire(base_url, token, project, **options)

    @classmethod
    def from_environment(cls, base_url: str | None = None, project: str | None = None, **options: Any) -> Self:
        """Opened with EVALSTUDIO_TOKEN, and with EVALSTUDIO_URL and EVALSTUDIO_PROJECT where these are not given.

        Raises EvalStudioError, which names what is missing.
        """
        given = {"EVALSTUDIO_URL": base_url, "EVALSTUDIO_TOKEN": None, "EVALSTUDIO_PROJECT": project}
        found = {name: value or os.environ.get(name, "") for name, value in given.items()}
        if missing := [name for name, value in found.items() if not value]:
            raise EvalStudioError(f"Set {' and '.join(missing)}.")
        return cls(found["EVALSTUDIO_URL"], found["EVALSTUDIO_TOKEN"], found["EVALSTUDIO_PROJECT"], **options)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._wire.close()

    # --- Data sets and files ------------------------------------------------------------------------------------------
    def get_cases(self, dataset: str, version: int | None = None, split: str | None = None) -> Iterator[JSON]:
        """The cases of a data set: its latest version as it stands now, or another; of one split, if one is named."""
        found = next((one for one in self._wire.pages("datasets/") if one["name"] == dataset), None)
        if found is None:
            raise NotFound(f"There is no data set “{dataset}” in this project.")
        pinned = version or found["latest_version"] or None
        return self._wire.pages(f"datasets/{found['id']}/cases/", version=pinned, split=split)

    def upload_file(self, path: str | Path) -> str:
        """Store a file of any type with the project; outputs, steps or inputs name it by its address."""
        path = Path(path)
        return str(self._wire.upload("files/", path.name, path.read_bytes())["url"])

    # --- Experiments --------------------------------------------------------------------------------------------------
    def submit(
        self,
        system: str,
        dataset: str,
        outputs: Iterable[Mapping[str, Any]],
        evaluators: Sequence[str | int | Mapping[str, Any]] = (),
        *,
        version: int | None = None,
        client_key: str | None = None,
    ) -> JSON:
        """Send a system's outputs as they are produced; the experiment, closed, once all were accepted.

        Each output has `case`, the key of its case, and `outputs`; as far as known also `attempt`, `steps`, `error`,
        `latency_ms`, `cost_usd`, `tokens_in` and `tokens_out`. `outputs` may be a generator: batches leave as they
        fill, and the evaluators judge them as they arrive: by name, by the id of a version, or as the API has them,
        `{"name": "Short", "repeats": 3}` or, of one that compares, `{"name": "Better", "baseline": 11}`; without any,
        those that the project always runs. With a `client_key` of your own, such as the id of a build, a repeated call
        goes on with the same experiment, and does nothing once that is closed. Raises Rejected.
        """
        opening = {"system": system, **self._opening(dataset, version, evaluators, client_key)}
        experiment: JSON = self._wire.post("experiments/", opening)
        if not experiment["is_open"]:
            return experiment
        faults: list[JSON] = []
        accepted = 0
        for batch in batches(outputs, faults):
            taken = self._append(experiment["id"], batch)
            accepted += taken["accepted"] + taken["unchanged"]
            faults += taken["errors"]
        if faults:
            raise Rejected(experiment, faults, accepted)
        closed: JSON = self._wire.post(f"experiments/{experiment['id']}/close/")
        return closed

    def run_prompt(
        self,
        title: str,
        dataset: str,
        user_message: str,
        models: Iterable[str | Model],
        *,
        parameters: Sequence[Parameters] = (),
        attempts: int = 1,
        system_message: str = "",
        reads_json: bool = False,
        evaluators: Sequence[str | int | Mapping[str, Any]] = (),
        version: int | None = None,
        client_key: str | None = None,
        timeout_s: float = 3600.0,
        progress: Progress | None = None,
        **options: Unpack[RunOptions],
    ) -> list[JSON]:
        """Have EvalStudio ask models about every case of a data set; the experiments, once everything was answered.

        One experiment comes of each model with each set of parameters, in this order; a model that is named alone is
        one of the project's only connection. Messages are templates over `inputs` and `metadata`, such as
        `{{ inputs.question }}`; `attempts` is how often each case is asked. Evaluators are told as for `submit`; what
        they make of the last answers may still be on its way, which `gate` and `wait` see to. With a `client_key` of
        your own a repeated call waits for the same experiments. `progress` is called with the runs that ask at every
        look. One that was stopped, by its limit or by somebody, is over as well. Raises NotFound, and StillRunning when
        the time is over.
        """
        body: JSON = {
            **options,
            **self._opening(dataset, version, evaluators, client_key),
            "title": title,
            "system_message": system_message,
            "user_message": user_message,
            "reads_json": reads_json,
            "models": systems(models, parameters, list(self._wire.pages("connections/"))),
            "repeats": attempts,
        }
        began = time.monotonic()
        told: list[JSON] = self._wire.post("experiments/prompt/", body)
        runs = self.wait([{"id": one["run"]} for one in told], timeout_s, progress)
        return [self._closed(run, began + timeout_s) for run in runs]

    def _closed(self, run: JSON, deadline: float) -> JSON:
        """The experiment of a run for answers, once those that judge it have been told of its last answers."""
        while True:
            experiment: JSON = self._wire.get(f"experiments/{run['experiment_id']}/")
            if not experiment["is_open"]:
                return experiment
            if time.monotonic() > deadline:
                raise StillRunning([run], ["Its last answers are being handed to those that judge them."])
            time.sleep(POLL_S[0])

    def _opening(
        self,
        dataset: str,
        version: int | None,
        evaluators: Sequence[str | int | Mapping[str, Any]],
        client_key: str | None,
    ) -> JSON:
        """What every new experiment is told: what it answers, who judges it, and the key that tells it from others."""
        opening: JSON = {"dataset": dataset, "client_key": client_key or uuid.uuid4().hex}
        if version is not None:
            opening["dataset_version"] = version
        if evaluators:
            plain = [one for one in evaluators if not isinstance(one, Mapping)]
            opening["versions"] = [version for version, _ in self._versions(plain)]
            opening["evaluators"] = [dict(one) for one in evaluators if isinstance(one, Mapping)]
        return opening

    def _append(self, experiment: int, batch: list[Mapping[str, Any]]) -> JSON:
        try:
            return {"errors": [], **self._wire.post(f"experiments/{experiment}/outputs/", {"outputs": batch})}
        except Refused as refused:
            if refused.status != 422:
                raise
            stored = len(batch) - len(refused.errors)
            return {"accepted": stored, "unchanged": 0, "errors": refused.errors}

    def results(
        self, experiment: int | Mapping[str, Any], fields: Iterable[str] = (), baseline: int | None = None
    ) -> Iterator[JSON]:
        """The outputs with their evaluations; only some groups of fields, such as `scores`, if they are named."""
        path = f"experiments/{_id(experiment)}/results/"
        return self._wire.pages(path, fields=",".join(fields) or None, baseline=baseline)

    # --- Judging ------------------------------------------------------------------------------------------------------
    def evaluate(
        self,
        experiment: int | Mapping[str, Any],
        evaluators: Sequence[str | int],
        baseline: int | Mapping[str, Any] | None = None,
    ) -> list[JSON]:
        """Have evaluators judge an experiment, by name (their published version) or by the id of a version.

        With a baseline the comparative ones judge the two side by side, and the others judge both, so that what is
        gained can be told. Asked again, it gives the same runs back.
        """
        mine = _id(experiment)
        other = None if baseline is None else _id(baseline)
        asked: list[JSON] = []
        for version, compares in self._versions(evaluators, of_pair=other is not None):
            if other is None:
                asked.append({"version": version, "experiment": mine})
            elif compares:
                asked.append({"version": version, "experiment": mine, "baseline": other})
            else:
                asked += [{"version": version, "experiment": one} for one in (mine, other)]
        return [self._wire.post("runs/", each) for each in asked]

    def runs(self, experiment: int | Mapping[str, Any], baseline: int | Mapping[str, Any] | None = None) -> list[JSON]:
        """The runs over an experiment; with a baseline also those against it, and those over the baseline itself."""
        mine = list(self._wire.pages("runs/", experiment=_id(experiment)))
        if baseline is None:
            return [run for run in mine if run["baseline_id"] is None]
        other = _id(baseline)
        theirs = [run for run in self._wire.pages("runs/", experiment=other) if run["baseline_id"] is None]
        return [run for run in mine if run["baseline_id"] in (None, other)] + theirs

    def wait(
        self, runs: Iterable[Mapping[str, Any]], timeout_s: float = 3600.0, progress: Progress | None = None
    ) -> list[JSON]:
        """Until the runs are over, or only people can go on. `progress` is called with the runs at every look.

        Raises StillRunning when the time is over, with the reasons of the rows that have not run.
        """
        ids = [run["id"] for run in runs]
        began, pause = time.monotonic(), POLL_S[0]
        while True:
            now = [self._wire.get(f"runs/{pk}/") for pk in ids]
            if progress is not None:
                progress(now)
            going = [run for run in now if not is_over(run)]
            if not going:
                return now
            left_s = began + timeout_s - time.monotonic()
            if left_s <= 0:
                why = [waiting["why"] for run in going for waiting in self._wire.get(f"runs/{run['id']}/waiting/")]
                raise StillRunning(going, why)
            time.sleep(min(pause, left_s))
            pause = min(POLL_S[1], pause * 1.5)

    def gate(
        self,
        experiment: int | Mapping[str, Any],
        require: Iterable[str | Requirement] = (),
        *,
        baseline: int | Mapping[str, Any] | None = None,
        evaluators: Sequence[str | int] = (),
        coverage: float = LEAST_COVERAGE,
        strict: bool = False,
        timeout_s: float = 3600.0,
        progress: Progress | None = None,
    ) -> Report:
        """Decide whether an experiment is good enough, once its runs are over; see `Requirement` and `Report`.

        With `evaluators` these judge first, as `evaluate` has it, and they alone count; without, the highest version of
        each evaluator that judged. A requirement fails where the interval proves that it is missed; with `strict` also
        where the interval cannot tell. With a baseline, every evaluator that judged both fails where the interval of
        the difference proves that the experiment is worse. Too little is known where a smaller share of rows than
        `coverage` has a score, and that fails as well.
        """
        wanted = [Requirement.parse(each) if isinstance(each, str) else each for each in require]
        runs = self.evaluate(experiment, evaluators, baseline) if evaluators else self.runs(experiment, baseline)
        self.wait([run for run in runs if run["is_current"]], timeout_s, progress)
        other = None if baseline is None else _id(baseline)
        only = {_id(run) for run in runs} if evaluators else None
        return Gate(self._wire, _id(experiment), other, coverage, strict, only).decide(wanted)

    def _versions(self, wanted: Sequence[str | int], *, of_pair: bool = False) -> list[tuple[int, bool]]:
        """The id of each version, and whether it compares, as far as that matters. Raises NotFound."""
        known = list(self._wire.pages("evaluators/")) if of_pair or any(isinstance(one, str) for one in wanted) else []
        return [
            _published(one, known) if isinstance(one, str) else (one, of_pair and self._compares(one, known))
            for one in wanted
        ]

    def _compares(self, version: int, known: Sequence[JSON]) -> bool:
        for one in known:
            if any(row["id"] == version for row in self._wire.pages(f"evaluators/{one['id']}/versions/")):
                return bool(one["compares"])
        raise NotFound(f"There is no evaluator version {version} in this project.")


def _published(name: str, known: Sequence[JSON]) -> tuple[int, bool]:
    found = next((one for one in known if one["name"] == name), None)
    if found is None:
        names = ", ".join(f"“{one['name']}”" for one in known[:10]) or "none"
        raise NotFound(f"There is no evaluator “{name}” in this project. There are: {names}.")
    if found["published_version_id"] is None:
        raise NotFound(f"The evaluator “{name}” has no published version. Name a version by its id.")
    return int(found["published_version_id"]), bool(found["compares"])


def _id(thing: int | Mapping[str, Any]) -> int:
    return thing if isinstance(thing, int) else int(thing["id"])
