"""The leaderboard of a data set: systems × evaluators, one version of each, with places as far as they can be told."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Exists, Max, OuterRef, Q
from django.http import QueryDict

from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in
from evaluators.models import EvaluatorVersion
from experiments.analysis.columns import columns
from experiments.analysis.leaderboard_columns import Judged, Place, filled, is_clustered, judged_by, question_about
from experiments.analysis.leaderboard_facts import slices_question, spending_of
from experiments.analysis.pairing import names_of_each
from experiments.analysis.slicing import EVERY_CASE, Slice
from experiments.analysis.standing import ENOUGH_COVERAGE
from experiments.analysis.working_out import answers
from experiments.models import Dataset, Experiment, Purpose, Run

MOST_SYSTEMS = 60
SORTS = ("", "system", "latency", "cost")  # "" by the place in the ranking
CHOSEN_FROM = 200  # the newest experiments of a data set, among which one may choose


@dataclass(frozen=True, slots=True)
class Wish:
    """What an address asks for. `by` and `also` name columns: a version's id, and a measure's name behind a colon."""

    dataset: int | None = None
    experiments: tuple[int, ...] = ()
    versions: tuple[int, ...] = ()
    by: str = ""
    also: tuple[str, ...] = ()
    sort: str = ""
    turned: bool = False  # the worst first
    slice: Slice = EVERY_CASE

    @classmethod
    def of(cls, query: QueryDict) -> Wish:
        """Read an address; what it says that does not exist falls back to the default later on."""
        sort = query.get("sort", "")
        return cls(
            id_in(query.get("dataset", "")),
            tuple(filter(None, map(id_in, query.getlist("result")[:MOST_SYSTEMS]))),
            tuple(filter(None, map(id_in, query.getlist("version")[:100]))),
            query.get("by", "")[:120],
            tuple(query.getlist("also")[:20]),
            sort if sort in SORTS else "",
            query.get("turned") == "1",
            Slice.of(query),
        )


@dataclass(frozen=True)
class Entrant:
    """One system's result. `outputs` may be empty, while its costs are being worked out."""

    experiment: Experiment
    outputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def pk(self) -> int:
        return self.experiment.pk

    @cached_property
    def url(self) -> str:
        return self.experiment.get_absolute_url()

    @property
    def missing(self) -> int:
        """How many cases of its data set it did not answer, where those are many."""
        answered = self.outputs.get("cases")
        cases = self.experiment.dataset_version.n_cases
        return 0 if answered is None or answered >= ENOUGH_COVERAGE * cases else cases - answered

    @property
    def latency_ms(self) -> float | None:
        return self.outputs.get("latency_ms")

    @property
    def cost_usd(self) -> float | None:
        """The mean of an answer."""
        return self.outputs.get("cost_usd")

    @property
    def per_thousand_usd(self) -> float | None:
        return None if self.cost_usd is None else self.cost_usd * 1000


@dataclass(frozen=True)
class Board:
    """All that the page, the file and the API tell. `is_waiting` while a part of it is being worked out."""

    wish: Wish
    dataset: Dataset | None = None
    entrants: list[Entrant] = field(default_factory=list)
    columns: list[Judged] = field(default_factory=list)
    ranked: Judged | None = None
    slices: Mapping[str, Any] = field(default_factory=dict)
    unjudged_systems: int = 0
    is_waiting: bool = False

    @cached_property
    def names(self) -> dict[int, str]:
        """What sentences call the systems, by experiment."""
        return names_of_each(entrant.experiment for entrant in self.entrants)

    @property
    def pairs(self) -> int:
        """How many tests the places rest on."""
        return self.ranked.answer["pairs"] if self.ranked and self.ranked.answer else 0

    @property
    def is_going(self) -> bool:
        """Whether any figure may change by itself."""
        return any(not column.is_settled for column in self.columns)

    def place_of(self, entrant: Entrant) -> Place | None:
        """None while places are being worked out."""
        return self.ranked.place_of(entrant.pk) if self.ranked else Place(untold="Nobody is judged yet.")

    @cached_property
    def rows(self) -> list[Entrant]:
        """The systems in the order that was asked for; those without what they are sorted by come last."""
        by = {
            "": self._by_place,
            "system": lambda entrant: (False, entrant.experiment.system.name),
            "latency": lambda entrant: (entrant.latency_ms is None, entrant.latency_ms or 0),
            "cost": lambda entrant: (entrant.cost_usd is None, entrant.cost_usd or 0),
        }[self.wish.sort]
        last = [entrant for entrant in self.entrants if by(entrant)[0]]
        told = sorted((each for each in self.entrants if each not in last), key=by, reverse=self.wish.turned)
        return told + sorted(last, key=by)

    def _by_place(self, entrant: Entrant) -> tuple[Any, ...]:
        cell = self.ranked.cells.get(entrant.pk) if self.ranked else None
        figure = cell.figure.value if cell and cell.figure else None
        place = self.place_of(entrant)
        sign = -1 if self.ranked and self.ranked.direction == "higher" else 1
        is_untold = place is not None and place.low is None
        stands = (place.low, place.high) if place else ()
        return (is_untold, figure is None, stands if not is_untold else (), sign * (figure or 0), entrant.pk)


def datasets_of(project: Project) -> list[Dataset]:
    """The data sets that have experiments, the one with the newest first."""
    arrived = Q(versions__experiment__is_arriving=False)
    found = Dataset.objects.filter(project=project).annotate(newest=Max("versions__experiment", filter=arrived))
    datasets: list[Dataset] = list(found.filter(newest__isnull=False).order_by("-newest"))
    for each in datasets:
        each.project = project
    return datasets


def board_of(project: Project, wish: Wish, datasets: Sequence[Dataset]) -> Board:
    """The leaderboard that is asked for. At most nine queries where everything is kept."""
    dataset = next((each for each in datasets if each.pk == wish.dataset), datasets[0] if datasets else None)
    if dataset is None:
        return Board(wish)
    experiments, unjudged = _experiments(dataset, wish)
    runs = _runs(experiments)
    judged = judged_by(columns(runs) if runs else [], experiments, wish.versions, wish.also)
    by = next((each for each in judged if each.key == wish.by), judged[0] if judged else None)
    needed = [each for each in judged if each is by or wish.slice or is_clustered(each)]
    questions = {each.key: asked for each in needed if (asked := question_about(each, wish.slice))}
    spent = spending_of(experiments)
    newest = max((each.dataset_version for each in experiments), key=lambda version: version.number, default=None)
    slicing = [slices_question(newest)] if newest else []
    to_ask = [*questions.values(), *spent.values(), *slicing]
    known = answers(project.pk, to_ask)
    shown = [
        filled(each, known.get(questions[each.key]) if each.key in questions else None, wish.slice) for each in judged
    ]
    return Board(
        wish,
        dataset,
        [Entrant(each, known.get(spent[each.pk], {})) for each in experiments],
        shown,
        next((each for each in shown if by and each.key == by.key), None),
        known.get(slicing[0], {}) if slicing else {},
        unjudged,
        is_waiting=len(known) < len(to_ask),
    )


def results_of(dataset: Dataset) -> list[Experiment]:
    """The newest results of a data set, among which one may choose."""
    found = Experiment.objects.filter(_has_results(), dataset_version__dataset=dataset)
    return list(found.select_related("system", "dataset_version__dataset", "project").order_by("-pk")[:CHOSEN_FROM])


def _has_results() -> Exists:
    return Exists(
        Run.objects.filter(experiment=OuterRef("pk"), is_current=True, purpose=Purpose.RESULTS, baseline=None)
    )


def _experiments(dataset: Dataset, wish: Wish) -> tuple[list[Experiment], int]:
    """Those that were asked for, or the newest of each system that is judged; and how many systems have none."""
    of_dataset = Experiment.objects.filter(dataset_version__dataset=dataset)
    if wish.experiments:
        ids, unjudged = list(wish.experiments), 0
    else:
        judged: dict[int, int] = {}
        systems = set()
        newest = of_dataset.annotate(judged=_has_results()).order_by("-pk").values_list("pk", "system", "judged")
        for pk, system, is_judged in newest[:5000]:
            systems.add(system)
            if is_judged:
                judged.setdefault(system, pk)
        ids, unjudged = list(judged.values())[:MOST_SYSTEMS], len(systems) - len(judged)
    found = of_dataset.filter(pk__in=ids).select_related("system", "dataset_version").order_by("system__name", "-pk")
    for each in found:  # one object each, however many share it
        each.dataset_version.dataset, each.project = dataset, dataset.project
    return list(found), unjudged


def _runs(experiments: Iterable[Experiment]) -> list[Run]:
    by_id = {each.pk: each for each in experiments}
    runs = Run.objects.filter(experiment__in=by_id, is_current=True, purpose=Purpose.RESULTS, baseline=None)
    found = list(runs.select_related("connection").order_by("version__evaluator", "version__number", "pk"))
    versions = EvaluatorVersion.objects.select_related("evaluator__project", "publication")
    known = versions.in_bulk({run.version_id for run in found})
    for run in found:  # one object each, so that what is read of a version is read once
        run.version, run.experiment = known[run.version_id], by_id[run.experiment_id]
    return found
