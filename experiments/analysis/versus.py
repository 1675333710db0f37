"""Who won: what the scores of a comparison count, 1 for the compared result, 0 for its baseline, 0.5 for a tie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from evalstudio.web.numbers import NBSP, count, percent
from evaluators.stats.estimate import Estimate

EVEN = 0.5
SINGLE = {"wins": "win", "ties": "tie", "losses": "loss"}


class Part(NamedTuple):
    """One part of the bar of outcomes: how many cases, as a share in [0, 1], and its place in per cent of the width."""

    name: str
    cases: int
    share: float
    x: str
    width: str

    @property
    def words(self) -> str:
        """ "1 win", "1,204 ties"."""
        return f"{count(self.cases)} {self.name if self.cases != 1 else SINGLE[self.name]}"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How many cases the compared result won, tied and lost."""

    wins: int
    ties: int
    losses: int

    @property
    def parts(self) -> list[Part]:
        """Wins, ties and losses from left to right; empty before the first case is scored."""
        total, at, found = self.wins + self.ties + self.losses, 0.0, []
        for name, cases in (("wins", self.wins), ("ties", self.ties), ("losses", self.losses)):
            if total:
                share = cases / total
                found.append(Part(name, cases, share, f"{at * 100:.2f}%", f"{share * 100:.2f}%"))
                at += share
        return found


def verdict(figure: Estimate) -> str:
    """ "better" or "worse" for the compared result where the interval of its wins proves it, else "same"."""
    if figure.low is not None and figure.low > EVEN:
        return "better"
    return "worse" if figure.high is not None and figure.high < EVEN else "same"


def exactly(figure: Estimate) -> str:
    """Wins to three digits, as they are published: "17.188 % (15.000 to 19.621), standard error 1.175 points"."""
    if figure.value is None or figure.low is None or figure.high is None:
        return figure.refused or ""
    words = f"{percent(figure.value, 3)} ({figure.low * 100:.3f} to {figure.high * 100:.3f})"
    if figure.standard_error is None:
        return words
    return f"{words}, standard error {figure.standard_error * 100:.3f}{NBSP}points"


def winner(score: float | None) -> str | None:
    """Who won one case: "the compared", "the baseline" or "a tie"; None without a score."""
    if score is None or score == EVEN:
        return None if score is None else "a tie"
    return "the compared" if score > EVEN else "the baseline"
