"""How alike an answer is to the expected one, by surface features alone: shared words, quantities, negations, refusals.

No model and no dictionary: good enough to rehearse with, not to judge with. English, German, French and Spanish.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import product

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
CLAUSE_END = re.compile(r"(?<=[.,!?:;])\s+|\s(?:and|but|und|aber|et|mais|y|pero)\s|\n+", re.IGNORECASE)
QUANTITY = re.compile(
    r"(?P<sign>[€$£])?(?P<number>\d+(?:[.,:]\d+)*)(?:[ -]?(?P<unit>[€$£%]|[^\W\d_]+))?(?:[ ](?P<noun>[^\W\d_]+))?"
)
THOUSANDS = re.compile(r"[.,](?=\d{3}(?!\d))")
STEM_LETTERS = 5
SHORTEST_STEM = 4
MOST_COMPARED = 50_000  # characters of each text
CLAUSES_COMPARED = 60  # of each text, so that long texts cost no more than their reading
OPENING_WORDS = 8  # how far into a text its yes or no is looked for
LEAST_COMMON = 3  # words that two clauses must share before they can contradict each other
ALIKE = 0.5  # share of common words above which two clauses say the same thing, or its opposite

YES_OR_NO = re.compile(r"(?P<yes>yes|sure|ja|oui|sí|si)|no|nope|nein|non|neither")
NEGATION = re.compile(
    r"\b(?:no|not|never|none|neither|nor|cannot|\w+n't|nein|nicht|keine?[nr]?|nie|non|pas|jamais|aucune?|nunca"
    r"|ningún|ninguna)\b"
)
LINKING = re.compile(r"to|and|or|at|in|of|on|for|the|is|are|per|und|bis|oder|zu|et|ou|à|de|y|o|por")
QUALIFYING = re.compile(r"full|started|working|more|other")
REFUSAL = re.compile(
    r"(cannot|can't|could not|unable to|not able to) (help|assist|answer)|not understand|as an ai\b"
    r"|contact (our|the) (customer )?support|nicht (weiter)?helfen|ne (peux|pouvons) pas (vous )?(aider|répondre)"
    r"|no (puedo|podemos) (ayudar|responder)",
    re.IGNORECASE,
)
COURTESY = re.compile(
    r"\b(sorry|afraid|thank|please|welcome|kind regards|good news|bitte|danke|gern|leider|grüße"
    r"|merci|bonjour|bonne|cordialement|gracias|saludo|suerte|lo siento|buenos|hola)\w*",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    number: str  # without thousands separators and closing zeros
    unit: str  # a sign, the first letters of a word, or empty
    phrase: str  # as it was written


@dataclass(frozen=True, slots=True)
class Likeness:
    """What a comparison of texts found. Shares are in [0, 1], and None where there was nothing to compare with."""

    words: int  # of the answer
    overlap: float | None  # share of the expected answer's words that the answer has too
    precision: float | None  # share of the answer's words that the expected answer has too
    grounded: float | None  # share of the answer's words that the expected answer or the material has too
    length_ratio: float | None  # words of the answer per word of the expected one
    conflict: str  # "30 days where 14 days is expected", or empty
    invented: str  # a quantity with a unit whose number stands nowhere else, or empty
    opposed: bool  # one says yes, or not, where the other says the opposite
    refuses: bool  # though the expected answer does not


def compare(answer: str, expected: str, material: str) -> Likeness:
    """The answer beside the expected one and the rest of the material; each of them may be empty."""
    answer, expected, material = (text[:MOST_COMPARED].replace("\u2019", "'") for text in (answer, expected, material))
    said, wanted = stems(answer), stems(expected)
    known = wanted | stems(material)
    words, expected_words = len(WORD.findall(answer)), len(WORD.findall(expected))
    return Likeness(
        words=words,
        overlap=len(said & wanted) / len(wanted) if wanted else None,
        precision=len(said & wanted) / len(said) if said and wanted else None,
        grounded=len(said & known) / len(said) if said and known else None,
        length_ratio=words / expected_words if expected_words else None,
        conflict=_conflict(_quantities(answer), _quantities(expected)),
        invented=_invented(_quantities(answer), f"{expected}\n{material}") if known else "",
        opposed=_opposed(answer, expected),
        refuses=bool(REFUSAL.search(answer)) and not REFUSAL.search(expected),
    )


def stems(text: str) -> set[str]:
    """Beginnings of the longer words, and every number: "refunded" and "refunds" meet in "refun"."""
    words = {word[:STEM_LETTERS] for word in WORD.findall(text.casefold()) if len(word) >= SHORTEST_STEM}
    return {word for word in words if not word[0].isdigit()} | {quantity.number for quantity in _quantities(text)}


def _quantities(text: str) -> list[Quantity]:
    return [_quantity(found) for found in QUANTITY.finditer(text)]


def _quantity(found: re.Match[str]) -> Quantity:
    number = THOUSANDS.sub("", found["number"]).replace(",", ".")
    if re.fullmatch(r"\d+\.\d+", number):
        number = number.rstrip("0").rstrip(".")
    unit = (found["unit"] or "").casefold()
    if found["sign"]:
        return Quantity(number, found["sign"], found["sign"] + found["number"])
    if not unit or LINKING.fullmatch(unit):
        return Quantity(number, "", found["number"])
    if QUALIFYING.fullmatch(unit) and found["noun"]:
        return Quantity(number, _unit_stem(found["noun"]), found[0])
    return Quantity(number, _unit_stem(unit), found.string[found.start() : found.end("unit")])


def _unit_stem(word: str) -> str:
    return word.casefold()[:STEM_LETTERS].rstrip("s")


def _conflict(said: list[Quantity], wanted: list[Quantity]) -> str:
    """The first quantity whose unit the expected answer uses too, when the two agree on no number of that unit."""
    ours, theirs = _by_unit(said), _by_unit(wanted)
    for unit, numbers in ours.items():
        expected = theirs.get(unit, {})
        if unit and expected and not numbers.keys() & expected.keys():
            return f"{next(iter(numbers.values()))} where {next(iter(expected.values()))} is expected"
    return ""


def _by_unit(quantities: list[Quantity]) -> dict[str, dict[str, str]]:
    """Unit to number to phrase, in the order of the text."""
    units: dict[str, dict[str, str]] = {}
    for quantity in quantities:
        units.setdefault(quantity.unit, {}).setdefault(quantity.number, quantity.phrase)
    return units


def _invented(said: list[Quantity], rest: str) -> str:
    known = {quantity.number for quantity in _quantities(rest)}
    return next((quantity.phrase for quantity in said if quantity.unit and quantity.number not in known), "")


def _opposed(answer: str, expected: str) -> bool:
    """Whether the two open with yes against no, or hold a clause that the other negates."""
    opening, expected_opening = _yes_or_no(answer), _yes_or_no(expected)
    if opening is not None and expected_opening is not None:
        return opening != expected_opening
    return any(
        negated != other_negated and _alike(stems, other_stems)
        for (stems, negated), (other_stems, other_negated) in product(_clauses(answer), _clauses(expected))
    )


def _yes_or_no(text: str) -> bool | None:
    opening = WORD.findall(text.casefold())[:OPENING_WORDS]
    return next((bool(found["yes"]) for found in map(YES_OR_NO.fullmatch, opening) if found), None)


def _clauses(text: str) -> list[tuple[set[str], bool]]:
    """The words of each clause without its negations, and whether it has one."""
    clauses = CLAUSE_END.split(text.casefold(), maxsplit=CLAUSES_COMPARED)[:CLAUSES_COMPARED]
    return [(stems(NEGATION.sub("", clause)), bool(NEGATION.search(clause))) for clause in clauses]


def _alike(one: set[str], other: set[str]) -> bool:
    common = len(one & other)
    return common >= LEAST_COMMON and common > ALIKE * len(one | other)


# What the rehearsal makes of it


def factual(likeness: Likeness) -> float:
    """How well the answer agrees with the expected one, or without one with the material."""
    if not likeness.words:
        return 0.0
    agreement = max(_agreement(likeness), 0.7 * _ramp(likeness.precision or 0.0, 0.3, 0.8))
    if likeness.refuses or likeness.opposed:
        return min(agreement, 0.15)
    if likeness.conflict:
        return agreement * 0.3
    return agreement * 0.5 if likeness.invented else agreement


def _agreement(likeness: Likeness) -> float:
    """How much of what there is to say the answer says."""
    if likeness.overlap is not None:
        return _ramp(likeness.overlap, 0.1, 0.65)
    if likeness.grounded is not None:
        return _ramp(likeness.grounded, 0.1, 0.7)
    return 0.6


def helpful(likeness: Likeness, answer: str) -> float:
    """How content the customer might be: a whole answer of fitting length, kindly put."""
    if not likeness.words:
        return 0.0
    kindness = min(1.0, 0.4 + 0.3 * len(COURTESY.findall(answer)))
    quality = 0.2 + 0.6 * _agreement(likeness) + 0.2 * kindness
    if likeness.refuses:
        return min(quality, 0.2)
    if likeness.opposed or likeness.conflict or likeness.invented:
        quality *= 0.6
    ratio = likeness.length_ratio
    return quality * (0.6 if ratio and ratio > 2.5 else 1.0)


def _ramp(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / (high - low)))


def findings(likeness: Likeness) -> str:
    """One sentence on what was looked at, without its full stop."""
    if not likeness.words:
        return "the answer is empty"
    if likeness.overlap is not None:
        found = [f"shares {likeness.overlap:.0%} of the expected answer's words".replace("%", " %")]
    elif likeness.grounded is not None:
        found = [f"shares {likeness.grounded:.0%} of its words with the case".replace("%", " %")]
    else:
        found = [f"has {likeness.words} words and nothing to compare them with"]
    if likeness.conflict:
        found.append(f"states {likeness.conflict}")
    if likeness.opposed:
        found.append("says the opposite in one place")
    if likeness.invented and not likeness.conflict:
        found.append(f"states {likeness.invented}, which stands nowhere else")
    if likeness.refuses:
        found.append("refuses")
    if likeness.length_ratio and likeness.length_ratio > 2.5:
        found.append(f"is {likeness.length_ratio:.1f} times as long")
    return "the answer " + ", ".join(found[:-1]) + (" and " if found[1:] else "") + found[-1]
