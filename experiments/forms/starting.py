"""The options of a run as people type them: which outputs, how often, what is kept, how far it may go."""

from __future__ import annotations

from typing import Any

from django import forms

from experiments.datasets.browsing import facets_of
from experiments.ledger.asked import MOST_OUTPUTS, MOST_REPEATS, Asked, Take
from experiments.models import Experiment, Priority, Run, RunDefaults

TAKES = [
    (Take.ALL, "All outputs"),
    (Take.FIRST, "The first ones"),
    (Take.RANDOM, "Some at random"),
    (Take.SPLIT, "One split"),
]
PRIORITIES = [(Priority.HIGH, "high"), (Priority.NORMAL, "normal"), (Priority.LOW, "low")]
MOST_USD = 1_000_000
MOST_MINUTES = 60 * 24 * 30
MOST_SEED = 2**31 - 1
LIMITS = {"limit_usd": "limit_usd", "limit_s": "limit_minutes"}  # column of a run → field


def splits_of(experiment: Experiment) -> list[str]:
    """The splits of the cases that an experiment answers. No query once they were counted."""
    return [name for name in facets_of(experiment.dataset_version).splits if name]


def whole(label: str, least: int, most: int, said: str = "") -> forms.IntegerField:
    """A whole number that may be left out."""
    said = said or f"Give a whole number from {least:,} to {most:,}."
    return forms.IntegerField(
        label=label,
        required=False,
        min_value=least,
        max_value=most,
        error_messages={"invalid": said, "min_value": said, "max_value": said},
    )


def limits_typed(limits: Run | RunDefaults) -> dict[str, float | None]:
    """Limits as somebody would type them."""
    minutes = None if limits.limit_s is None else limits.limit_s / 60
    return {"limit_usd": limits.limit_usd, "limit_minutes": minutes}


class BoundsForm(forms.Form):
    """How far a run may go, and who comes first."""

    limit_usd = forms.FloatField(
        label="Spend at most, $",
        required=False,
        min_value=0.000001,
        max_value=MOST_USD,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), f"Give an amount up to {MOST_USD:,}."),
    )
    limit_minutes = forms.FloatField(
        label="Time limit, minutes",
        required=False,
        min_value=1 / 60,
        max_value=MOST_MINUTES,
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), f"Give minutes up to {MOST_MINUTES:,}."),
    )
    priority = forms.TypedChoiceField(
        label="Priority", choices=PRIORITIES, coerce=int, empty_value=None, initial=int(Priority.NORMAL), required=False
    )

    @classmethod
    def of(cls, run: Run) -> BoundsForm:
        """The form with what a run has now."""
        return cls(initial={**limits_typed(run), "priority": run.priority})

    def bounds(self) -> dict[str, Any]:
        """What the valid form says, as `Asked` takes it."""
        said = self.cleaned_data
        minutes, priority = said["limit_minutes"], said["priority"]
        return {
            "limit_usd": said["limit_usd"],
            "limit_s": None if minutes is None else max(1, round(minutes * 60)),
            "priority": Priority.NORMAL if priority is None else Priority(priority),
        }


class TakeForm(BoundsForm):
    """What is taken, how often, and how far that may go. What is left out is as in a plain run: all, once."""

    things = "outputs to judge"

    take = forms.ChoiceField(label="Outputs", choices=TAKES, required=False)
    n = whole("How many", 1, MOST_OUTPUTS)
    seed = whole("Seed", 0, MOST_SEED)
    split = forms.CharField(label="Split", required=False, max_length=40)
    repeats = whole("Times each", 1, MOST_REPEATS)

    def __init__(
        self, data: Any = None, *, splits: list[str], defaults: RunDefaults | None = None, **more: Any
    ) -> None:
        super().__init__(data, **more)
        self.splits = splits
        self.defaults = defaults or RunDefaults()
        for name, value in limits_typed(self.defaults).items():
            self.fields[name].initial = value
        self.fields["split"].widget = forms.Select(choices=[("", "choose one"), *((name, name) for name in splits)])
        if not splits:
            self.fields["take"].choices = self.fields["take"].choices[:-1]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        take = cleaned.get("take")
        if take in (Take.FIRST, Take.RANDOM) and cleaned.get("n") is None and "n" not in self.errors:
            self.add_error("n", f"Say how many {self.things}.")
        if take == Take.SPLIT and cleaned.get("split") not in self.splits:
            self.add_error(
                "split" if self.splits else "take", f"Choose a split: {', '.join(self.splits) or 'there is none'}."
            )
        return cleaned

    def asked(self, **more: Any) -> Asked:
        """What the valid form asks for."""
        said = self.cleaned_data
        return Asked(
            take=Take(said["take"]),
            n=said["n"] or 0,
            seed=said["seed"] or 0,
            split=said["split"],
            repeats=said["repeats"] or 1,
            **self.bounds(),
            **more,
        )

    def bounds(self) -> dict[str, Any]:
        """As above. A limit of the project that was left as it stood is no word of this run's own; emptied, it is."""
        bounds = super().bounds()
        emptied = [name for name, field in LIMITS.items() if field in self.data and bounds[name] is None]
        kept = [name for name in LIMITS if bounds[name] == getattr(self.defaults, name)]
        return bounds | dict.fromkeys(kept) | {"lifted": frozenset(emptied) - frozenset(kept)}


class OptionsForm(TakeForm):
    """All options of a run that judges; with all details unless scores are enough."""

    field_order = ("take", "n", "seed", "split", "repeats", "scores_only", "again")

    scores_only = forms.BooleanField(label="Scores only: keep no reasons and no replies", required=False)
    again = forms.BooleanField(
        label="Judge all again: a new run from no reply that is kept; the earlier one stays readable", required=False
    )

    @classmethod
    def like(cls, run: Run, **more: Any) -> OptionsForm:
        """The form with the options of a run."""
        options = {**(run.selection or {}), "repeats": run.repeats, "scores_only": not run.keeps_details}
        return cls(**more, initial={**BoundsForm.of(run).initial, **options})

    def asked(self, **more: Any) -> Asked:
        said = self.cleaned_data
        return super().asked(keeps_details=not said["scores_only"], again=said["again"], **more)
