"""The kit: every component in every state on one page, with made-up figures."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from evalstudio.web import kit_charts
from evalstudio.web.icons import ICONS
from evalstudio.web.pagination import Page

STATES = ["scored", "unscored", "failed", "awaiting", "pending"]
COLOURS = "paper sheet sunken line ink ink-2 ink-3 accent accent-soft people failed unscored".split()  # noqa: SIM905
PROMPT = """# Task
Decide whether every claim in the answer is supported by the help article.

<article>{{ inputs.article.text }}</article>

# What a correct answer says
{{ expectedOutput.answer }}
"""
CODE = """// Full marks for an answer of at most 60 words.
function evaluate({ outputs }) {
  const words = outputs.answer.trim().split(/\\s+/).length;
  return words <= 60 ? 1 : Math.max(0, 1 - (words - 60) / 60);
}
"""
JSON = '{"inputs": {"question": "When do I get my money back?"}, "outputs": {"answer": "In 7 days."}}'
PATHS = [
    {"path": "inputs.article.text", "preview": "Cancelling your contract. You can cancel at any time"},
    {"path": "inputs.question", "preview": "When do I get my money back?"},
    {"path": "outputs.answer", "preview": "In 7 days."},
    {"path": "expectedOutputs.answer", "preview": "December is still billed in full."},
]


@dataclass(frozen=True)
class Figure:
    """A made-up estimate."""

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


@dataclass(frozen=True)
class Scored:
    """A made-up evaluation."""

    state: int
    score: float | None = None
    passed: bool | None = None
    why: str | None = None


class ExampleForm(forms.Form):
    name = forms.CharField(help_text="Shown in every table.")
    model = forms.ChoiceField(choices=[("a", "gpt-4o-mini · office"), ("b", "llama-3.3-70b · gpu host")])
    threshold = forms.FloatField(label="Passes at, %", min_value=0, max_value=100)
    better = forms.ChoiceField(
        label="Better is", widget=forms.RadioSelect, choices=[("up", "higher"), ("down", "lower")]
    )
    order = forms.ChoiceField(
        label="Sort by", widget=forms.RadioSelect, choices=[("new", "newest first"), ("name", "name")]
    )
    notes = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), required=False)
    cached = forms.BooleanField(label="Use replies from the cache", required=False)


FIGURES = [
    ("Full", Figure(0.842, 0.786, 0.891, 118), None),
    ("Corrected", Figure(0.842, 0.786, 0.891, 118), Figure(0.79, 0.738, 0.842, 50)),
    ("Low coverage", Figure(0.74, 0.604, 0.841, 50), None),
    ("At the edge", Figure(1.0, 0.969, 1.0, 120), None),
    ("Nothing yet", Figure(None, None, None, 0), None),
    ("Refused", Figure(None, None, None, 12, refused="All 12 outcomes are equal; an interval needs both."), None),
]
SCORES = [
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
]
COUNTS = {"scored": 1806, "unscored": 112, "failed": 43, "awaiting": 200, "in_flight": 64, "pending": 2575}
ROWS: list[dict[str, Any]] = [
    {
        "key": "refund-late-17",
        "question": "I cancelled on 24 November but my app still shows a December bill. When do I get my money back?",
        "factual": SCORES[0],
        "safety": SCORES[3],
        "cost": 0.00021,
    },
    {
        "key": "outage-credit-11",
        "question": "The internet was down for three days. What will you pay me for that?",
        "factual": SCORES[1],
        "safety": SCORES[6],
        "cost": 0.00031,
    },
    {
        "key": "number-port-09",
        "question": "Your competitor says you are blocking my number.",
        "factual": SCORES[2],
        "safety": SCORES[5],
        "cost": None,
    },
]


@login_required
def kit(request: HttpRequest) -> HttpResponse:
    """Helps to decide how a new page is put together."""
    form = ExampleForm(
        {"name": "Factual consistency", "model": "a", "threshold": "120", "better": "up", "order": "new"}
    )
    form.add_error("name", "There is a Factual consistency already. Add a word that sets this one apart.")
    context = {
        "figures": FIGURES,
        "scores": SCORES,
        "states": STATES,
        "counts": COUNTS,
        "rows": ROWS,
        "charts": kit_charts.made_up(),
        "page": Page([], "earlier", "later"),
        "form": form,
        "prompt": PROMPT,
        "code": CODE,
        "json": JSON,
        "recently": datetime.now(UTC) - timedelta(minutes=12),
        "colours": COLOURS,
        "icon_names": sorted(ICONS),
    }
    return render(request, "kit/kit.html", context)


@login_required
def paths(request: HttpRequest) -> JsonResponse:
    """The paths that the kit's editors complete."""
    return JsonResponse(PATHS, safe=False)


@login_required
@require_POST
def draft(request: HttpRequest) -> HttpResponse:
    """Takes the draft of the kit's form, and says a sentence about it."""
    return HttpResponse("Notes differ from v7." if request.POST.get("notes") else "", content_type="text/plain")


@login_required
def peek(request: HttpRequest, key: str) -> HttpResponse:
    """What the kit's table opens beside itself."""
    row = next((row for row in ROWS if row["key"] == key), None)
    if row is None:
        raise Http404
    return render(request, "kit/_peek.html", {"row": row, "recently": datetime.now(UTC) - timedelta(minutes=12)})
