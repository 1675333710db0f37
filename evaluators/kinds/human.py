"""The human evaluator: people read instructions and grade on a scale; its rows await them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django import forms

from evaluators import scoring
from evaluators.core import COMPARISON, RESULT, FieldError, Measure, Needs, Sample
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.forms import Typed
from evaluators.kinds.scored import ScoredForm, blank_scale, check_scale
from evaluators.scoring import EnumScoring, Option, Passing, Scoring

if TYPE_CHECKING:
    from evaluators.framing import Question

MOST_INSTRUCTIONS = 20_000
SIDES = {0.0: "A", 50.0: "E", 100.0: "B"}  # percentage of a pair's option → what a reviewer presses


@dataclass(frozen=True, slots=True)
class HumanConfig:
    """What a reviewer is told, in markdown, and the scale."""

    instructions: str
    scoring: Scoring
    passing: Passing
    runs_on: str = RESULT

    @property
    def keys(self) -> tuple[str, ...]:
        """What a reviewer presses for each option: its number, and of a pair A, B or E where that is what it says."""
        if not isinstance(self.scoring, EnumScoring):
            return ()
        options = self.scoring.options
        sides = tuple(SIDES.get(option.percentage, "") for option in options)
        if self.runs_on == COMPARISON and all(sides) and len(set(sides)) == len(sides):
            return sides
        return tuple(str(number) if number < 10 else "" for number in range(1, len(options) + 1))

    @property
    def choices(self) -> tuple[tuple[Option, str], ...]:
        """The options with their keys; none where a number is asked for."""
        options = self.scoring.options if isinstance(self.scoring, EnumScoring) else ()
        return tuple(zip(options, self.keys, strict=True))


class Human:
    """A kind of the lane "people": nothing evaluates, the rows wait until somebody grades them."""

    key = "human"
    title = "Human review"
    summary = "People read your instructions and grade each output on your scale."
    icon = "people"
    schema = 1
    can_compare = True

    @property
    def form(self) -> type[HumanForm]:
        return HumanForm

    def blank(self) -> Stored:
        return {"instructions": "", **blank_scale()}

    def upgraded(self, stored: Mapping[str, object], schema: int) -> Stored:
        if schema != self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        return dict(stored)

    def load(self, stored: Mapping[str, object], schema: int) -> HumanConfig:
        config = self.upgraded(stored, schema)
        try:
            return HumanConfig(
                instructions=config["instructions"],
                scoring=scoring.read(config["scoring"]),
                passing=Passing(config["threshold"], config["direction"]),
                runs_on=config["runs_on"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadConfig(f"This is not the configuration of a human evaluator: {error!r}.") from error

    def needs(self, config: HumanConfig) -> Needs:
        return Needs("people", compares=config.runs_on == COMPARISON, calls=0)

    def measures(self, config: HumanConfig) -> tuple[Measure, ...]:
        return ()

    def check(self, config: HumanConfig) -> list[FieldError]:
        return [*_check_instructions(config.instructions), *check_scale(config)]

    def paths(self, config: HumanConfig) -> tuple[str, ...]:
        return ()  # a reviewer sees the whole case

    def message(self, config: HumanConfig, sample: Sample) -> Question | None:
        return None


def _check_instructions(text: str) -> list[FieldError]:
    if not text.strip():
        return [FieldError("instructions", "Say what a reviewer should look at, and when to choose what.")]
    if len(text) > MOST_INSTRUCTIONS:
        return [FieldError("instructions", f"Instructions have at most {MOST_INSTRUCTIONS:,} characters.")]
    return []


class HumanForm(ScoredForm):
    """The settings of a human evaluator as people type them."""

    kind = Human()
    field_order = ("instructions",)

    instructions = forms.CharField(widget=forms.Textarea(attrs={"rows": 12}), strip=False, required=False)

    def own_config(self) -> Stored:
        return {"instructions": self.cleaned_data["instructions"].replace("\r\n", "\n").strip()}

    @classmethod
    def own_typed(cls, config: Mapping[str, object]) -> Typed:
        return {"instructions": [str(config["instructions"])]}
