"""What a gate decided, for people and for CI."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKED = re.compile(r"([\\`*_\[\]<>|#~])")


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    UNDECIDED = "undecided"  # the data cannot tell


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was decided. `judge` is the evaluator with its version; a rehearsal is no language model."""

    name: str
    judge: str
    outcome: Outcome
    sentence: str
    rehearsal: bool

    @property
    def said(self) -> str:
        return f"{self.sentence} (rehearsal, no language model)" if self.rehearsal else self.sentence


@dataclass(frozen=True, slots=True)
class Report:
    """Every check of a gate. With `strict`, what is undecided has not passed."""

    experiment: int
    baseline: int | None
    strict: bool
    checks: list[Check]

    @property
    def failed(self) -> list[Check]:
        """The checks that keep the gate shut."""
        shut = (Outcome.FAILED, Outcome.UNDECIDED) if self.strict else (Outcome.FAILED,)
        return [check for check in self.checks if check.outcome in shut]

    @property
    def passed(self) -> bool:
        return not self.failed

    @property
    def subject(self) -> str:
        against = f" against {self.baseline}" if self.baseline is not None else ""
        return f"experiment {self.experiment}{against}"

    def __str__(self) -> str:
        lines = [f"{check.outcome:<9}  {check.name}: {check.said}" for check in self.checks]
        return "\n".join([*lines, f"{'PASSED' if self.passed else 'FAILED'}: {self.subject}"])

    def markdown(self) -> str:
        """A table, as comments on a change show it."""
        rows = [
            f"| {check.outcome} | {_plain(check.name)} | {_plain(check.judge)} | {_plain(check.said)} |"
            for check in self.checks
        ]
        title = f"### EvalStudio: {'passed' if self.passed else 'failed'}, {self.subject}"
        return "\n".join([title, "", "| outcome | check | by | figure |", "| --- | --- | --- | --- |", *rows, ""])

    def junit(self) -> str:
        """JUnit XML: failed checks are failures; undecided ones are skipped, or failures of a strict gate."""
        skipped = [check for check in self.checks if check.outcome is Outcome.UNDECIDED and check not in self.failed]
        suite = _suite(len(self.checks), failures=len(self.failed), skipped=len(skipped))
        for check in self.checks:
            case = _case(suite, check.name)
            if check in self.failed:
                ElementTree.SubElement(case, "failure", message=_sound(check.said))
            elif check in skipped:
                ElementTree.SubElement(case, "skipped", message=_sound(check.said))
            else:
                ElementTree.SubElement(case, "system-out").text = _sound(check.said)
        return _xml(suite)


def junit_of_error(sentence: str) -> str:
    """JUnit XML of a gate that could not decide anything."""
    suite = _suite(1, errors=1)
    ElementTree.SubElement(_case(suite, "gate"), "error", message=_sound(sentence))
    return _xml(suite)


def _suite(tests: int, **counts: int) -> ElementTree.Element:
    figures = {name: str(counts.get(name, 0)) for name in ("failures", "errors", "skipped")}
    return ElementTree.Element("testsuite", {"name": "evalstudio-gate", "tests": str(tests), **figures})


def _case(suite: ElementTree.Element, name: str) -> ElementTree.Element:
    return ElementTree.SubElement(suite, "testcase", classname="evalstudio.gate", name=_sound(name))


def _xml(suite: ElementTree.Element) -> str:
    whole = ElementTree.Element("testsuites")
    whole.append(suite)
    ElementTree.indent(whole)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(whole, encoding="unicode")}\n'


def _sound(text: str) -> str:
    return NOT_IN_XML.sub("\ufffd", text)


def _plain(text: str) -> str:
    """Text that stays text in a Markdown table."""
    return MARKED.sub(r"\\\1", " ".join(text.split()))
