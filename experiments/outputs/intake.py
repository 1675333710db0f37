"""Outputs that a pipeline sends as it produces them: an experiment is opened, appended to in batches, and closed.

Everything here may be sent again after a lost answer: the same outputs change nothing, and what was accepted stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evalstudio.projects.models import Project, User
from evalstudio.web.foreign import holds_endless
from experiments.datasets.contents import BadContent, digest_of
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue, shown
from experiments.models import CaseSpan, DatasetVersion, Experiment, Output, OutputBody, Source, System
from experiments.outputs.judging import Judge, always_in, begin_judging
from experiments.outputs.keys import KeyInUse

MOST_ROWS = 1_000  # of one batch
FIGURES = ("error", "latency_ms", "cost_usd", "tokens_in", "tokens_out")
BLANKS = {"error": ""}
NAMES = frozenset(("case", "attempt", "outputs", "steps", *FIGURES))
MOST_ATTEMPTS = 1_000


class IsClosed(Exception):
    """The experiment takes no more outputs."""


@dataclass(frozen=True, slots=True)
class Fault:
    """An output that was not accepted: its place in the batch, its case's key as sent, and why."""

    place: int
    case: str
    reason: str


@dataclass(slots=True)
class Taken:
    """What became of a batch. `unchanged` outputs were there already, word for word."""

    accepted: int = 0
    unchanged: int = 0
    faults: list[Fault] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Draft:
    place: int
    key: str
    attempt: int
    digest: str
    outputs: dict[str, Any] | None
    steps: list[Any] | None
    figures: dict[str, Any]


class _Wrong(ValueError):
    """What is wrong with one row, as a sentence."""


def open_experiment(
    project: Project,
    author: User | None,
    *,
    system: str,
    version: DatasetVersion,
    client_key: str | None,
    judges: Sequence[Judge] | None = None,
    is_pinned: bool = False,
) -> tuple[Experiment, bool]:
    """An open experiment and whether it is new; the one that the client's key stands for, if there is one.

    `judges` judge outputs as they arrive; None leaves that to those that the project always runs, which begin with a
    new experiment alone. Unless the version `is_pinned`, a key may stand for an experiment over an earlier one. Raises
    CannotStart and KeyInUse, and then opens nothing.
    """
    with transaction.atomic():
        experiment, is_new = _opened(project, author, system, version, client_key)
        if not is_new and not _is_of(experiment, system, version, is_pinned):
            raise KeyInUse(experiment)
        if is_new:
            begin_judging(experiment, always_in(project) if judges is None else judges, author)
    if not is_new:
        begin_judging(experiment, judges or (), author)
    return experiment, is_new


def _opened(
    project: Project, author: User | None, system: str, version: DatasetVersion, client_key: str | None
) -> tuple[Experiment, bool]:
    made, _ = System.objects.get_or_create(project=project, name=system)
    new = {"system": made, "dataset_version": version, "source": Source.API, "is_open": True, "author": author}
    if client_key is None:
        return Experiment.objects.create(project=project, **new), True
    return Experiment.objects.get_or_create(project=project, client_key=client_key, defaults=new)


def _is_of(experiment: Experiment, system: str, version: DatasetVersion, is_pinned: bool) -> bool:
    over = experiment.dataset_version
    is_over = over == version if is_pinned else over.dataset_id == version.dataset_id
    return is_over and experiment.source == Source.API and experiment.system.name == system


def append(experiment: Experiment, rows: Sequence[Any]) -> Taken:
    """Store the outputs of a batch, at most MOST_ROWS, in one transaction. Raises IsClosed."""
    taken, drafts = Taken(), []
    for place, row in enumerate(rows):
        try:
            drafts.append(_read(place, row))
        except (_Wrong, BadValue, BadContent) as error:
            taken.faults.append(Fault(place, _key_of(row), _sentence(error)))
    with transaction.atomic():
        open_ones = Experiment.objects.exclude(source=Source.PROMPT).filter(pk=experiment.pk, is_open=True)
        if not open_ones.select_for_update().exists():
            raise IsClosed
        fresh = _fresh(experiment, drafts, taken)
        _store(experiment, fresh)
    taken.accepted = len(fresh)
    taken.faults.sort(key=lambda fault: fault.place)
    return taken


def close(experiment: Experiment) -> None:
    """Take no more outputs. Safe to repeat. What is answered here closes by itself."""
    Experiment.objects.exclude(source=Source.PROMPT).filter(pk=experiment.pk).update(is_open=False)
    experiment.refresh_from_db(fields=["is_open"])


def _read(place: int, row: Any) -> _Draft:
    if not isinstance(row, Mapping):
        raise _Wrong("An output is a JSON object.")
    if holds_endless(row):
        raise _Wrong("This output holds a number beyond every float.")
    if unknown := sorted(set(row) - NAMES):
        raise _Wrong(f"There is no field {shown(unknown[0])}. There are {', '.join(sorted(NAMES))}.")
    key = fields.read("key", row.get("case"))
    if key is ABSENT:
        raise _Wrong("Name the case by its key.")
    attempt = row.get("attempt", 0)
    if isinstance(attempt, bool) or not isinstance(attempt, int) or not 0 <= attempt < MOST_ATTEMPTS:
        raise _Wrong(f"An attempt is a number from 0 to {MOST_ATTEMPTS - 1}.")
    outputs = row.get("outputs")
    if not (outputs is None or isinstance(outputs, Mapping)):
        raise _Wrong('Outputs are a JSON object such as {"value": "…"}.')
    steps = fields.read("steps", row.get("steps"))
    steps = None if steps is ABSENT else steps
    read = {name: fields.read(name, row.get(name)) for name in FIGURES}
    figures = {name: BLANKS.get(name) if value is ABSENT else value for name, value in read.items()}
    if outputs is None and not figures["error"]:
        raise _Wrong("There are neither outputs nor an error.")
    digest = digest_of([outputs, steps, figures])
    return _Draft(place, key, attempt, digest, None if outputs is None else dict(outputs), steps, figures)


def _key_of(row: Any) -> str:
    return str(row.get("case", ""))[: fields.MAX_KEY] if isinstance(row, Mapping) else ""


def _sentence(error: Exception) -> str:
    return f"This output {error}." if isinstance(error, BadContent) else str(error)


def _fresh(experiment: Experiment, drafts: Sequence[_Draft], taken: Taken) -> list[tuple[int, _Draft]]:
    """The drafts that are new, with the id of their case; the others are counted, or are faults."""
    version = experiment.dataset_version
    spans = CaseSpan.objects.filter(dataset=version.dataset_id, key__in=[draft.key for draft in drafts])
    case_ids = dict(spans.at(version.number).values_list("key", "case_id"))
    there = Output.objects.filter(experiment=experiment, case__in=case_ids.values())
    known = {(case, attempt): digest for case, attempt, digest in there.values_list("case", "attempt", "content_hash")}
    fresh = []
    for draft in drafts:
        case_id = case_ids.get(draft.key)
        stored = known.get((case_id, draft.attempt)) if case_id else None
        if case_id is None:
            reason = f"Version {version.number} of the data set has no case with the key {shown(draft.key)}."
            taken.faults.append(Fault(draft.place, draft.key, reason))
        elif stored is None:
            known[case_id, draft.attempt] = draft.digest
            fresh.append((case_id, draft))
        elif stored == draft.digest:
            taken.unchanged += 1
        else:
            reason = f"This case has another output already, as attempt {draft.attempt}."
            taken.faults.append(Fault(draft.place, draft.key, reason))
    return fresh


def _store(experiment: Experiment, fresh: Sequence[tuple[int, _Draft]]) -> None:
    stored = Output.objects.bulk_create(
        Output(
            experiment=experiment,
            case_id=case_id,
            attempt=draft.attempt,
            content_hash=draft.digest,
            **draft.figures,
        )
        for case_id, draft in fresh
    )
    OutputBody.objects.bulk_create(
        OutputBody(output=output, outputs=draft.outputs, steps=draft.steps)
        for output, (_, draft) in zip(stored, fresh, strict=True)
    )
