"""What the test bench shows of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalstudio.calls.replies import Reply
from evalstudio.files.pictures import Picture, picture_of, pictures_in
from evaluators import paths
from evaluators.core import FLIPPED, Measure, Sample, Score, Status
from evaluators.paths import BadPath, MissingPath
from evaluators.scoring import EnumScoring, Passing, Scoring


@dataclass(frozen=True, slots=True)
class ScoreMark:
    """One score on its scale, as positions on the track in per cent: "60.0%"."""

    at: str
    options: tuple[str, ...]
    threshold: str | None
    spoken: str

    @classmethod
    def of(cls, score: Score, scoring: Scoring, passing: Passing) -> ScoreMark | None:
        if score.status is not Status.SCORED or score.value is None:
            return None
        options = scoring.options if isinstance(scoring, EnumScoring) else ()
        steps = tuple(f"{value * 100:.1f}%" for value in sorted({option.value for option in options}))
        words = f"{score.value * 100:.0f} % on a scale of "
        words += ", ".join(f"{float(step[:-1]):g}" for step in steps) if steps else "0 to 100"
        if passing.threshold is not None:
            words += f"; passes at {passing.threshold * 100:g} or {passing.direction}"
        threshold = None if passing.threshold is None else f"{passing.threshold * 100:.1f}%"
        return cls(f"{score.value * 100:.1f}%", steps, threshold, words)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the replies behind a score took; None where nothing is known."""

    calls: int
    cached: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float | None

    @classmethod
    def on(cls, score: Score) -> Spent:
        replies = score.replies
        return cls(
            calls=sum(reply.attempts for reply in replies if not reply.from_cache),
            cached=sum(reply.from_cache for reply in replies),
            tokens_in=_total(reply.tokens_in for reply in replies),
            tokens_out=_total(reply.tokens_out for reply in replies),
            cost_usd=score.cost_usd,
            latency_ms=score.latency_ms,
        )


@dataclass(frozen=True, slots=True)
class Exchange:
    """One reply of the model and which of the askings it answers."""

    title: str
    reply: Reply


@dataclass(frozen=True, slots=True)
class Tested:
    """What the bench shows of one evaluation. `slug` is the project's, whose files the pictures may be."""

    kind: Any
    config: Any
    score: Score
    sample: Sample
    slug: str = ""
    message: Any = None  # the rendered message of a judge, with its parts
    is_rehearsal: bool = False

    @property
    def passing(self) -> Passing:
        passing: Passing = self.config.passing
        return passing

    @property
    def mark(self) -> ScoreMark | None:
        return ScoreMark.of(self.score, self.config.scoring, self.passing)

    @property
    def spent(self) -> Spent:
        return Spent.on(self.score)

    @property
    def replies(self) -> tuple[Reply, ...]:
        return self.score.replies

    @property
    def awaits_people(self) -> bool:
        return self.score.status is Status.AWAITING

    @property
    def flipped(self) -> bool | None:
        """Whether the two orders of a comparison gave another winner; None where only one was asked."""
        found = self.score.measures.get(FLIPPED.name)
        return None if found is None else bool(found)

    @property
    def measures(self) -> list[tuple[Measure, float]]:
        """What was measured besides the score."""
        named = self.kind.measures(self.config)
        return [(each, self.score.measures[each.name]) for each in named if _is_shown(each, self.score.measures)]

    @property
    def exchanges(self) -> list[Exchange]:
        """The replies in the order in which they came; a reply that could be read ends an asking."""
        found: list[Exchange] = []
        in_both = self.message is not None and self.message.exchanged
        order = again = 0
        for reply in self.score.replies:
            first = ("In the order given", "Outputs exchanged")[order] if in_both else "First reply"
            found.append(Exchange(f"Asked again, {again + 1}" if again else first, reply))
            order, again = (1, 0) if reply.reusable else (order, again + 1)
        return found

    @property
    def parts(self) -> list[tuple[str, Any, str]]:
        return pieces_of(self.message)

    @property
    def exchanged_parts(self) -> list[tuple[str, Any, str]]:
        return pieces_of(self.message.exchanged) if self.message.exchanged else []

    @property
    def read(self) -> list[tuple[str, str | None]]:
        """Each place that a kind without a message reads, with what stands there; None where the case has nothing."""
        if self.message is not None:
            return []
        return [(path, _text_at(self.sample, path)) for path in self.kind.paths(self.config)]

    @property
    def shown_images(self) -> list[Picture]:
        """The pictures that the model is shown, as far as a page can show them."""
        images = self.message.images if self.message is not None else ()
        found = (picture_of(_address(image.value), self.slug, image.path) for image in images)
        return [picture for picture in found if picture]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures of the sample."""
        return pictures_in({name: part for name, part in self.sample.roots().items() if part is not None}, self.slug)


def pieces_of(message: Any) -> list[tuple[str, Any, str]]:
    """The pieces of a message: the name of where each comes from, the piece, and its text without blank edges."""
    pieces = [(part.title, part, part.text.strip("\r\n")) for part in message.parts]
    return [piece for piece in pieces if piece[2].strip() or piece[1].path]


def _is_shown(measure: Measure, measured: Mapping[str, float]) -> bool:
    return measure.name in measured and measure != FLIPPED


def _text_at(sample: Sample, path: str) -> str | None:
    try:
        value = paths.resolve(sample.roots(), path)
    except (MissingPath, BadPath):
        return None
    return paths.preview(value)


def _address(value: Any) -> Any:
    return value["url"] if isinstance(value, dict) and "url" in value else value


def _total(numbers: Any) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
