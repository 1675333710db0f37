"""Whether an experiment is good enough, decided by intervals: a bare mean proves nothing."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from evalstudio_client.errors import EvalStudioError, NotFound
from evalstudio_client.report import Check, Outcome, Report
from evalstudio_client.wire import JSON, Wire

LEAST_COVERAGE = 0.8
EVEN = 0.5  # of a comparison: as many wins as losses
OVER = ("finished", "stopped")
WRITTEN = re.compile(
    r"^\s*(?P<name>.+?)(?P<passes>\s+passes)?\s*(?P<sign>>=|≥|<=|≤)\s*(?P<limit>[\d.]+)\s*(?P<of>%?)\s*$"
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What the scores of one evaluator must be: `"Correctness >= 0.8"`, `"Toxicity <= 5%"`, `"Tone passes >= 90%"`.

    The mean is compared, or the share of rows that pass the evaluator's own threshold; of a comparison the share of
    wins, ties as halves. `limit` is a share from 0 to 1.
    """

    evaluator: str
    limit: float
    at_least: bool = True
    passes: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError where the text is no requirement."""
        found = WRITTEN.match(text)
        try:
            limit = float(found["limit"]) / (100 if found["of"] else 1) if found else -1.0
        except ValueError:
            limit = -1.0
        if found is None or not 0 <= limit <= 1:
            raise ValueError(
                f"“{text}” is no requirement. Write, for example: Correctness >= 0.8, or Tone passes >= 90%."
            )
        return cls(found["name"], limit, found["sign"] in (">=", "≥"), bool(found["passes"]))

    def __str__(self) -> str:
        sign = "≥" if self.at_least else "≤"
        return f"{self.evaluator}{' passes' if self.passes else ''} {sign} {_percent(self.limit)}"

    def decide(self, figure: Mapping[str, Any]) -> tuple[Outcome, str]:
        """By the interval of a figure: proven, proven wrong, or neither."""
        value, low, high = figure["value"], figure["low"], figure["high"]
        if value is None:
            return Outcome.FAILED, str(figure["refused"])
        if low is None or high is None:
            return Outcome.UNDECIDED, f"{_percent(value)}; {figure['refused']}"
        is_met, is_missed = low >= self.limit, high < self.limit
        if not self.at_least:
            is_met, is_missed = high <= self.limit, low > self.limit
        said = f"{_percent(value)}, interval {_percent(low)} to {_percent(high)}, from {figure['n']} rows"
        if is_met:
            return Outcome.PASSED, said
        if is_missed:
            return Outcome.FAILED, said
        return Outcome.UNDECIDED, f"{said}: it could be on either side of {_percent(self.limit)}"


@dataclass(frozen=True, slots=True)
class Gate:
    """Looks at the runs of one experiment; `only` are the ids of runs that count, all current ones if it is None."""

    wire: Wire
    experiment: int
    baseline: int | None
    coverage: float
    strict: bool
    only: Collection[int] | None = None

    def decide(self, requirements: Sequence[Requirement]) -> Report:
        """Once the runs are over. Raises NotFound where nothing was judged."""
        if not requirements and self.baseline is None:
            raise EvalStudioError("There is nothing to decide. Name a requirement or a baseline.")
        runs = self._runs()
        checks = [self._required(each, runs) for each in requirements]
        if self.baseline is not None:
            checks += self._regressions(runs)
        return Report(self.experiment, self.baseline, self.strict, checks)

    def _runs(self) -> dict[str, JSON]:
        """The run of each evaluator, by its highest version, against the baseline if it compares."""
        found: dict[str, JSON] = {}
        for run in self.wire.pages("runs/", experiment=self.experiment):
            is_meant = run["is_current"] if self.only is None else run["id"] in self.only
            counts = is_meant and run["baseline_id"] in (None, self.baseline)
            if counts and run["version"] >= found.get(run["evaluator"], run)["version"]:
                found[run["evaluator"]] = run
        return found

    def _required(self, requirement: Requirement, runs: Mapping[str, JSON]) -> Check:
        run = runs.get(requirement.evaluator)
        if run is None:
            known = ", ".join(f"“{name}”" for name in runs) or "none"
            raise NotFound(
                f"“{requirement.evaluator}” has not judged experiment {self.experiment}. Those that have: {known}."
            )
        figure = self.wire.get(f"runs/{run['id']}/passing/") if requirement.passes else run["estimate"]
        outcome, sentence = requirement.decide(figure)
        return self._check(str(requirement), run, outcome, sentence, figure)

    def _regressions(self, runs: Mapping[str, JSON]) -> list[Check]:
        told = self.wire.get(f"experiments/{self.experiment}/compare/", baseline=self.baseline)
        counted = {run["id"] for run in runs.values()}
        checks = [self._gained(gain) for gain in told["evaluators"] if gain["run"] in counted]
        checks += [self._won(run) for run in runs.values() if run["baseline_id"] is not None]
        if not checks:
            raise NotFound(
                "No evaluator judged both experiments by the same version. Let one judge the baseline as well."
            )
        alone = [one for one in told["alone"] if one["run"] in counted]
        return checks + [self._alone(one) for one in alone]

    def _gained(self, gain: JSON) -> Check:
        figure = gain["difference"]
        outcome = Outcome.FAILED if gain["verdict"] == "worse" else Outcome.PASSED
        if figure["low"] is None:
            outcome = Outcome.FAILED if figure["value"] is None else Outcome.UNDECIDED
        sentence = f"{gain['verdict']}: {_difference(figure)}"
        return self._check(f"{gain['evaluator']} against the baseline", gain, outcome, sentence, figure)

    def _won(self, run: JSON) -> Check:
        """Of a comparing evaluator: worse only where the interval of the wins lies below one half."""
        figure = run["estimate"]
        outcome, sentence = Requirement(run["evaluator"], EVEN).decide(figure)
        if outcome is Outcome.UNDECIDED and figure["low"] is not None:
            outcome = Outcome.PASSED
        return self._check(f"{run['evaluator']} against the baseline", run, outcome, f"wins {sentence}", figure)

    def _check(self, name: str, run: JSON, outcome: Outcome, sentence: str, figure: JSON) -> Check:
        covered = figure["n"] / figure["asked"] if figure["asked"] else 0.0
        if covered < self.coverage and figure["value"] is not None:
            outcome = Outcome.FAILED
            sentence = f"only {figure['n']} of {figure['asked']} rows are scored; {sentence}"
        return Check(name, f"{run['evaluator']} v{run['version']}", outcome, sentence, bool(run["rehearsal"]))

    def _alone(self, one: JSON) -> Check:
        who = f"{one['evaluator']} v{one['version']}"
        return Check(
            f"{one['evaluator']} against the baseline", who, Outcome.UNDECIDED, "it judged only one of the two", False
        )


def is_over(run: Mapping[str, Any]) -> bool:
    """Whether nothing more comes of a run by itself; what awaits people may still come."""
    counts = run["counts"]
    return run["state"] in OVER or (counts.get("awaiting", 0) > 0 and not counts.get("pending", 0))


def _percent(share: float) -> str:
    return f"{share * 100:.1f} %"


def _points(difference: float) -> str:
    """With up to three digits where fewer would read as zero: an interval beside zero must not seem to touch it."""
    digits = next((enough for enough in (1, 2, 3) if round(difference * 100, enough)), 1)
    return f"{round(difference * 100, digits) + 0.0:+.{digits}f}"


def _difference(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return str(figure["refused"])
    if figure["low"] is None:
        return f"{_points(figure['value'])} points; {figure['refused']}"
    value, low, high = (_points(figure[end]) for end in ("value", "low", "high"))
    return f"{value} points, interval {low} to {high}, from {figure['n']} pairs"
