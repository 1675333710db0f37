"""The kit: every component in every state on one page, with made-up figures."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@dataclass(frozen=True)
class Figure:
    value: float | None
    low: float | None
    high: float | None
    n: int
    asked: int = 120
    refused: str | None = None
    method: str = "Wilson"

    @property
    def coverage(self) -> float:
        return self.n / self.asked

    @property
    def clusters(self) -> int:
        return self.n


@dataclass(frozen=True)
class Scored:
    state: int
    score: float | None = None
    passed: bool | None = None
    why: str | None = None


class Fields(forms.Form):
    name = forms.CharField(initial="Factual consistency", help_text="Shown in every table.")
    model = forms.ChoiceField(choices=[("a", "gpt-4o-mini · office"), ("b", "llama-3.3-70b · gpu host")])
    threshold = forms.FloatField(label="Passes at, %", min_value=0, max_value=100)
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    cached = forms.BooleanField(label="Use replies from the cache", required=False)
    better = forms.ChoiceField(
        label="Better is", widget=forms.RadioSelect, choices=[("higher", "higher"), ("lower", "lower")]
    )


@login_required
def kit(request: HttpRequest) -> HttpResponse:
    """Helps to decide how a new page is put together."""
    bad = Fields({"name": "", "model": "a", "threshold": "120", "better": "higher"})
    bad.add_error("name", "There is a Factual consistency already. Add a word that sets this one apart.")
    context = {
        "figures": [
            ("Full", Figure(0.842, 0.786, 0.891, 118), None),
            ("Corrected", Figure(0.842, 0.786, 0.891, 118), Figure(0.79, 0.738, 0.842, 50)),
            ("Low coverage", Figure(0.74, 0.604, 0.841, 50), None),
            ("At the edge", Figure(1.0, 0.969, 1.0, 120), None),
            ("Nothing yet", Figure(None, None, None, 0), None),
            (
                "Refused",
                Figure(None, None, None, 12, refused="All 12 outcomes are equal; an interval needs both."),
                None,
            ),
        ],
        "scores": [
            Scored(2, 0.2, False),
            Scored(2, 0.0, False),
            Scored(2, 0.6, True),
            Scored(2, 1.0, True),
            Scored(2, 0.45),
            Scored(3, why="unparsed"),
            Scored(4, why="time-out"),
            Scored(1),
            Scored(0),
            None,
        ],
        "states": ["scored", "unscored", "failed", "awaiting", "pending"],
        "counts": {"scored": 1806, "unscored": 112, "failed": 43, "awaiting": 200, "in_flight": 64, "pending": 2575},
        "form": bad,
        "recently": datetime.now(UTC) - timedelta(minutes=12),

    }
    return render(request, "kit/kit.html", context)
