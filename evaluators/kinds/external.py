"""The external evaluator: another program judges, and its scores are sent; the rows await them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators import scoring
from evaluators.core import COMPARISON, RESULT, FieldError, Measure, Needs, Sample
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.forms import Typed
from evaluators.kinds.scored import ScoredForm, blank_scale, check_scale
from evaluators.scoring import PERCENTAGE, Passing, Scoring

if TYPE_CHECKING:
    from evaluators.framing import Question


@dataclass(frozen=True, slots=True)
class ExternalConfig:
    """The scale that labels are read by, and when a score passes."""

    scoring: Scoring
    passing: Passing
    runs_on: str = RESULT


class External:
    """A kind of the lane "outside": nothing evaluates here, the rows wait until their scores are sent."""

    key = "external"
    title = "External scores"
    summary = "Another program makes the scores; you upload them or send them over the API."
    icon = "import"
    schema = 1
    can_compare = False

    @property
    def form(self) -> type[ExternalForm]:
        return ExternalForm

    def blank(self) -> Stored:
        return blank_scale(PERCENTAGE)

    def upgraded(self, stored: Mapping[str, object], schema: int) -> Stored:
        if schema != self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        return dict(stored)

    def load(self, stored: Mapping[str, object], schema: int) -> ExternalConfig:
        config = self.upgraded(stored, schema)
        try:
            return ExternalConfig(
                scoring.read(config["scoring"]), Passing(config["threshold"], config["direction"]), config["runs_on"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadConfig(f"This is not the configuration of external scores: {error!r}.") from error

    def needs(self, config: ExternalConfig) -> Needs:
        return Needs("outside", calls=0)

    def measures(self, config: ExternalConfig) -> tuple[Measure, ...]:
        return ()

    def check(self, config: ExternalConfig) -> list[FieldError]:
        faults = check_scale(config)
        if config.runs_on == COMPARISON:
            faults.append(FieldError("runs_on", "External scores are of one result."))
        return faults

    def paths(self, config: ExternalConfig) -> tuple[str, ...]:
        return ()  # what the other program reads is its own affair

    def message(self, config: ExternalConfig, sample: Sample) -> Question | None:
        return None


class ExternalForm(ScoredForm):
    """The settings of external scores as people type them: the scale alone."""

    kind = External()

    def own_config(self) -> Stored:
        return {}

    @classmethod
    def own_typed(cls, config: Mapping[str, object]) -> Typed:
        return {}
