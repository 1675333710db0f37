"""`manage.py demo`: a project worth looking at, made by the product's own import, evaluators and runs."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.management.base import BaseCommand

from annotations.chosen import Chosen
from annotations.making import make
from annotations.models import Queue
from evalstudio import demo
from evalstudio.calls.models import REHEARSAL_URL, Connection
from evalstudio.projects import entry
from evalstudio.projects.models import AuditEntry, Membership, Project, Role, User
from evaluators.editing import as_typed
from evaluators.engine import work_of
from evaluators.kinds import get_kind
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.starters import STARTERS
from experiments.datasets.importing import running
from experiments.datasets.importing.starting import prepare_import
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Experiment, Output, Run, RunState

FOLDER = Path(demo.__file__).parent
PROJECT = "Pippin support"
DATASET = "support-answers"
SYSTEMS = ("assistant-2.3", "assistant-3.0")
OWNER = "demo"
QUEUE = "Helpful?"
INSTRUCTIONS = "You are the **customer**. Would this answer have helped you? What the help article says is right."
DONE = "completed the demo"


def is_wanted() -> bool:
    """Whether nothing is there yet, or an earlier demo was interrupted before it was complete."""
    if entry.needs_first_account():
        return True
    begun = Project.objects.filter(name=PROJECT, membership__user__username=OWNER)
    return begun.exists() and not AuditEntry.objects.filter(project__in=begun, act=DONE).exists()


class Command(BaseCommand):
    help = "Makes the demo project, or completes one that was interrupted. Every step may be repeated."

    def handle(self, *args: Any, **options: Any) -> None:
        project, owner = self._project()
        cases = self._import(project, owner, "cases.jsonl")
        for system in SYSTEMS:
            self._import(project, owner, f"outputs-{system}.jsonl", system)
        connection = self._rehearsal(project)
        versions = [self._evaluator(project, owner, connection, told) for told in self._told()]
        self._run(project, owner, versions)
        AuditEntry.note(project, owner, DONE, f"on {DATASET}")
        self.stdout.write(
            f"  demo: {cases} cases, {len(SYSTEMS)} systems, {len(versions)} evaluators and their runs;"
            " its AI evaluators are judged by the built-in rehearsal, which is no language model"
        )

    def _project(self) -> tuple[Project, User]:
        if entry.needs_first_account():
            owner, project = entry.make_first_account(OWNER, secrets.token_urlsafe(24), PROJECT)
            return project, owner
        membership = Membership.objects.select_related("project", "user").filter(project__name=PROJECT, role=Role.OWNER)
        found = membership.order_by("pk").first()
        if found:
            return found.project, found.user
        first = User.objects.order_by("pk")[0]
        return Project.start(PROJECT, first), first

    def _import(self, project: Project, owner: User, name: str, system: str = "") -> int:
        """The number of cases or outputs in the file. Importing the same file again changes nothing."""
        path = FOLDER / name
        with path.open("rb") as file:
            job = prepare_import(project, owner, File(file, name), {"dataset": DATASET, "system": system})
        running.run(job.pk)
        job.refresh_from_db()
        if job.failure:
            raise RuntimeError(f"{name}: {job.failure}")
        return len(path.read_text().splitlines())

    def _rehearsal(self, project: Project) -> Connection:
        return Connection.objects.get_or_create(
            project=project,
            base_url=REHEARSAL_URL,
            defaults={"name": "Rehearsal (no language model)", "model": "rehearsal", "max_in_flight": 32},
        )[0]

    def _told(self) -> list[dict[str, Any]]:
        return json.loads((FOLDER / "evaluators.json").read_text())

    def _evaluator(
        self, project: Project, owner: User, connection: Connection, told: dict[str, Any]
    ) -> EvaluatorVersion:
        kind = get_kind(told["kind"])
        renamed = {"reasoning_guide": "guide"}
        given = {renamed.get(name, name): value for name, value in told.items()}
        begun = STARTERS[told["starter"]].config if "starter" in told else kind.blank()
        config = {name: given.get(name, default) for name, default in begun.items()}
        if "connection_id" in config:
            config |= {"connection_id": connection.pk, "model": connection.model}
        form = kind.form(as_typed(kind.form.typed(config)), project=project)
        if not form.is_valid():
            raise RuntimeError(f"{told['name']}: {form.field_errors}")
        evaluator, _ = Evaluator.objects.get_or_create(project=project, name=told["name"], kind=kind.key)
        return evaluator.revise(form.to_config(), schema=kind.schema, author=owner, note=told["description"])

    def _run(self, project: Project, owner: User, versions: list[EvaluatorVersion]) -> None:
        """Every version over each system; comparative ones over the newer against the older, people over the newer.

        For people it is a queue, which nobody has begun.
        """
        found = Experiment.objects.filter(project=project, system__name__in=SYSTEMS).select_related("dataset_version")
        older, newer = found.order_by("pk")
        for version in versions:
            needs = work_of(version).needs
            if needs.compares:
                start(version, newer, owner, baseline=older)
                continue
            if needs.lane == "people":
                self._queue(project, owner, version, newer)
                continue
            for experiment in (older, newer):
                start(version, experiment, owner)
        for lane in ("cpu", "net"):
            work(lane)
        runs = Run.objects.filter(experiment__project=project).exclude(lane="people")
        unfinished = runs.exclude(state=RunState.FINISHED).count()
        if unfinished:
            self.stdout.write(f"  demo: {unfinished} runs go on in the background")

    def _queue(self, project: Project, owner: User, version: EvaluatorVersion, experiment: Experiment) -> None:
        if not Queue.objects.filter(project=project, name=QUEUE).exists():
            chosen = Chosen(experiment, None, Output.objects.filter(experiment=experiment))
            make(Queue(project=project, name=QUEUE, instructions=INSTRUCTIONS), [version], [], owner, chosen=chosen)
