"""The shared pieces of the pages: icons, marks of estimates and scores, state badges, places, figures with their units.

Everything is a builtin of the templates. Data only ever passes through autoescaping or `format_html`.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django import template
from django.template import Context
from django.template.loader import get_template
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evalstudio.web import charts, icons, marks, numbers

register = template.Library()

PLACES = (
    ("home", "Home", "project-home"),
    ("evaluators", "Evaluators", "evaluator-list"),
    ("datasets", "Datasets", "dataset-list"),
    ("experiments", "Experiments", "experiment-list"),
    ("compare", "Compare", "compare"),
    ("leaderboard", "Leaderboard", "leaderboard"),
    ("runs", "Runs", "run-list"),
    ("review", "Review", "queue-list"),
    ("settings", "Settings", "connection-list"),
)


NO_ROW = SafeString('<span class="muted">–<span class="vh">not evaluated</span></span>')
BELOW = format_html('{}<span class="vh">below threshold</span>', icons.svg("cross", 12))


@register.simple_tag
def icon(name: str, size: int = 16) -> SafeString:
    """The inline drawing of an icon: {% icon "check" 12 %}."""
    return icons.svg(name, size)


# --- Marks ------------------------------------------------------------------------------------------------------------
@register.simple_tag
def estimate(
    figure: marks.Figure | None, label: str = "", corrected: marks.Figure | None = None, look: str = ""
) -> SafeString:
    """The mark of an estimate: value, interval, track and coverage. `look` is "", "big" or "line" (all on one line).

    None, or one of nothing, draws an empty track; a refused estimate gives its sentence in place of the mark.
    """
    return _drawn(figure, label, corrected, look)  # type: ignore[arg-type]  # estimates are frozen, so hashable


@lru_cache(maxsize=4096)  # lists are full of these marks, and show the same figures until a score changes them
def _drawn(figure: marks.Figure | None, label: str, corrected: marks.Figure | None, look: str) -> SafeString:
    mark, correction = marks.Mark.of(figure), marks.Mark.of(corrected)
    cover = marks.Coverage(figure.n, figure.asked) if figure else None
    context = {
        "refused": figure.refused if figure and figure.n else None,
        "mark": mark,
        "correction": correction,
        "coverage": cover,
        "look": look,
        "spoken": marks.spoken(label, mark, cover, correction),
    }
    return get_template("_estimate.html").render(context)  # type: ignore[return-value]


@register.simple_tag
def coverage(scored: int, asked: int) -> SafeString:
    """A short bar and "118 of 120"; amber and bold below 80 %."""
    cover = marks.Coverage(scored, asked)
    return format_html(
        '<span class="cov{}"><svg width="24" height="6" aria-hidden="true"><rect class="c-off" width="24" height="6"'
        ' rx="2"/><rect class="c-on" width="{}" height="6" rx="2"/></svg>{}</span>',
        " cov-low" if cover.is_low else "",
        cover.on,
        cover.text,
    )


@register.simple_tag
def score(evaluation: Any) -> SafeString:
    """One score: a bar, its percentage and a cross where it fails; a badge for every other state; "–" for no row.

    `evaluation` has state, score (a share in [0, 1]), passed (None where no threshold is set) and why; where it has a
    label, that is shown on hover.
    """
    if evaluation is None:
        return NO_ROW
    if marks.state_name(evaluation.state) != "scored":
        return state_badge(evaluation.state, evaluation.why)
    return _bar(evaluation.score, evaluation.passed is False, getattr(evaluation, "label", None))


@lru_cache(maxsize=8192)  # as above
def _bar(share: float, is_low: bool, label: str | None) -> SafeString:
    return format_html(
        '<span class="score{}"{}><svg width="30" height="6" aria-hidden="true"><rect class="c-off" width="30"'
        ' height="6" rx="2"/><rect class="{}" width="{}" height="6" rx="2"/></svg><b>{}</b>{}</span>',
        " is-low" if is_low else "",
        format_html(' title="{}"', label) if label else "",
        "c-bad" if is_low else "c-on",
        f"{max(1.5, 30 * min(1.0, max(0.0, share))):.1f}",
        f"{share * 100:.0f}",
        BELOW if is_low else "",
    )


@register.simple_tag
def told(told: Any, names: Sequence[str]) -> SafeString:
    """What one evaluator says of two answers: "55 → 60 ▲ +5.0 pts", or "▲ 75 %" where it saw the two together.

    `told` has what was said of both (`baseline` and `compared`, as for `score`), the `gain`, positive where the
    compared one is better, and in `lacking` what keeps it from one. `names` are of the two, the compared one first.
    """
    if told.is_comparative and told.gain is not None:
        return _won(told.compared.score, told.compared.label or "", *names)
    if told.gain is None:
        return score(told.lacking)
    sign = 0 if abs(told.gain) < 1e-6 else 1 if told.gain > 0 else -1
    return _moved(told.baseline.score, told.compared.score, sign)


GAINS = {
    1: ("better", SafeString('<path d="M5 1 9.6 9H.4z"/>')),
    0: ("same", SafeString('<circle cx="5" cy="5" r="3.4"/>')),
    -1: ("worse", SafeString('<path d="M5 9 .4 1h9.2z"/>')),
}


@lru_cache(maxsize=8192)  # as above
def _moved(before: float, after: float, sign: int) -> SafeString:
    name, shape = GAINS[sign]
    return format_html(
        '<span class="told"><span class="muted">{} <span aria-hidden="true">→</span><span class="vh">to</span> {}'
        '</span> <span class="dv is-{}"><svg width="10" height="10" viewBox="0 0 10 10" fill="currentColor"'
        ' aria-hidden="true">{}</svg><span class="vh">{}, </span>{}</span></span>',
        f"{before * 100:.0f}",
        f"{after * 100:.0f}",
        name,
        shape,
        "the same" if name == "same" else name,
        numbers.points(after - before),
    )


@lru_cache(maxsize=8192)  # as above
def _won(share: float, label: str, one: str, other: str) -> SafeString:
    name, shape = GAINS[(share > 0.5) - (share < 0.5)]
    return format_html(
        '<span class="won dv is-{}"{}><svg width="10" height="10" viewBox="0 0 10 10" fill="currentColor"'
        ' aria-hidden="true">{}</svg><span class="vh">{}, </span>{}</span>',
        name,
        format_html(' title="{}"', label) if label else "",
        shape,
        {"better": f"{one} wins", "worse": f"{other} wins", "same": "a tie"}[name],
        numbers.percent(share, 0),
    )


@register.simple_tag
def state_badge(state: Any, why: Any = None) -> SafeString:
    """A score's state as shape, word and colour. The word is the reason where there is one: "unparsed", "time-out"."""
    name = marks.state_name(state)
    word = str(getattr(why, "value", why) or name).replace("_", " ")
    return format_html('<span class="state state-{}">{}{}</span>', name, icons.svg(marks.STATE_ICONS[name], 12), word)


@register.inclusion_tag("_progress.html")
def progress(counts: Any, label: str = "", of: str = "scores") -> dict[str, Any]:
    """The bar of a run and the count of every state, of scores or of answers: scored, unscored, failed, ..."""
    parts, settled, total = marks.progress_parts(counts)
    words = marks.ANSWERED if of == "answers" else {}
    parts = [part | {"word": words.get(part["key"], part["word"])} for part in parts]
    said = f"{numbers.count(settled)} of {numbers.count(total)} settled"
    return {"parts": parts, "spoken": f"{label}: {said}" if label else said}


@register.inclusion_tag("_chart.html")
def chart(chart: charts.Chart) -> dict[str, Any]:
    """A chart with its table; charts.js draws it when it comes near."""
    return {"chart": chart}


# --- Figures ----------------------------------------------------------------------------------------------------------
def _unless_unknown(value: Any, words: Any) -> str:
    return "–" if value is None or value == "" else words(value)


@register.filter
def percent(share: float | None, digits: int = 1) -> str:
    """0.842 as "84.2 %"; an unknown is a dash, never a zero."""
    return _unless_unknown(share, lambda known: numbers.percent(known, digits))


@register.filter
def points(difference: float | None) -> str:
    """0.065 as "+6.5 pts"."""
    return _unless_unknown(difference, numbers.points)


@register.filter
def usd(amount: float | None) -> str:
    """0.00021 as "$0.00021"."""
    return _unless_unknown(amount, lambda known: numbers.usd(float(known)))


@register.filter
def ms(milliseconds: float | None) -> str:
    """1240 as "1.24 s"."""
    return _unless_unknown(milliseconds, numbers.duration)


@register.filter
def tokens(number: int | None) -> str:
    """1204 as "1,204"; for any count."""
    return _unless_unknown(number, numbers.count)


@register.filter
def quantity(number: float | None) -> str:
    """1234.5 as "1,234.5"; for numbers that are no shares."""
    return _unless_unknown(number, numbers.quantity)


@register.filter
def limit(share: float | None) -> str:
    """A threshold of 0.605 as "60.5 %", never rounded to one that others pass."""
    return _unless_unknown(share, numbers.limit)


@register.filter
def ago(when: datetime | None) -> str:
    """How long ago, as a <time> that keeps itself up to date and shows the exact moment on hover."""
    return _time(when, numbers.ago, "ago")


@register.filter
def utc(when: datetime | None) -> str:
    """The moment as "Nov 20, 16:42 UTC", as a <time>."""
    return _time(when, numbers.moment, "utc")


def _time(when: datetime | None, words: Any, look: str) -> str:
    if when is None:
        return "–"
    return format_html(
        '<time datetime="{}" data-time="{}" title="{} UTC">{}</time>',
        when.isoformat(timespec="seconds"),
        look,
        f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        words(when),
    )


@register.filter
def clip(text: object, length: int) -> str:
    """At most `length` characters on one line, cut at a word, with an ellipsis."""
    return numbers.clip(str(text), length)


@register.filter
def pretty_json(value: object) -> str:
    """Data as indented JSON, for a <pre>."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


# --- The frame --------------------------------------------------------------------------------------------------------
@register.simple_block_tag(takes_context=True)
def places(context: Context, content: str) -> SafeString:
    """The places of the project as links, of a reviewer only the review; the block's content names the current one."""
    request = context["request"]
    project, current = request.project, content.strip()
    shown = PLACES if request.role.looks_around else [place for place in PLACES if place[0] == "review"]
    links = [
        format_html('<a href="{}"{}>{}</a>', url, SafeString(' aria-current="page"') if key == current else "", title)
        for key, title, name in shown
        if (url := _address(name, project.slug))
    ]
    return SafeString("".join(links))


def _address(name: str, slug: str) -> str | None:
    try:
        return reverse(name, args=[slug])
    except NoReverseMatch:
        return None


@register.filter
def initials(name: str) -> str:
    """Up to two letters that stand for a person: "Mara Oduya" as "MO", "alice" as "A"."""
    words = [word for word in str(name).replace(".", " ").replace("@", " ").split() if word]
    return "".join(word[0].upper() for word in words[:2])
