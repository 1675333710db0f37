"""A prompt before it is run: what is sent about one case, what one model answers to it, and what all would take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evalstudio.calls.replies import NotNow
from evaluators.core import Sample, Score, Status
from evaluators.paths import MissingPath, existing_paths
from evaluators.prompts import Part, PromptError, RenderError
from experiments.ledger.asked import Asked, Take
from experiments.ledger.cases import asked_of
from experiments.models import CaseSpan, DatasetVersion
from experiments.outputs.answering import Answer, try_now
from experiments.outputs.prompting import Recipe, Texts

LIMIT_S = 30.0


@dataclass
class Preview:
    """One case of a version under a prompt. `place` counts from 1; `wrong` says why there is no message."""

    version: DatasetVersion
    place: int
    span: CaseSpan
    messages: list[tuple[str, list[tuple[str, Part, str]]]] = field(default_factory=list)
    wrong: str = ""
    recipe: Recipe | None = None  # that was tried
    score: Score | None = None
    not_now: str = ""

    @property
    def answer(self) -> Answer | None:
        return self.score if isinstance(self.score, Answer) else None

    @property
    def has_failed(self) -> bool:
        return self.score is not None and self.score.status is not Status.SCORED

    @property
    def sample(self) -> Sample:
        return Sample(inputs=self.span.case.inputs, metadata=self.span.case.metadata)

    @property
    def paths(self) -> list[dict[str, str]]:
        """What a prompt may read of this case, each with a preview."""
        roots = {"inputs": self.sample.inputs, "metadata": self.sample.metadata}
        return [{"path": path, "preview": shown} for path, shown in existing_paths(roots)]


def preview_of(version: DatasetVersion, place: int, texts: Texts) -> Preview | None:
    """The case at a place of a version with the messages about it; None where there is no case."""
    place = min(max(place, 1), version.n_cases)
    spans = asked_of(version).select_related("case").order_by("position", "pk")
    span = spans[place - 1 : place].first()
    if span is None:
        return None
    preview = Preview(version, place, span)
    try:
        preview.messages = [(role, _pieces(parts)) for role, parts in texts.rendered(preview.sample)]
    except MissingPath as missing:
        preview.wrong = texts.lacks(missing)
    except PromptError:
        preview.wrong = "The prompt cannot be sent yet: what is wrong stands beside it."
    except RenderError as error:
        preview.wrong = str(error)
    return preview


def try_out(preview: Preview, recipe: Recipe) -> None:
    """Ask about the case of a preview, which then holds what came of it."""
    preview.recipe = recipe
    try:
        preview.score = try_now(recipe, preview.sample, LIMIT_S)
    except NotNow as reason:
        preview.not_now = str(reason)


def cases_asked(version: DatasetVersion, asked: Asked, splits: dict[str, int]) -> int:
    """How many cases would be asked."""
    if asked.take == Take.SPLIT:
        return splits.get(asked.split, 0)
    return min(asked.n, version.n_cases) if asked.take else version.n_cases


def _pieces(parts: tuple[Part, ...]) -> list[tuple[str, Any, str]]:
    pieces = [(part.title, part, part.text.strip("\r\n")) for part in parts]
    return [piece for piece in pieces if piece[2].strip() or piece[1].path]
