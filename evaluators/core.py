"""The words every evaluator speaks: what it sees (Sample), says (Score) and needs (Needs). No Django here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import Any, Literal

from evalstudio.calls.replies import Reply

Lane = Literal["net", "cpu", "people", "outside"]  # who judges: models, the processor, people, another program
Direction = Literal["higher", "lower"]

# What a version runs on.
RESULT = "result"  # one output
COMPARISON = "comparison"  # two outputs of one case, a baseline and the one it is compared with


class Status(IntEnum):
    """The outcomes of a Score. A stored evaluation is PENDING until it has one."""

    PENDING = 0
    AWAITING = 1
    SCORED = 2
    UNSCORED = 3
    FAILED = 4


class Why(StrEnum):
    """Why there is no score. The first group leaves a row unscored, the second failed."""

    MISSING = "missing"  # the case lacks a path that the evaluator reads
    UNPARSED = "unparsed"  # the reply holds no verdict, or several
    OFF_SCALE = "off scale"  # a label or number outside the scoring
    REFUSED = "refused"  # the model declined to judge
    CANNOT_JUDGE = "cannot judge"  # nobody who was asked could

    TEMPLATE = "template"  # the prompt broke while it was rendered
    THROWN = "thrown"  # the code threw an error
    PROCESSOR = "processor"  # the project's processor failed on the output, which the evaluator reads through it
    TIME = "time limit"
    MEMORY = "memory limit"
    OUTPUT = "output limit"
    UNREACHABLE = "unreachable"
    WRONG_KEY = "wrong key"
    REJECTED = "rejected"  # the endpoint will not take this request
    ENDPOINT = "endpoint"  # the endpoint kept failing
    ENDED_WORKER = "ended worker"  # the row ended the process that evaluated it, again and again
    BROKEN = "broken"  # an error of EvalStudio's own


@dataclass(frozen=True, slots=True)
class Comparand:
    """The second output of a comparison, as `comparison` in prompts and heuristics."""

    outputs: Any = None
    steps: Any = None
    processed: Any = None

    def roots(self) -> dict[str, Any]:
        """Its parts by name; `processed` only where there is something."""
        made = {} if self.processed is None else {"processed": self.processed}
        return {"outputs": self.outputs, "steps": self.steps, **made}


@dataclass(frozen=True, slots=True)
class Sample:
    """A case with its output, as an evaluator sees it: plain data without ids, so it cannot know where it runs.

    In a comparison `outputs`, `steps` and `processed` are the baseline's, and `comparison` holds those of the compared
    result. `processed` is what the project's processor made of the output, for evaluators that read it.
    """

    inputs: Any = None
    expected_outputs: Any = None
    outputs: Any = None
    steps: Any = None
    metadata: Any = None
    comparison: Comparand | None = None
    processed: Any = None
    repeat: int = 0  # which of several askings of the same question this is

    def exchanged(self) -> Sample:
        """The same case with its two outputs in each other's place."""
        assert self.comparison is not None
        other = self.comparison
        swapped = Comparand(self.outputs, self.steps, self.processed)
        return replace(self, outputs=other.outputs, steps=other.steps, processed=other.processed, comparison=swapped)

    def roots(self) -> dict[str, Any]:
        """The sample under the names that prompts, paths and heuristics use."""
        return {
            "inputs": self.inputs,
            "expectedOutputs": self.expected_outputs,
            "outputs": self.outputs,
            "steps": self.steps,
            "metadata": self.metadata,
            "processed": self.processed,
            "comparison": self.comparison and self.comparison.roots(),
        }


PARTS = ("inputs", "expectedOutputs", "outputs", "steps", "metadata", "comparison")  # of a sample as it is given
PROCESSED = "processed"  # is made of them
ROOTS = (*PARTS[:-1], PROCESSED, PARTS[-1])


@dataclass(frozen=True, slots=True)
class Score:
    """What an evaluator says about one sample.

    `value` is in [0, 1] for enum and percentage scorings. `reason` is the judge's justification of a scored sample and
    otherwise the sentence that says what went wrong. `replies` are the model replies behind it, the last one decisive.
    `expected` is the label that a classification should have given, `label_scores` the number that the output gave each
    label. A comparison's `value` is 0 where the baseline is
    better, 1 where the compared output is, 0.5 where they are equal.
    """

    status: Status
    value: float | None = None
    label: str | None = None
    expected: str | None = None
    passed: bool | None = None
    why: Why | None = None
    reason: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)
    label_scores: Mapping[str, float] = field(default_factory=dict)
    replies: tuple[Reply, ...] = ()
    logs: tuple[str, ...] = ()
    latency_ms: float | None = None

    @classmethod
    def unscored(cls, why: Why, reason: str, **more: Any) -> Score:
        return cls(Status.UNSCORED, why=why, reason=reason, **more)

    @classmethod
    def failed(cls, why: Why, reason: str, **more: Any) -> Score:
        return cls(Status.FAILED, why=why, reason=reason, **more)

    @property
    def cost_usd(self) -> float | None:
        """What the replies cost when they were made, or None when no price is known."""
        costs = [reply.cost_usd for reply in self.replies if reply.cost_usd is not None]
        return sum(costs) if costs else None


@dataclass(frozen=True, slots=True)
class Measure:
    """One number that an evaluator gives besides its value: a key of `Score.measures`.

    `unit` is "share" for numbers in [0, 1], otherwise what is counted. Without a direction neither end is better.
    """

    name: str
    title: str
    direction: Direction | None = None
    threshold: float | None = None
    unit: str = "share"


# Of judges that are asked in both orders.
FLIPPED = Measure("flipped", "Orders disagree", "lower")  # 0 or 1
AS_GIVEN = Measure("as_given", "Wins in the order given")  # the value before the exchange alone


@dataclass(frozen=True, slots=True)
class Needs:
    """What a configuration needs to run: its lane, the connection (by id) that it calls if any, and two outputs or one.

    `calls` is the number of requests that one sample takes when nothing goes wrong.
    """

    lane: Lane
    connection_id: int | None = None
    compares: bool = False
    calls: int = 1

    @property
    def is_judged_here(self) -> bool:
        """Whether workers judge; otherwise rows await people, or scores that another program makes."""
        return self.lane in ("net", "cpu")


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field of a configuration.

    `line` counts from 1. `suggestion` is the nearest right word, to be put in the place of `found`, the word as typed.
    A field of a repeated row carries the row's index, from 0: "option_percentage.2".
    """

    field: str
    message: str
    line: int | None = None
    suggestion: str | None = None
    found: str | None = None
