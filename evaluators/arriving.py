"""Bringing an exported evaluator into a project: what comes, what does not fit, and then all of it at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from evalstudio.calls.models import Connection
from evalstudio.projects.models import AuditEntry, Project, User
from evaluators.editing import as_typed
from evaluators.exchange import Incoming, Told
from evaluators.golden import digest_of
from evaluators.kinds import KINDS, BadConfig
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase, Publication, PublishingRule, Scale, config_hash

MOST_FAULTS = 10  # that are told


@dataclass(frozen=True, slots=True)
class Wanted:
    """A connection that the file calls by name, and the one of the project that is to take its place, if any."""

    name: str
    models: list[str]
    chosen: int | None


@dataclass(frozen=True, slots=True)
class Arrival:
    """How a file fits into a project. `faults` are sentences; with any of them nothing can be brought."""

    incoming: Incoming
    project: Project
    name: str
    wanted: tuple[Wanted, ...] = ()
    offered: tuple[Connection, ...] = ()
    notices: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    configs: dict[int, dict[str, Any]] = field(default_factory=dict)  # ready to store, by version number

    @property
    def kind(self) -> Any:
        return KINDS.get(self.incoming.kind)


def arrival(
    incoming: Incoming, project: Project, *, name: str = "", chosen: Mapping[str, int] | None = None
) -> Arrival:
    """Try a file against a project: under `name` if given, with `chosen`, the ids of connections by their names."""
    kind = KINDS.get(incoming.kind)
    asked = " ".join((name or incoming.name).split())
    if kind is None:
        fault = f"There is no kind “{incoming.kind}” here; there are {', '.join(KINDS)}."
        return Arrival(incoming, project, asked, faults=(fault,))
    newer = [str(told.number) for told in incoming.versions if told.schema > kind.schema]
    if newer:
        fault = f"Version {', '.join(newer)} was made by a newer EvalStudio. Bring this one up to date first."
        return Arrival(incoming, project, asked, faults=(fault,))
    offered = tuple(Connection.objects.filter(project=project, archived_at=None).order_by("name"))
    wanted = tuple(_wanted(called, models, offered, chosen or {}) for called, models in incoming.connections.items())
    faults = [_name_fault(project, asked)]
    faults += [f"Choose a connection to take the place of “{one.name}”." for one in wanted if one.chosen is None]
    ids = {one.name: one.chosen for one in wanted}
    configs: dict[int, dict[str, Any]] = {}
    for told in incoming.versions if all(ids.values()) else ():
        config, wrong = _fitted(kind, told, project, ids)
        configs[told.number] = config
        faults += [f"v{told.number}: {sentence}" for sentence in wrong]
    sentences = tuple(fault for fault in faults if fault)
    return Arrival(incoming, project, asked, wanted, offered, tuple(_notices(incoming, project)), sentences, configs)


def free_name(project: Project, name: str) -> str:
    """The name, or the name with the first number that nobody has."""
    number, found = 1, name[:120]
    while _is_taken(project, found):
        number += 1
        found = f"{name[:114]} {number}"
    return found


@transaction.atomic
def bring(come: Arrival, user: User) -> Evaluator:
    """Make the evaluator. Raises IntegrityError where its name was given away a moment ago."""
    assert not come.faults
    project, incoming = come.project, come.incoming
    evaluator = Evaluator.objects.create(project=project, name=come.name, kind=incoming.kind)
    people = {person.username: person for person in project.members.all()}
    scales = _scales(come, user)
    versions = {told.number: _version(evaluator, told, come, people, scales) for told in incoming.versions}
    _publish(evaluator, incoming, versions, user)
    _keep_cases(evaluator, incoming, people)
    AuditEntry.note(project, user, "imported", f"evaluator {evaluator.name}")
    return evaluator


# --- Trying -----------------------------------------------------------------------------------------------------------
def _is_taken(project: Project, name: str) -> bool:
    return Evaluator.objects.filter(project=project, name=name).exists()


def _name_fault(project: Project, asked: str) -> str:
    if not asked or len(asked) > 120:
        return "A name has 1 to 120 characters."
    if not _is_taken(project, asked):
        return ""
    return f"This project has an evaluator “{asked}” already. “{free_name(project, asked)}” is free."


def _wanted(name: str, models: list[str], offered: tuple[Connection, ...], chosen: Mapping[str, int]) -> Wanted:
    """The chosen connection, or else the project's own of that name."""
    ids = {connection.pk for connection in offered}
    namesake = next((connection.pk for connection in offered if connection.name == name), None)
    return Wanted(name, models, chosen[name] if chosen.get(name) in ids else namesake)


def _fitted(kind: Any, told: Told, project: Project, ids: Mapping[str, int | None]) -> tuple[dict[str, Any], list[str]]:
    """A version's configuration as the project stores it, and what is wrong with it. Everything goes by the form."""
    config = dict(told.config)
    scale = config.get("scale")
    if told.connection:
        config["connection_id"] = ids[told.connection]
    try:
        present = kind.upgraded(config, told.schema)
        kind.load(present, kind.schema)
        fields = kind.form.typed({**present, **({"scale": None} if "scale" in present else {})})
    except (BadConfig, KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        return {}, [f"its configuration cannot be read: {error}"]
    form = kind.form(as_typed(fields), project=project)
    if not form.is_valid():
        return {}, [f"{fault.field.replace('_', ' ')}: {fault.message}" for fault in form.field_errors][:MOST_FAULTS]
    fitted = form.to_config()
    if scale is not None:
        if not _is_scale(scale):
            return {}, ["its scale has no name of at most 80 characters."]
        fitted["scale"] = {"id": None, "name": scale["name"], "description": scale.get("description", "")}
    return fitted, []


def _is_scale(scale: Any) -> bool:
    if not isinstance(scale, dict) or not isinstance(scale.get("name"), str):
        return False
    return 0 < len(scale["name"]) <= 80 and isinstance(scale.get("description", ""), str)


def _notices(incoming: Incoming, project: Project) -> list[str]:
    """What will be otherwise here than where it came from."""
    told = []
    if PublishingRule.objects.filter(project=project).exists():
        told.append("No version comes published: this project asks for golden cases before.")
    latest = {
        version.config["scale"]["name"]: version.config.get("scoring")
        for version in incoming.versions
        if _is_scale(version.config.get("scale"))
    }
    known = dict(Scale.objects.filter(project=project, name__in=latest).values_list("name", "scoring"))
    for name, scoring in latest.items():
        if name not in known:
            told.append(f"The scale “{name}” comes along.")
        elif known[name] != scoring:
            told.append(f"The scale “{name}” is another here. The versions keep theirs; a new version takes this one.")
    return told


# --- Bringing ---------------------------------------------------------------------------------------------------------
def _scales(come: Arrival, user: User) -> dict[str, int]:
    """The project's scales that the versions name, made where they are missing: ids by name."""
    found: dict[str, int] = {}
    for config in reversed(come.configs.values()):
        scale = config.get("scale")
        if scale and scale["name"] not in found:
            made = {"description": scale["description"], "scoring": config["scoring"], "author": user}
            found[scale["name"]] = Scale.objects.get_or_create(project=come.project, name=scale["name"], defaults=made)[
                0
            ].pk
    return found


def _version(
    evaluator: Evaluator, told: Told, come: Arrival, people: Mapping[str, User], scales: Mapping[str, int]
) -> EvaluatorVersion:
    config = come.configs[told.number]
    if config.get("scale"):
        config = {**config, "scale": {**config["scale"], "id": scales[config["scale"]["name"]]}}
    author = people.get(told.author)
    return EvaluatorVersion.objects.create(
        evaluator=evaluator,
        number=told.number,
        config=config,
        config_schema=come.kind.schema,
        config_hash=config_hash(config),
        author=author,
        note=_signed(told.note, "" if author else told.author),
        created_at=told.created_at,
    )


def _signed(note: str, author: str) -> str:
    """The note with the name of an author who has no account here."""
    if not author:
        return note
    by = f"by {author}"[:290]
    return f"{note[: 300 - len(by) - 3]} ({by})" if note else by


def _publish(evaluator: Evaluator, incoming: Incoming, versions: Mapping[int, EvaluatorVersion], user: User) -> None:
    """Publish what was published, the latest if nothing was; nothing where the project asks for golden cases."""
    if PublishingRule.objects.filter(project=evaluator.project_id).exists():
        return
    standing = incoming.published_version or incoming.versions[-1].number
    before = {told.number for told in incoming.versions if told.is_published} - {standing}
    Publication.objects.bulk_create(Publication(version=versions[number], by=user) for number in sorted(before))
    evaluator.publish(versions[standing], user)


def _keep_cases(evaluator: Evaluator, incoming: Incoming, people: Mapping[str, User]) -> None:
    GoldenCase.objects.bulk_create(
        (
            GoldenCase(
                evaluator=evaluator,
                title=case.title,
                sample=case.sample,
                digest=digest_of(case.sample),
                must=case.must,
                note=_signed(case.note, "" if case.author in people else case.author),
                author=people.get(case.author),
                created_at=case.created_at,
            )
            for case in incoming.cases
        ),
        ignore_conflicts=True,
    )
