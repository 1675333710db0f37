"""What an import does to a dataset, in numbers and in sentences: foretold before the button, reported afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evalstudio.web.numbers import count
from experiments.models import Import


@dataclass(frozen=True, slots=True)
class Effect:
    """`version` is the number that the dataset has afterwards, 0 where it still has none.

    `outputs` are those of a new experiment, `outputs_unchanged` those that an earlier experiment has already.
    """

    dataset: str
    version: int
    system: str = ""
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    outputs: int = 0
    outputs_unchanged: int = 0
    bad: int = 0

    @classmethod
    def of(cls, job: Import) -> Effect:
        """The effect of an import that is done."""
        names = ("added", "changed", "unchanged", "outputs_unchanged", "bad")
        figures = {name: job.counts.get(name, 0) for name in names}
        figures["outputs"] = job.counts.get("with_output", 0)
        version = job.version_number or (job.dataset.latest_version if job.dataset else 0)
        return cls(job.options["dataset"], version, job.options.get("system", ""), **figures)

    @property
    def accepted_nothing(self) -> bool:
        return not (self.added or self.changed or self.unchanged)


FUTURE = {
    "add": "Adds",
    "change": "Changes",
    "make": "Makes",
    "stay": "stay",
    "same": "Nothing changes",
    "none": "Nothing goes",
    "fail": "cannot go in",
}
PAST = {
    "add": "Added",
    "change": "Changed",
    "make": "Made",
    "stay": "stayed",
    "same": "Nothing changed",
    "none": "Nothing went",
    "fail": "did not go in",
}


def foretold(effect: Effect) -> list[str]:
    return _sentences(effect, FUTURE)


def reported(effect: Effect) -> list[str]:
    return _sentences(effect, PAST)


def _sentences(effect: Effect, verbs: Mapping[str, str]) -> list[str]:
    return [sentence for sentence in (_cases(effect, verbs), _outputs(effect, verbs), _bad(effect, verbs)) if sentence]


def _cases(effect: Effect, verbs: Mapping[str, str]) -> str:
    place, version = f"“{effect.dataset}”", f"version {effect.version}"
    if effect.added and effect.changed:
        change = verbs["change"].lower()
        return (
            f"{verbs['add']} {_n(effect.added, 'case')} and {change} {count(effect.changed)} in {place}, as {version}."
        )
    if effect.added:
        return f"{verbs['add']} {_n(effect.added, 'case')} to {place} as {version}."
    if effect.changed:
        return f"{verbs['change']} {_n(effect.changed, 'case')} in {place}, as {version}."
    if effect.outputs:
        return f"The cases of {place} {verbs['stay']} as they are in {version}."
    if effect.unchanged:
        return f"{verbs['same']}: {version} of {place} has all of this already."
    return f"{verbs['none']} into {place}."


def _outputs(effect: Effect, verbs: Mapping[str, str]) -> str:
    system = f"“{effect.system}”" if effect.system else "a system that has no name yet"
    if effect.outputs:
        return f"{verbs['make']} an experiment of {system} with {_n(effect.outputs, 'output')}."
    if effect.outputs_unchanged:
        same = _n(effect.outputs_unchanged, "output")
        return f"An experiment of {system} has the same {same}, so it needs no new one."
    return ""


def _bad(effect: Effect, verbs: Mapping[str, str]) -> str:
    return f"{_n(effect.bad, 'row')} {verbs['fail']}." if effect.bad else ""


def _n(number: int, noun: str) -> str:
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"
