"""Figures as words: one spelling of every unit, for pages, exports and the command line."""

from datetime import UTC, datetime, timedelta

NBSP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"


def percent(share: float, digits: int = 1) -> str:
    """A share in [0, 1] as "84.2 %"."""
    return f"{share * 100:.{digits}f}{NBSP}%"


def points(difference: float, digits: int = 1) -> str:
    """A difference of shares, in [-1, 1], as signed percentage points: "+6.5 pts". A small one gets more digits, up to
    three, so that an interval that leaves zero out never seems to begin there."""
    digits = next((more for more in range(digits, 4) if round(difference * 100, more)), digits)
    value = round(difference * 100, digits) + 0.0  # + 0.0 turns a rounded -0.0 into 0.0
    sign = "+" if value > 0 else MINUS if value < 0 else ""
    return f"{sign}{abs(value):.{digits}f}{NBSP}pts"


def usd(amount: float) -> str:
    """An amount of US dollars; below one cent with two significant digits: "$0.00021", "$1.20"."""
    if amount == 0:
        return "$0"
    if abs(amount) >= 0.01:
        return f"${amount:,.2f}"
    decimals = 2
    while decimals < 9 and abs(amount) * 10**decimals < 9.95:
        decimals += 1
    return f"${amount:.{decimals}f}"


def duration(milliseconds: float) -> str:
    """A span of time: "310 ms", "1.24 s", "1 min 12 s", "3 h 5 min"."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f}{NBSP}ms"
    seconds = milliseconds / 1000
    if seconds < 59.995:
        return f"{seconds:.{2 if seconds < 10 else 1}f}{NBSP}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}{NBSP}min" + (f" {rest}{NBSP}s" if rest else "")
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NBSP}h" + (f" {minutes}{NBSP}min" if minutes else "")


def count(number: int) -> str:
    """A count with thousands separated: "1,204"."""
    return f"{number:,}"


def quantity(number: float) -> str:
    """A number of any size and of a unit of its own: "1,234.568", "12", "0.0214", "2.14e-09"."""
    if number == 0 or abs(number) >= 0.1:
        return f"{number:,.3f}".rstrip("0").rstrip(".")
    return f"{number:.3g}"


def limit(share: float) -> str:
    """A threshold in [0, 1] with all that was typed of it: "60 %", "60.5 %"."""
    return f"{quantity(share * 100)}{NBSP}%"


def moment(when: datetime) -> str:
    """A point in time as "Nov 20, 16:42 UTC"; the year only where it is not this year's."""
    when = when.astimezone(UTC)
    year = "" if when.year == datetime.now(UTC).year else f" {when.year}"
    return f"{when:%b} {when.day}{year}, {when:%H:%M} UTC"


def ago(when: datetime, now: datetime | None = None) -> str:
    """How long ago, in the largest fitting unit: "just now", "12 min ago", "3 h ago", "yesterday", then the date."""
    passed = (now or datetime.now(UTC)) - when
    if passed < timedelta(minutes=1):
        return "just now"
    if passed < timedelta(hours=1):
        return f"{passed // timedelta(minutes=1)}{NBSP}min ago"
    if passed < timedelta(days=1):
        return f"{passed // timedelta(hours=1)}{NBSP}h ago"
    if passed < timedelta(days=2):
        return "yesterday"
    return moment(when).removesuffix(" UTC")


def clip(text: str, length: int) -> str:
    """At most `length` characters of one line, cut at a word where that costs little, with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > length * 0.7 else cut).rstrip() + "…"
