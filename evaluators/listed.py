"""The list of evaluators: which are chosen, in which order, and what a row says besides the evaluator itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import (
    Case,
    CharField,
    Count,
    F,
    FloatField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
)
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Cast, Coalesce, Lower, NullIf
from django.db.models.lookups import IsNull

from evalstudio.projects.models import Project, User
from evalstudio.web.pagination import Order
from evaluators.kinds import KINDS
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.models.evaluators import EvaluatorQuerySet

COMPARATIVE: Final = "comparative"  # shown and chosen like a kind, whatever the kind
COMPARATIVE_TITLE: Final = "Comparative"
COMPARATIVE_ICON: Final = "compare"
_REFERENCED: Final = Q(runs__purpose="results")  # runs over some outputs only are trials, which nobody refers to
_SHOWN_KIND: Final = Case(
    When(compares=True, then=Value(COMPARATIVE_TITLE)),
    *(When(kind=key, then=Value(kind.title)) for key, kind in KINDS.items()),
    output_field=CharField(),
)


def in_project(project: Project) -> EvaluatorQuerySet:
    """The evaluators of a project, as far as their kinds are known here."""
    return Evaluator.objects.filter(project=project, kind__in=KINDS)


def chosen(found: EvaluatorQuerySet, choice: str) -> EvaluatorQuerySet:
    """Those of one choice: a kind's that judge one result, or the comparative ones of every kind. All for any other."""
    if choice == COMPARATIVE:
        return found.filter(compares=True)
    return found.filter(kind=choice, compares=False) if choice in KINDS else found


@dataclass(frozen=True, slots=True)
class Choice:
    """A kind, or the comparative ones, with how many evaluators there are."""

    key: str
    title: str
    count: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How many evaluators a project uses, by choice, and how many are archived."""

    choices: list[Choice]
    archived: int

    @property
    def in_use(self) -> int:
        return sum(choice.count for choice in self.choices)


def counts(project: Project) -> Counts:
    """One query, whatever the number of evaluators."""
    every = in_project(project).order_by().annotate(is_used=Q(archived_at=None))
    rows = every.values_list("kind", "compares", "is_used").annotate(Count("pk"))
    found: dict[str, int] = {}
    archived = 0
    for kind, compares, is_used, n in rows:
        key = COMPARATIVE if compares else kind
        found[key] = found.get(key, 0) + (n if is_used else 0)
        archived += 0 if is_used else n
    titles = [(key, kind.title) for key, kind in KINDS.items()]
    titles.insert(1, (COMPARATIVE, COMPARATIVE_TITLE))
    return Counts([Choice(key, title, found[key]) for key, title in titles if found.get(key)], archived)


# Orders


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the list that can be sorted by: what it sorts, and whether its first press puts the most on top."""

    title: str
    by: Any
    is_nullable: bool = False
    most_first: bool = True


def _of_versions(value: Any) -> Subquery:
    """An aggregate over all versions of an evaluator."""
    versions = EvaluatorVersion.objects.filter(evaluator=OuterRef("pk")).order_by().values("evaluator")
    return Subquery(versions.annotate(value=value).values("value"))


def n_runs() -> Any:
    return Coalesce(_of_versions(Count("runs", filter=_REFERENCED)), 0)


def mean_cost_usd() -> Any:
    """What an evaluation has cost on average, over the runs whose summaries know; NULL where none does."""
    # SQLite gives the null of JSON as a text
    cost = Cast(NullIf(KeyTextTransform("mean_cost_usd", "runs__summary"), Value("null")), FloatField())
    of_state = KeyTransform("counts", "runs__summary")
    scored, unscored = (Cast(KeyTextTransform(state, of_state), FloatField()) for state in ("scored", "unscored"))
    answered = scored + unscored
    knows = _REFERENCED & Q(IsNull(cost, False))
    return _of_versions(Sum(cost * answered, filter=knows) / NullIf(Sum(answered, filter=knows), Value(0.0)))


COLUMNS: Final = {
    "name": Column("Name", lambda: Lower("name"), most_first=False),
    "kind": Column("Kind", lambda: _SHOWN_KIND, most_first=False),
    "latest": Column("Latest version", lambda: _of_versions(Max("number")), is_nullable=True),
    "runs": Column("Referenced runs", n_runs),
    "cost": Column("Mean cost", mean_cost_usd, is_nullable=True),
    "updated": Column("Last updated", lambda: F("updated_at")),
}
USUAL: Final = "-updated"


def ordered(found: QuerySet, sort: str) -> tuple[QuerySet, Order, str]:
    """What to page, in which order, and the name of that order: "name" upwards, "-name" downwards."""
    sort = sort if sort.removeprefix("-") in COLUMNS else USUAL
    name = sort.removeprefix("-")
    column = COLUMNS[name]
    if name == "updated":
        return found, Order("updated_at", sort != name), sort
    return found.alias(sorts=column.by()), Order("sorts", sort != name, column.is_nullable), sort


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: `sorted` is "ascending", "descending" or ""; `next` is what a press asks for."""

    key: str
    title: str
    sorted: str
    next: str


def heads(sort: str) -> dict[str, Head]:
    return {key: _head(key, column, sort) for key, column in COLUMNS.items()}


def _head(key: str, column: Column, sort: str) -> Head:
    state = "ascending" if sort == key else "descending" if sort == f"-{key}" else ""
    goes_down = state == "ascending" if state else column.most_first
    return Head(key, column.title, state, f"-{key}" if goes_down else key)


# Rows


@dataclass(frozen=True, slots=True)
class Listed:
    """A row: an evaluator, its latest version (None before the first), the runs that refer to it and what they cost.

    `draft` tells whether the reader keeps unsaved edits of it. `mean_cost_usd` is of one evaluation, None if unknown.
    """

    evaluator: Evaluator
    latest: EvaluatorVersion | None
    n_runs: int
    mean_cost_usd: float | None
    has_draft: bool

    @property
    def kind_title(self) -> str:
        return KINDS[self.evaluator.kind].title

    @property
    def shown_kind(self) -> str:
        return COMPARATIVE_TITLE if self.evaluator.compares else self.kind_title

    @property
    def icon(self) -> str:
        return COMPARATIVE_ICON if self.evaluator.compares else KINDS[self.evaluator.kind].icon

    @property
    def is_published(self) -> bool:
        return self.latest is not None and self.latest.pk == self.evaluator.published_version_id


def listed(evaluators: list[Evaluator], reader: User) -> Iterable[Listed]:
    """The rows with what stands in other tables: two queries for a page, however many rows it has."""
    facts = Evaluator.objects.filter(pk__in=[evaluator.pk for evaluator in evaluators]).order_by()
    facts = facts.with_latest_id().with_draft_of(reader).annotate(n=n_runs(), cost=mean_cost_usd())
    known = {pk: rest for pk, *rest in facts.values_list("pk", "latest_id", "n", "cost", "has_draft")}
    versions = EvaluatorVersion.objects.select_related("author").defer("config")
    versions = versions.annotate(model_name=KeyTextTransform("model", "config"))
    latest = versions.in_bulk([latest_id for latest_id, *_ in known.values()])
    for evaluator in evaluators:
        latest_id, *rest = known[evaluator.pk]
        yield Listed(evaluator, latest.get(latest_id), *rest)
