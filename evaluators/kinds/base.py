"""What every kind of evaluator offers: pages, API, runs and the bench know kinds by this alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from evaluators.core import FieldError, Measure, Needs, Sample, Score
from evaluators.tools import Tools

if TYPE_CHECKING:
    from evaluators.framing import Question
    from evaluators.kinds.forms import KindForm
    from evaluators.scoring import Passing, Scoring

Stored = dict[str, Any]  # a configuration as it is stored: JSON, with every key present


class BadConfig(ValueError):
    """The stored configuration has another shape than its schema says."""


class Config(Protocol):
    """What a configuration is loaded into: frozen, hashable, and ready to evaluate."""

    @property
    def scoring(self) -> Scoring: ...

    @property
    def passing(self) -> Passing: ...


C = TypeVar("C", bound=Config)


class Kind(Protocol[C]):
    """A kind of evaluator. `key` is stored; `title`, `summary`, `icon` are shown; `schema` counts its stored shapes.

    `can_compare` tells whether its evaluators may run on a comparison of two results.
    """

    key: str
    title: str
    summary: str
    icon: str
    schema: int
    can_compare: bool

    @property
    def form(self) -> type[KindForm]:
        """The form through which page, API and command line make its configurations."""
        ...

    def blank(self) -> Stored:
        """The configuration that a new evaluator of this kind begins with; it need not pass `check`."""
        ...

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
        """A configuration of any schema ever released in the shape of the present one. Raises BadConfig."""
        ...

    def load(self, stored: Mapping[str, Any], schema: int) -> C:
        """The configuration that was stored under a schema. Raises BadConfig."""
        ...

    def needs(self, config: C) -> Needs:
        """The lane it runs in, the connection it calls, and whether it compares two results."""
        ...

    def measures(self, config: C) -> tuple[Measure, ...]:
        """What its scores measure besides their value, in the order in which it is shown."""
        ...

    def check(self, config: C) -> list[FieldError]:
        """Everything that is wrong with the configuration; empty when it may be saved."""
        ...

    def paths(self, config: C) -> tuple[str, ...]:
        """The places of a case that it is known to read."""
        ...

    def message(self, config: C, sample: Sample) -> Question | None:
        """What would be sent about this sample; None where nothing is, or the sample lacks what the prompt reads."""
        ...


class CallingKind(Kind[C], Protocol[C]):
    """A kind that waits for others: many samples are evaluated at once on an event loop. Its lane is "net"."""

    async def one(self, config: C, sample: Sample, tools: Tools) -> Score:
        """The score of one sample. Raises NotNow when the work has to stop."""
        ...


class ComputingKind(Kind[C], Protocol[C]):
    """A kind that uses the processor: prepared once, then given batches, without an event loop. Its lane is "cpu".

    A kind may be both, of which the lane of each configuration chooses one; of the lanes "people" and "outside" it is
    neither.
    """

    def prepare(self, config: C, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        """A function that gives one score for each sample, in order."""
        ...
