"""The heuristic: a JavaScript function of the sample, run in a sandbox, that returns its verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms

from evaluators import scoring
from evaluators.core import COMPARISON, PROCESSED, RESULT, FieldError, Measure, Needs, Sample, Score, Status, Why
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.forms import Typed
from evaluators.kinds.scored import ScoredForm, blank_scale, check_scale
from evaluators.scoring import EnumScoring, OffScale, Passing, Scoring
from evaluators.tools import Tools, javascript

if TYPE_CHECKING:
    from evalstudio.calls.javascript import Fault, Outcome
    from evaluators.framing import Question

MOST_CODE = 100_000
MOST_REASON = 20_000
_NAMES_PROCESSED = re.compile(rf"\b{PROCESSED}\b")
BLANK_CODE = """function evaluate({ inputs, expectedOutputs, outputs, steps }) {
  return outputs.value.length > 0 ? 1 : 0;
}
"""


@dataclass(frozen=True, slots=True)
class HeuristicConfig:
    """A heuristic's settings: its code, the seed of its random numbers, and the scale."""

    code: str
    scoring: Scoring
    passing: Passing
    seed: int = 0
    runs_on: str = RESULT


class Heuristic:
    """A computing kind."""

    key = "heuristic"
    title = "Heuristic"
    summary = "A JavaScript function of yours that computes the score. Fast, free, and always the same."
    icon = "code"
    schema = 2
    can_compare = True

    @property
    def form(self) -> type[HeuristicForm]:
        return HeuristicForm

    def blank(self) -> Stored:
        return {"code": BLANK_CODE, "seed": 0, **blank_scale(scoring.PERCENTAGE)}

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
        if not 1 <= schema <= self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        return {"scale": None, "runs_on": RESULT, **stored}  # schema 1 had neither

    def load(self, stored: Mapping[str, Any], schema: int) -> HeuristicConfig:
        config = self.upgraded(stored, schema)
        try:
            return HeuristicConfig(
                code=config["code"],
                scoring=scoring.read(config["scoring"]),
                passing=Passing(config["threshold"], config["direction"]),
                seed=config["seed"],
                runs_on=config["runs_on"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadConfig(f"This is not the configuration of a heuristic: {error!r}.") from error

    def needs(self, config: HeuristicConfig) -> Needs:
        return Needs("cpu", compares=config.runs_on == COMPARISON)

    def measures(self, config: HeuristicConfig) -> tuple[Measure, ...]:
        return ()

    def check(self, config: HeuristicConfig) -> list[FieldError]:
        return [*_check_code(config), *check_scale(config)]

    def paths(self, config: HeuristicConfig) -> tuple[str, ...]:
        """Code may read whatever it likes; of what a processor makes it is told where it names it."""
        return (PROCESSED,) if _NAMES_PROCESSED.search(config.code) else ()

    def message(self, config: HeuristicConfig, sample: Sample) -> Question | None:
        return None

    def prepare(self, config: HeuristicConfig, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        """The code, loaded once; every call of it gets a machine of its own."""
        from evalstudio.calls.javascript import CodeFault

        assert tools.javascript is not None
        try:
            script = tools.javascript.compile(config.code)
        except CodeFault as error:
            fault = error.fault
            return lambda samples: [_faulty(fault) for _ in samples]

        def scores(samples: Sequence[Sample]) -> list[Score]:
            seeds = [config.seed + sample.repeat for sample in samples]
            outcomes = script.run_many([_argument(sample) for sample in samples], seeds)
            return [_scored(outcome, config) for outcome in outcomes]

        return scores


def _argument(sample: Sample) -> dict[str, Any]:
    """What `evaluate` is called with. What the case lacks is left out, so that defaults in the code take effect."""
    given = _there(sample.roots())
    return given | {COMPARISON: _there(given[COMPARISON])} if COMPARISON in given else given


def _there(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# From what the code returned to a score


def _scored(outcome: Outcome, config: HeuristicConfig) -> Score:
    if outcome.fault:
        return _faulty(outcome.fault, logs=outcome.logs, latency_ms=outcome.took_ms)
    try:
        value, label, reason = _verdict(outcome.value, config.scoring)
    except OffScale as error:
        return Score.unscored(Why.OFF_SCALE, str(error), logs=outcome.logs, latency_ms=outcome.took_ms)
    return Score(
        Status.SCORED,
        value=value,
        label=label,
        passed=config.passing.passed(value),
        reason=reason,
        logs=outcome.logs,
        latency_ms=outcome.took_ms,
    )


def _verdict(returned: Any, scale: Scoring) -> tuple[float, str | None, str]:
    """(value, label, reason) of a returned verdict, or of an object that holds one. Raises OffScale."""
    reason = ""
    name = "label" if isinstance(scale, EnumScoring) else "score"
    if isinstance(returned, dict) and name in returned:
        reason = str(returned.get("reason") or "")[:MOST_REASON]
        returned = returned[name]
    if isinstance(scale, EnumScoring):
        option = scale.option(returned)
        return option.value, option.label, reason
    return scale.value(int(returned) if isinstance(returned, bool) else returned), None, reason


_WHY = {
    "time": Why.TIME,
    "memory": Why.MEMORY,
    "sample": Why.MEMORY,
    "output": Why.OUTPUT,
}
_NO_VERDICT = frozenset(("no_value", "not_a_number", "not_json"))  # it ran well, and what it returned is no score


def _faulty(fault: Fault, **more: Any) -> Score:
    sentence = f"Line {fault.line}: {fault.message}" if fault.line else fault.message
    if fault.kind in _NO_VERDICT:
        return Score.unscored(Why.OFF_SCALE, sentence, **more)
    return Score.failed(_WHY.get(fault.kind, Why.THROWN), sentence, **more)


def _check_code(config: HeuristicConfig) -> list[FieldError]:
    from evalstudio.calls.javascript import CodeFault

    compares = config.runs_on == COMPARISON
    if not config.code.strip():
        arguments = "inputs, expectedOutputs, outputs, steps" + (", comparison" if compares else "")
        return [FieldError("code", f"Write a function evaluate({{ {arguments} }}).")]
    if len(config.code) > MOST_CODE:
        return [FieldError("code", f"The code has at most {MOST_CODE:,} characters.")]
    try:
        javascript().compile(config.code)
    except CodeFault as error:
        return [FieldError("code", error.fault.message, error.fault.line)]
    if compares and COMPARISON not in config.code:
        message = "The code never reads comparison.outputs, so it would judge the baseline alone."
        return [FieldError("code", message)]
    return []


class HeuristicForm(ScoredForm):
    """The settings of a heuristic as people type them."""

    kind = Heuristic()
    field_order = ("code",)

    code = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 16, "data-editor": "javascript", "spellcheck": "false"}),
        strip=False,
        required=False,
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, required=False)

    def own_config(self) -> Stored:
        code = self.cleaned_data["code"].replace("\r\n", "\n")
        return {"code": code, "seed": self.cleaned_data["seed"] or 0}

    @classmethod
    def own_typed(cls, config: Mapping[str, Any]) -> Typed:
        return {"code": [str(config["code"])], "seed": [str(config["seed"])]}
