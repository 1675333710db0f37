"""The gallery: everything that a new evaluator may begin with, in groups, and what words find in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from evaluators.core import COMPARISON
from evaluators.kinds import KINDS, Kind
from evaluators.listed import COMPARATIVE_ICON, COMPARATIVE_TITLE
from evaluators.starters import STARTERS, Starter

BLANKS: Final = "A blank"


@dataclass(frozen=True, slots=True)
class Card:
    """One beginning. `query` is what the editor's address says of it; blanks have no starter to look at before."""

    kind: Kind[Any]
    title: str
    summary: str
    group: str
    query: str = ""
    starter: Starter | None = None

    @property
    def words(self) -> str:
        """What a search looks through."""
        key = self.starter.key.replace("_", " ") if self.starter else ""
        return f"{self.title} {self.summary} {self.group} {self.kind.title} {key}".casefold()

    @property
    def icon(self) -> str:
        return COMPARATIVE_ICON if self.group == COMPARATIVE_TITLE else self.kind.icon


@dataclass(frozen=True, slots=True)
class Group:
    title: str
    cards: list[Card]


def groups(words: str = "") -> list[Group]:
    """The cards that hold every one of the words: blanks, then kind by kind, comparative ones and families apart."""
    wanted = words.casefold().split()
    found: dict[str, list[Card]] = {}
    for card in [*_blanks(), *_cards()]:
        if all(word in card.words for word in wanted):
            found.setdefault(card.group, []).append(card)
    return [Group(title, cards) for title, cards in found.items()]


def _blanks() -> Iterable[Card]:
    for kind in KINDS.values():
        yield Card(kind, kind.title, kind.summary, BLANKS)
    for kind in KINDS.values():
        if kind.can_compare:
            title = f"{COMPARATIVE_TITLE} {_inside(kind.title)}"
            summary = "The same, over two results of the same cases: which of them is better?"
            yield Card(kind, title, summary, BLANKS, f"?runs_on={COMPARISON}")


def _inside(title: str) -> str:
    """A title within another: "Heuristic" as "heuristic", "AI judge" as it is."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _cards() -> list[Card]:
    """Of every starting point, in the order of the kinds; those that compare follow the first kind's others."""
    cards = [_card(starter) for starter in STARTERS.values()]
    titles = list(dict.fromkeys(kind.title for kind in KINDS.values()))
    titles.insert(1, COMPARATIVE_TITLE)
    return sorted(cards, key=lambda card: titles.index(card.group.partition(":")[0]))


def _card(starter: Starter) -> Card:
    kind = KINDS[starter.kind]
    group = f"{kind.title}: {starter.family}" if starter.family else kind.title
    shown = COMPARATIVE_TITLE if starter.compares else group
    return Card(kind, starter.title, starter.summary, shown, f"?start={starter.key}", starter)


@dataclass(frozen=True, slots=True)
class Wants:
    """What a starting point takes to run: places of a case that it reads, and things to have."""

    reads: tuple[str, ...]
    things: list[str]


def wants(starter: Starter) -> Wants:
    kind = KINDS[starter.kind]
    config = kind.load(starter.config, kind.schema)
    needs = kind.needs(config)
    things = {
        "two results of the same cases": needs.compares,
        "a connection to a model": needs.lane == "net",
        "people who grade": needs.lane == "people",
        "a program that makes the scores": needs.lane == "outside",
    }
    return Wants(kind.paths(config) or starter.reads, [thing for thing, is_needed in things.items() if is_needed])
