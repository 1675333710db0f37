"""What the tags draw: the figure, its interval and its coverage, or the words for why there is none."""

import re
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from pathlib import Path

import pytest
from django.template import Context, Template

from evalstudio.web.icons import ICONS
from evalstudio.web.marks import progress_parts

TEMPLATES = Path(__file__).parents[2] / "templates"


@dataclass(frozen=True)
class Figure:
    value: float | None = 0.842
    low: float | None = 0.786
    high: float | None = 0.891
    n: int = 118
    asked: int = 120
    refused: str | None = None


@dataclass(frozen=True)
class Row:
    state: int
    score: float | None = None
    passed: bool | None = None
    why: object = None


class Status(IntEnum):
    SCORED = 2
    FAILED = 4


class Why(StrEnum):
    TIME_OUT = "time_out"


def render(source: str, **context) -> str:
    text = Template(source).render(Context(context))
    return re.sub(r"\s+", " ", text.replace("\N{NO-BREAK SPACE}", " "))


def test_an_estimate_shows_its_value_interval_and_coverage():
    text = render('{% estimate figure "Facts" %}', figure=Figure())
    assert "84.2 %" in text
    assert "78.6–89.1" in text
    assert "118 of 120" in text
    assert 'aria-label="Facts: 84.2 %, 95 % interval 78.6 to 89.1, 118 of 120 scored"' in text
    assert 'cx="84.2%"' in text
    assert "cov-low" not in text


def test_a_correction_by_people_is_a_second_mark_with_its_half_width():
    text = render('{% estimate figure "Facts" corrected %}', figure=Figure(), corrected=Figure(0.79, 0.738, 0.842))
    assert "79 ± 5" in text
    assert "corrected by people 79.0 %, 95 % interval 73.8 to 84.2" in text
    assert "m-dia" in text


def test_low_coverage_is_marked():
    assert "cov-low" in render("{% coverage 95 120 %}")
    assert "cov-low" not in render("{% coverage 96 120 %}")


def test_a_refused_estimate_is_its_sentence_and_no_mark():
    text = render("{% estimate figure %}", figure=Figure(refused="All outcomes are equal."))
    assert "All outcomes are equal." in text
    assert "<svg" not in text


@pytest.mark.parametrize("figure", [None, Figure(None, None, None, 0)])
def test_nothing_measured_is_an_empty_track_and_never_a_zero(figure):
    text = render("{% estimate figure %}", figure=figure)
    assert "no figure yet" in text
    assert "m-axis" in text
    assert "m-dot" not in text


def test_a_score_below_its_threshold_has_a_cross_and_says_so():
    text = render("{% score row %}", row=Row(2, 0.2, False))
    assert "<b>20</b>" in text
    assert "below threshold" in text


def test_a_score_without_a_threshold_has_no_cross():
    assert "below threshold" not in render("{% score row %}", row=Row(2, 0.2))


@pytest.mark.parametrize(
    ("state", "why", "word"),
    [
        (0, None, "pending"),
        (1, None, "awaiting"),
        (3, "unparsed", "unparsed"),
        (Status.FAILED, Why.TIME_OUT, "time out"),
    ],
)
def test_a_row_without_a_score_says_its_state_or_its_reason(state, why, word):
    text = render("{% score row %}", row=Row(state, why=why))
    assert f"</svg>{word}</span>" in text


def test_a_reason_is_escaped():
    assert "<img" not in render("{% state_badge 4 why %}", why="<img src=x>")


def test_a_missing_row_is_a_dash_and_never_a_zero():
    assert "not evaluated" in render("{% score row %}", row=None)


@dataclass(frozen=True)
class Said:
    baseline: Row | None = None
    compared: Row | None = None
    gain: float | None = None
    lacking: Row | None = None
    is_comparative: bool = False


@dataclass(frozen=True)
class Preferred(Row):
    label: str | None = None


@pytest.mark.parametrize(
    ("before", "after", "gain", "words"),
    [
        (0.5, 0.8, 0.3, "better, </span>+30.0"),
        (0.5, 0.8, -0.3, "worse, </span>+30.0"),  # where less is better
        (0.5, 0.5, 0.0, "the same, </span>"),
    ],
)
def test_two_scores_say_which_is_better_by_the_gain_and_how_far_by_the_scores(before, after, gain, words):
    told = Said(Row(2, before), Row(2, after), gain)
    assert words in render("{% told told names %}", told=told, names=("new", "old"))


@pytest.mark.parametrize(("share", "words"), [(1.0, "new wins"), (0.25, "old wins"), (0.5, "a tie")])
def test_a_comparison_names_who_it_prefers(share, words):
    told = Said(compared=Preferred(2, share, label='"A"'), gain=2 * share - 1, is_comparative=True)
    text = render("{% told told names %}", told=told, names=("new", "old"))
    assert words in text
    assert 'title="&quot;A&quot;"' in text


def test_a_name_in_a_comparison_is_escaped():
    told = Said(compared=Preferred(2, 1.0), gain=1.0, is_comparative=True)
    assert "<img" not in render("{% told told names %}", told=told, names=("<img src=x>", "old"))


def test_what_keeps_a_pair_from_a_difference_is_said():
    assert "unparsed" in render("{% told told names %}", told=Said(lacking=Row(3, why="unparsed")), names=("a", "b"))
    assert "not evaluated" in render("{% told told names %}", told=Said(), names=("a", "b"))


def test_progress_counts_what_is_there_in_its_order():
    parts, settled, total = progress_parts({"pending": 2, "scored": 5, "failed": 1, "in_flight": 2})
    assert [(part["word"], part["count"], part["x"]) for part in parts] == [
        ("scored", 5, "0.00%"),
        ("failed", 1, "50.00%"),
        ("in flight", 2, "60.00%"),
        ("pending", 2, "80.00%"),
    ]
    assert (settled, total) == (6, 10)


def test_progress_of_nothing_does_not_divide_by_zero():
    assert progress_parts({}) == ([], 0, 0)


def test_unknown_figures_are_dashes():
    assert render("{{ x|percent }} {{ x|usd }} {{ x|ms }} {{ x|tokens }} {{ x|ago }}", x=None) == "– – – – –"


def test_every_icon_that_a_template_names_exists():
    used = {
        (name, path.name)
        for path in TEMPLATES.rglob("*.html")
        for name in re.findall(r'{% icon "([\w-]+)"|symbol="([\w-]+)"', path.read_text())
        for name in name
        if name
    }
    assert used
    assert {(name, file) for name, file in used if name not in ICONS} == set()
