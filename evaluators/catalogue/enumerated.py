"""The enumerated family of the catalogue: judges that choose one of a few options, each worth a fixed score.

An entry's prompt is the file of its key in `prompts/`. The section "How to reason", the last, is its reasoning guide.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from evaluators.core import COMPARISON, RESULT
from evaluators.scoring import EnumScoring, Option

PROMPTS = Path(__file__).with_name("prompts")
GUIDE = "\n# How to reason\n"


@dataclass(frozen=True)
class Enumerated:
    """An entry. Without a threshold nothing passes or fails."""

    key: str
    title: str
    summary: str
    options: tuple[Option, ...]
    threshold: float | None = 0.5
    compares: bool = False

    @cached_property
    def prompt_and_guide(self) -> tuple[str, str]:
        prompt, _, guide = (PROMPTS / f"{self.key}.md").read_text(encoding="utf-8").partition(GUIDE)
        return prompt.rstrip() + "\n", guide.rstrip() + "\n"

    def settings(self) -> dict[str, Any]:
        """What it says of a judge's configuration; the rest, and the model, are for people to choose."""
        prompt, guide = self.prompt_and_guide
        return {
            "prompt": prompt,
            "guide": guide,
            "scoring": EnumScoring(self.options).stored(),
            "threshold": self.threshold,
            "direction": "higher",
            "runs_on": COMPARISON if self.compares else RESULT,
        }


ENUMERATED: Final = (
    Enumerated(
        "factual_consistency",
        "Factual consistency",
        "Do the facts of the answer agree with those of the expected answer? Style does not count.",
        (
            Option("A", 40, "Leaves facts out; what it claims agrees"),
            Option("B", 60, "Adds facts; nothing contradicts"),
            Option("C", 100, "The same facts"),
            Option("D", 0, "Contradicts the expected answer"),
            Option("E", 100, "Differs in nothing that matters for the facts"),
        ),
    ),
    Enumerated(
        "company_safety_policy",
        "Company safety policy",
        "Does the output keep to the rules of your company? Put your own policy into the prompt.",
        (
            Option("A", 100, "Keeps to the policy"),
            Option("B", 50, "Comes close to breaking it"),
            Option("C", 0, "Breaks the policy"),
        ),
    ),
    Enumerated(
        "sentiment",
        "Sentiment",
        "Is the attitude of the output positive, neutral or negative?",
        (Option("A", 100, "Positive"), Option("B", 50, "Neutral"), Option("C", 0, "Negative")),
    ),
    Enumerated(
        "grammar",
        "Grammar",
        "Is the output free of mistakes in grammar and spelling, in whatever language it is?",
        (
            Option("A", 100, "No mistakes"),
            Option("B", 75, "Minor spelling mistakes"),
            Option("C", 75, "Minor mistakes of grammar"),
            Option("D", 50, "Minor mistakes of both kinds"),
            Option("E", 0, "Serious mistakes"),
        ),
    ),
    Enumerated(
        "logical_consistency",
        "Logical consistency",
        "Can everything the output says be true together, and do its conclusions follow?",
        (
            Option("A", 100, "Consistent"),
            Option("B", 50, "Slightly inconsistent"),
            Option("C", 0, "Contradicts itself"),
        ),
    ),
    Enumerated(
        "accuracy_label",
        "Accuracy",
        "How closely does the output match the expected one: HIGH, MEDIUM or LOW?",
        (
            Option("HIGH", 100, "Could take the place of the expected output"),
            Option("MEDIUM", 50, "Gives its core, with differences"),
            Option("LOW", 0, "Misses its core or contradicts it"),
        ),
    ),
    Enumerated(
        "user_satisfaction",
        "User satisfaction",
        "Would the person who asked have what they need after reading the answer?",
        (
            Option("SATISFIED", 100, "Has what they need"),
            Option("UNSATISFIED", 0, "Has to ask again"),
        ),
    ),
    Enumerated(
        "comparative_judge",
        "Pairwise preference",
        "Which of two answers to the same request serves the person better? Asked in both orders.",
        (
            Option("A", 100, "The second answer, the compared one, is better"),
            Option("B", 0, "The first answer, the baseline, is better"),
            Option("C", 50, "Both are about equally good"),
        ),
        threshold=None,
        compares=True,
    ),
)
