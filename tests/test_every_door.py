"""Every address of the site, tried by everybody with nonsense: nobody gets further than decided, nothing ever breaks.

`DOORS` is that decision. An address without one fails a test, so that no page opens unnoticed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from annotations.models import Grade, Queue
from annotations.queueing import fill
from evalstudio.calls.models import Connection
from evalstudio.files.keeping import keep
from evalstudio.projects.membership import invite
from evalstudio.projects.models import ApiToken, AuditEntry, Membership, Project, Role, Scope
from evaluators.core import Status
from evaluators.golden import keep as keep_golden
from evaluators.models import Draft, Evaluator, EvaluatorVersion, GoldenCase, GoldenVerdict, Scale
from experiments.datasets.importing import receiving
from experiments.ledger.start import start
from experiments.models import (
    Case,
    CaseSpan,
    Dataset,
    Evaluation,
    EvaluationBody,
    Import,
    Output,
    OutputBody,
    RunLabel,
    System,
)
from tests.experiments.conftest import make_experiment  # noqa: F401
from tests.experiments.test_human_runs import GRADES

VIEWER, REVIEWER, EDITOR, OWNER = Role


@dataclass(frozen=True)
class Door:
    """The least role that may read and that may write; None where the address does not answer to that at all.

    `open_to` names those who have no project to show: "all", or "members" of the installation, who are signed in.
    `reviewers` says whether they may do here what a viewer may; elsewhere only what is for them.
    """

    reads: Role | None = None
    writes: Role | None = None
    open_to: str = ""
    reviewers: bool = False


PAGES = {
    # Without a project. The doors for all are the way in, and the schema of the API, which holds no data.
    "home-root": Door(VIEWER, None, "all"),
    "setup": Door(VIEWER, VIEWER, "all"),  # makes the first account; afterwards it only leads away
    "sign-in": Door(VIEWER, VIEWER, "all"),
    "sign-out": Door(None, VIEWER, "all"),
    "enter": Door(VIEWER, None, "all"),  # its word is a secret, and works once
    "api-schema": Door(VIEWER, None, "all"),
    "join": Door(VIEWER, VIEWER, "all"),  # its word is a secret, and works once
    "password": Door(VIEWER, VIEWER, "members"),
    "password-changed": Door(VIEWER, None, "members"),
    "project-list": Door(VIEWER, VIEWER, "members"),
    "api-docs": Door(VIEWER, None, "members"),
    "kit": Door(VIEWER, VIEWER, "members"),
    "kit-draft": Door(None, VIEWER, "members"),
    "kit-paths": Door(None, VIEWER, "members"),
    "kit-peek": Door(VIEWER, None, "members"),
    # Of a project.
    "project-home": Door(VIEWER, reviewers=True),
    "member-list": Door(VIEWER),
    "member-invite": Door(None, OWNER),
    "member-role": Door(None, OWNER),
    "member-remove": Door(None, OWNER),  # of others; whoever wants to leaves
    "invitation-revoke": Door(None, OWNER),
    "audit-list": Door(OWNER),
    "home-results": Door(VIEWER),
    "token-list": Door(EDITOR, EDITOR),
    "token-revoke": Door(None, EDITOR),
    "connection-list": Door(VIEWER),
    "connection-new": Door(OWNER, OWNER),
    "connection-rehearsal": Door(None, OWNER),
    "connection-test": Door(None, OWNER),
    "connection-edit": Door(OWNER, OWNER),
    "connection-archive": Door(None, OWNER),
    "connection-restore": Door(None, OWNER),
    "file-list": Door(VIEWER, EDITOR),
    "file-content": Door(VIEWER, reviewers=True),
    "file-digest": Door(VIEWER, reviewers=True),
    "file-outside": Door(VIEWER, reviewers=True),
    "evaluator-list": Door(VIEWER),
    "evaluator-new": Door(EDITOR, EDITOR),
    "evaluator-preview": Door(EDITOR),
    "evaluator-bench": Door(None, EDITOR),
    "evaluator-draft": Door(None, EDITOR),
    "evaluator-instructions": Door(None, EDITOR),
    "evaluator-paths": Door(None, VIEWER),  # asks about a posted sample, and keeps nothing
    "evaluator-page": Door(VIEWER),
    "evaluator-edit": Door(EDITOR, EDITOR),
    "evaluator-archive": Door(None, EDITOR),
    "evaluator-restore": Door(None, EDITOR),
    "evaluator-duplicate": Door(None, EDITOR),
    "evaluator-run": Door(VIEWER),
    "evaluator-runs": Door(VIEWER),
    "evaluator-people": Door(VIEWER, EDITOR),
    "evaluator-judges": Door(VIEWER),
    "evaluator-golden": Door(VIEWER),
    "golden-new": Door(EDITOR, EDITOR),
    "golden-judge": Door(None, EDITOR),
    "golden-try": Door(None, EDITOR),
    "golden-keep-sample": Door(None, EDITOR),
    "golden-keep": Door(EDITOR, EDITOR),
    "golden-case": Door(VIEWER, EDITOR),
    "golden-delete": Door(None, EDITOR),
    "evaluator-publish": Door(None, EDITOR),
    "publishing-rule": Door(VIEWER, OWNER),
    "evaluator-export": Door(VIEWER),
    "evaluator-import": Door(EDITOR, EDITOR),
    "run-defaults": Door(VIEWER, EDITOR),
    "processor-page": Door(VIEWER, EDITOR),
    "processor-try": Door(None, EDITOR),
    "processor-runs": Door(VIEWER, EDITOR),
    "output-processed": Door(VIEWER),
    "scale-list": Door(VIEWER),
    "scale-new": Door(EDITOR, EDITOR),
    "scale-edit": Door(EDITOR, EDITOR),
    "scale-archive": Door(None, EDITOR),
    "scale-restore": Door(None, EDITOR),
    "dataset-list": Door(VIEWER),
    "dataset-page": Door(VIEWER),
    "dataset-case": Door(VIEWER),
    "dataset-new": Door(EDITOR, EDITOR),
    "case-new": Door(EDITOR, EDITOR),
    "case-edit": Door(EDITOR, EDITOR),
    "cases-selected": Door(None, EDITOR),
    "dataset-changes": Door(EDITOR, EDITOR),
    "changes-discard": Door(None, EDITOR),
    "changes-keep": Door(None, EDITOR),
    "dataset-versions": Door(VIEWER),
    "dataset-difference": Door(VIEWER),
    "dataset-restore": Door(None, EDITOR),
    "dataset-schema": Door(VIEWER, EDITOR),
    "dataset-breaking": Door(VIEWER),
    "dataset-splits": Door(VIEWER, EDITOR),
    "dataset-duplicates": Door(VIEWER, EDITOR),
    "dataset-add-from-output": Door(EDITOR, EDITOR),
    "prompt-new": Door(EDITOR, EDITOR),
    "prompt-preview": Door(None, EDITOR),
    "import-new": Door(EDITOR, EDITOR),
    "import-page": Door(EDITOR, EDITOR),
    "import-forecast": Door(None, EDITOR),
    "import-discard": Door(None, EDITOR),
    "bench-picker": Door(VIEWER),
    "bench-sample": Door(VIEWER),
    "mapping-coverage": Door(None, EDITOR),
    "experiment-list": Door(VIEWER),
    "experiment-page": Door(VIEWER),
    "experiment-columns": Door(VIEWER),
    "experiment-peek": Door(VIEWER),
    "experiment-export": Door(VIEWER),
    "evaluation-exchange": Door(VIEWER),
    "comparison-choice": Door(VIEWER),
    "experiment-against": Door(VIEWER),
    "leaderboard": Door(VIEWER),
    "leaderboard-charts": Door(VIEWER),
    "leaderboard-export": Door(VIEWER),
    "leaderboard-run": Door(None, EDITOR),
    "leaderboard-pairs": Door(VIEWER),
    "against-columns": Door(VIEWER),
    "against-changed": Door(VIEWER),
    "compare": Door(VIEWER),
    "against-peek": Door(VIEWER),
    "against-export": Door(VIEWER),
    "evaluations-beside": Door(VIEWER),
    "evaluator-noise": Door(VIEWER),
    "noise-start": Door(None, EDITOR),
    "evaluator-change": Door(VIEWER),
    "change-start": Door(None, EDITOR),
    "run-start": Door(EDITOR, EDITOR),
    "scores-upload": Door(EDITOR, EDITOR),
    "run-list": Door(VIEWER),
    "running-badge": Door(VIEWER),
    "run-page": Door(VIEWER),
    "run-classes": Door(VIEWER),
    "run-classes-export": Door(VIEWER),
    "run-stop": Door(None, EDITOR),
    "run-resume": Door(None, EDITOR),
    "run-retry": Door(None, EDITOR),
    "run-bound": Door(None, EDITOR),
    "evaluator-grades": Door(VIEWER),
    "evaluator-grades-import": Door(EDITOR, EDITOR),
    "evaluator-agreement": Door(VIEWER, reviewers=True),
    "grades-beside": Door(VIEWER, EDITOR),
    "queue-ask-again": Door(None, EDITOR),
    "queue-ask-anew": Door(None, EDITOR),
    "queue-list": Door(VIEWER, reviewers=True),
    "home-review": Door(VIEWER, reviewers=True),
    "queue-new": Door(EDITOR, EDITOR),
    "queue-page": Door(VIEWER),
    "queue-edit": Door(EDITOR, EDITOR),
    "queue-close": Door(None, EDITOR),
    "queue-reopen": Door(None, EDITOR),
    "queue-grade": Door(REVIEWER),
    "queue-undo": Door(None, REVIEWER),
    "item-grade": Door(None, REVIEWER),
    "item-draft": Door(None, REVIEWER),
    "queue-decide": Door(EDITOR),  # or whoever was chosen for it
    "item-decide": Door(EDITOR, EDITOR),  # likewise
    "grade-here": Door(EDITOR, EDITOR),
    "grades-import": Door(EDITOR, EDITOR),
    "grades-export": Door(VIEWER),
}
API = {
    "api-members": Door(VIEWER),
    "api-member": Door(),  # an owner may PATCH and DELETE one
    "api-invitations": Door(OWNER, OWNER),
    "api-connections": Door(VIEWER),
    "api-files": Door(VIEWER, EDITOR),
    "api-evaluators": Door(VIEWER, EDITOR),
    "api-evaluator": Door(VIEWER),
    "api-versions": Door(VIEWER, EDITOR),
    "api-evaluator-archive": Door(None, EDITOR),
    "api-evaluator-restore": Door(None, EDITOR),
    "api-evaluator-duplicate": Door(None, EDITOR),
    "api-golden-cases": Door(VIEWER, EDITOR),
    "api-golden-case": Door(VIEWER),
    "api-golden-judge": Door(None, EDITOR),
    "api-publish": Door(VIEWER, EDITOR),
    "api-evaluator-export": Door(VIEWER),
    "api-evaluator-import": Door(None, EDITOR),
    "api-catalogue": Door(VIEWER),
    "api-processor": Door(VIEWER, EDITOR),
    "api-processor-try": Door(None, EDITOR),
    "api-run-defaults": Door(VIEWER),  # and an editor may PUT them
    "api-scales": Door(VIEWER, EDITOR),
    "api-scale": Door(VIEWER),
    "api-scale-archive": Door(None, EDITOR),
    "api-scale-restore": Door(None, EDITOR),
    "api-publishing-rule": Door(VIEWER),  # and an owner may PUT one
    "api-imports": Door(None, EDITOR),
    "api-import": Door(VIEWER),
    "api-datasets": Door(VIEWER, EDITOR),
    "api-dataset": Door(VIEWER),
    "api-dataset-versions": Door(VIEWER, EDITOR),
    "api-dataset-restore": Door(None, EDITOR),
    "api-dataset-schema": Door(VIEWER),  # and an editor may PUT one
    "api-cases": Door(VIEWER),
    "api-experiments": Door(VIEWER, EDITOR),
    "api-prompt": Door(None, EDITOR),
    "api-experiment": Door(VIEWER),
    "api-outputs": Door(None, EDITOR),
    "api-experiment-close": Door(None, EDITOR),
    "api-scores-intake": Door(None, EDITOR),
    "api-results": Door(VIEWER),
    "api-noise": Door(VIEWER, EDITOR),
    "api-change": Door(VIEWER, EDITOR),
    "api-experiment-compare": Door(VIEWER),
    "api-experiment-pairs": Door(VIEWER),
    "api-run-passing": Door(VIEWER),
    "api-runs": Door(VIEWER, EDITOR),
    "api-run": Door(VIEWER),
    "api-run-waiting": Door(VIEWER),
    "api-run-confusion": Door(VIEWER),
    "api-leaderboard": Door(VIEWER),
    "api-leaderboard-pairs": Door(VIEWER),
    "api-run-classes": Door(VIEWER),
    "api-run-classes-beside": Door(VIEWER),
    "api-run-stop": Door(None, EDITOR),
    "api-run-resume": Door(None, EDITOR),
    "api-run-retry": Door(None, EDITOR),
    "api-queues": Door(VIEWER, EDITOR, reviewers=True),
    "api-queue": Door(VIEWER, reviewers=True),
    "api-queue-next": Door(None, REVIEWER),
    "api-item-grade": Door(None, REVIEWER),
    "api-evaluator-people": Door(VIEWER),  # and an editor may PUT who corrects it
    "api-evaluator-judges": Door(VIEWER),
    "api-queue-ask-anew": Door(None, EDITOR),
    "api-queue-grades": Door(None, EDITOR),
    "api-evaluator-grades": Door(None, EDITOR),
    "api-evaluator-agreement": Door(VIEWER, reviewers=True),
    "api-grades": Door(VIEWER),
}
DOORS = PAGES | API
OF_PROJECTS = {name: door for name, door in DOORS.items() if not door.open_to}

# What a hand, a script or a scanner might put into any field.
NONSENSE = {
    "nothing": "",
    "a negative number": "-1",
    "a number beyond 64 bits": "99999999999999999999",
    "more digits than Python reads": "9" * 5000,
    "digits of another script": "\u0663\u0661",
    "a digit that is no number": "\u00b2",
    "a NUL": "a\0b",
    "characters of SQL and of patterns": "%_'\"\\;--)(*",
    "a word": "nonsense",
    "a long word": "x" * 20_000,
    "a wrong cursor": base64.urlsafe_b64encode(b'[0,"x",1e3]').decode(),
    "a cursor beyond 64 bits": base64.urlsafe_b64encode(b"[0,99999999999999999999,99999999999999999999]").decode(),
    "a cursor without end": base64.urlsafe_b64encode(b"[" * 9000).decode(),
    "JSON without end": "[" * 20_000,
    "a number without end": "1e999999999",
}
FIELDS = (
    "add_tag", "after", "at", "base", "base_url", "baseline", "before", "by", "case", "case_q", "code", "dataset",
    "direction", "do", "draft", "edit", "evaluator", "expected", "expected_outputs", "experiment", "found", "from",
    "guide", "inputs", "key", "kind", "known", "level", "like", "limit", "limit_minutes", "limit_usd", "max_in_flight",
    "max_tokens", "mode", "model", "models", "n", "name", "name_0", "next", "note", "notes", "option_description",
    "option_label", "option_percentage", "outputs", "other_model", "password", "pasted_sample", "peek", "place",
    "priority", "project", "prompt", "purpose", "q", "queue", "repeats", "requests_per_minute", "sample", "sample_from",
    "sample_outputs", "scope", "scoring", "seed", "share", "show", "sort", "split", "splits", "start", "step", "system",
    "system_message", "tab", "tag", "tags", "target_0", "temperature", "temperature_0", "title", "user_message",
    "threshold", "to", "type_0", "usd_per_million_in", "username", "version",
)  # fmt: skip


def routes(found: URLResolver | None = None, before: str = "") -> Iterator[tuple[str, str]]:
    """The name and the pattern of every address."""
    for one in (found or get_resolver()).url_patterns:
        if isinstance(one, URLPattern):
            yield one.name or "", before + str(one.pattern)
        else:
            yield from routes(one, before + str(one.pattern))


def test_every_address_has_a_decision():
    assert {name for name, _ in routes()} == set(DOORS)


@pytest.fixture
def stage(project, alice, dora, tmp_path, settings, make_experiment):  # noqa: F811
    """A project with one of everything, and what the addresses call them."""
    files = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": files}
    code = "function evaluate({ outputs }) { return 1; }"
    config = {"code": code, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name="Always", kind="heuristic")
    version = evaluator.revise(config, schema=1, author=alice)
    experiment = make_experiment(2)
    run = start(version, experiment, alice)
    upload = SimpleUploadedFile("answers.csv", b"id,question\n1,Why?\n")
    ids = {
        "evaluator": version.evaluator_id,
        "version": version.pk,
        "golden-case": keep_golden(evaluator, {"outputs": 1}, {"value": 1.0}, title="One", author=alice)[0].pk,
        "connection": Connection.add_rehearsal(project, alice).pk,
        "scale": Scale.objects.create(project=project, name="Marks", scoring={"type": "percentage"}).pk,
        "dataset": experiment.dataset_version.dataset_id,
        "case": Case.objects.first().pk,
        "experiment": experiment.pk,
        "output": Output.objects.first().pk,
        "evaluation": Evaluation.objects.first().pk,
        "run": run.pk,
        "baseline": make_experiment(2, "another system").pk,
        "import": receiving.receive(project, alice, upload, "numbers").pk,
        "token": ApiToken.issue(project, alice, "nightly", Scope.READ)[0].pk,
        "member": Membership.objects.create(project=project, user=dora, role=VIEWER).pk,
        "invitation": invite(project, alice, VIEWER, "Mara")[0].pk,
        **reviewed(project, alice, experiment),
    }
    picture = ContentFile(b"\x89PNG\r\n\x1a\n", name="cat.png")
    return Stage(project, ids, keep(project, alice, picture).digest)


def reviewed(project, alice, experiment) -> dict[str, int]:
    """A queue over an experiment, and an item of it."""
    version = Evaluator.objects.create(project=project, name="Helpful", kind="human").revise(
        GRADES, schema=1, author=alice
    )
    queue = Queue.objects.create(project=project, name="Week 47")
    queue.versions.add(version)
    fill(queue, experiment, None, Output.objects.filter(experiment=experiment), alice)
    item = queue.items.last()
    said = {"label": "Solved", "value": 1.0, "content_hash": item.content_hash}
    grade = Grade.objects.create(version=version, output=item.output, item=item, person=alice, **said)
    return {"queue": queue.pk, "item": queue.items.first().pk, "grade": grade.pk}


@dataclass(frozen=True)
class Stage:
    project: Project
    ids: dict[str, int]
    digest: str = ""

    def addresses(self, name: str) -> list[str]:
        """The addresses of a route: those without and with an id, where it goes by both."""
        found = [pattern for route, pattern in routes() if route == name]
        return [f"/{self._filled(pattern)}" for pattern in found]

    def _filled(self, pattern: str) -> str:
        thing = next((thing for thing in self.ids if f"{thing}s/<int:pk>" in pattern), "token")
        words = {"<slug:project>": self.project.slug, "<int:pk>": self.ids[thing], "<int:case>": self.ids["case"]}
        words |= {"<int:baseline>": self.ids["baseline"], "<int:number>": 1}
        words |= {"<int:output>": self.ids["output"], "<str:form>": "csv", "<str:token>": "forged"}
        words |= {"<int:other>": self.ids["evaluation"]}
        words |= {"<str:digest>": self.digest, "<str:name>": "cat.png"}
        words |= {"<slug:kind>": "heuristic", "<slug:key>": "k-1"}
        for mark, word in words.items():
            pattern = pattern.replace(mark, str(word))
        return pattern


def answers(client: Client, address: str) -> dict[str, int]:
    return {"reads": client.get(address).status_code, "writes": client.post(address).status_code}


def test_nobody_gets_into_a_project_without_signing_in(client, stage):
    for name in OF_PROJECTS:
        for address in stage.addresses(name):
            for send in (client.get, client.post):
                reply = send(address)
                if name in API:
                    assert reply.status_code == 401, address
                elif reply.status_code != 405:
                    assert reply.status_code == 302, address
                    assert reply.url.startswith(f"{reverse('sign-in')}?next="), address


def test_a_stranger_finds_nothing(client, charlie, stage):
    client.force_login(charlie)
    for name in OF_PROJECTS:
        for address in stage.addresses(name):
            found = set(answers(client, address).values())
            assert found in ({404}, {404, 405}), address


def test_the_things_of_one_project_are_not_found_in_another(client, charlie, stage):
    """Charlie owns a project of his own, and puts the ids of alice's into its addresses."""
    client.force_login(charlie)
    own = Stage(Project.start("Elsewhere", charlie), stage.ids)
    for name in OF_PROJECTS:
        for address in own.addresses(name):
            if any(f"/{number}/" in address or f"/{number}." in address for number in stage.ids.values()):
                assert set(answers(client, address).values()) <= {404, 405}, address


@pytest.mark.parametrize("role", Role)
def test_each_role_may_what_was_decided_and_nothing_else(client, charlie, stage, role):
    Membership.objects.create(project=stage.project, user=charlie, role=role)
    client.force_login(charlie)
    for name, door in OF_PROJECTS.items():
        replies = [answers(client, address) for address in stage.addresses(name)]
        for act in ("reads", "writes"):
            least, found = getattr(door, act), {reply[act] for reply in replies}
            if least is not None and role.may(least, reviewers=door.reviewers):
                assert 403 not in found, (act, name)
                assert found != {405}, (act, name)  # of the addresses of one name, some only show
            else:
                assert found <= {403, 405}, (act, name)


def test_no_page_takes_a_form_that_another_site_sent(alice, stage):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    for name in DOORS:
        for address in stage.addresses(name):
            assert client.post(address, {"name": "forged"}).status_code in (403, 405, 415), address


def test_ids_without_end_are_not_found(client, alice, stage):
    client.force_login(alice)
    for number in ("99999999999999999999", "9" * 5000, "0"):
        endless = Stage(stage.project, dict.fromkeys(stage.ids, number))
        for name in OF_PROJECTS:
            for address in endless.addresses(name):
                if f"/{number}/" in address or f"/{number}." in address:
                    assert set(answers(client, address).values()) <= {404, 405}, address[:80]


@pytest.mark.parametrize("name", DOORS)
def test_nonsense_in_an_address_breaks_nothing(client, alice, stage, name):
    client.force_login(alice)
    for address in stage.addresses(name):
        for nonsense in NONSENSE.values():
            reply = client.get(address, dict.fromkeys(FIELDS, nonsense))
            _read_whole(reply)
            assert reply.status_code < 500, (address, nonsense[:50])
            if name in API and reply.status_code >= 400:
                assert reply["Content-Type"] == "application/problem+json", address
        assert client.get(f"{address}?q=%FF%FE%00&case_q=%ED%A0%80&peek=%00&version=%00").status_code < 500


@pytest.mark.parametrize("name", DOORS)
def test_nonsense_in_a_form_breaks_nothing(client, alice, stage, name):
    for address in stage.addresses(name):
        for nonsense in NONSENSE.values():
            client.force_login(alice)  # again, after the address that signs people out
            typed = dict.fromkeys(FIELDS, nonsense)
            assert client.post(address, typed).status_code < 500, (address, nonsense[:50])
            sound = {"kind": "heuristic", "draft": "d", "evaluator": "", "sample_from": "case"}
            assert client.post(address, typed | sound).status_code < 500, (address, nonsense[:50])


@pytest.mark.parametrize("name", API)
def test_nonsense_sent_to_the_api_breaks_nothing(client, alice, stage, name):
    _, secret = ApiToken.issue(stage.project, alice, "tests", Scope.WRITE)
    bodies = ["", "{", "[]", "null", '"text"', "[" * 20_000, '{"version": 1e400}', '{"config": {"seed": NaN}}']
    bodies += ['{"version": ' + "9" * 5000 + "}", '{"name": "\\ud800\\u0000", "kind": "\\u0000"}', '{"a": ' * 9_000]
    bodies += [
        json.dumps({"name": text, "kind": "judge", "note": text, "config": {"prompt": text}})
        for text in NONSENSE.values()
    ]
    bodies += [json.dumps({"version": text, "experiment": text}) for text in NONSENSE.values()]
    for address in stage.addresses(name):
        for body in bodies:
            reply = client.post(
                address,
                body,
                content_type="application/json",
                headers={"Authorization": f"Bearer {secret}"},
            )
            assert reply.status_code < 500, (address, body[:60])
            if reply.status_code >= 400:
                assert reply["Content-Type"] == "application/problem+json"


MARKUP = "<img src=x onerror=alert(1)>\"'`{{7*7}}</textarea></script><script>alert(1)</script>"


@pytest.fixture
def marked_up(stage, alice):
    """The stage with markup wherever people, files and models can leave text."""
    alice.username = MARKUP
    alice.save()
    content = {"value": MARKUP, MARKUP: [MARKUP, {MARKUP: MARKUP}]}
    Project.objects.update(name=MARKUP[:80])
    for model in (Evaluator.objects.exclude(kind="human"), Scale.objects, Dataset.objects, Connection.objects):
        model.update(name=MARKUP[:80])
    ApiToken.objects.update(name=MARKUP[:80])
    Evaluator.objects.filter(kind="human").update(name=MARKUP[:79])
    Queue.objects.update(name=MARKUP, instructions=MARKUP)
    Grade.objects.update(comment=MARKUP)
    System.objects.exclude(experiment=stage.ids["baseline"]).update(name=MARKUP[:80])  # names are given once
    Connection.objects.update(model=MARKUP, blocked_why=MARKUP)
    GoldenCase.objects.update(title=MARKUP, note=MARKUP, sample=content, must={"label": MARKUP})
    GoldenVerdict.objects.create(
        version_id=stage.ids["version"], case=GoldenCase.objects.get(), state=Status.SCORED, value=1, reason=MARKUP
    )
    Case.objects.update(inputs=content, expected_outputs=content, metadata={MARKUP: MARKUP})
    Case.objects.filter(pk=stage.ids["case"]).update(key=MARKUP)
    CaseSpan.objects.filter(case=stage.ids["case"]).update(key=MARKUP)
    Output.objects.update(error=MARKUP)
    OutputBody.objects.update(outputs=content, steps=[{"name": MARKUP, "attributes": content}])
    Import.objects.update(file_name=MARKUP)
    AuditEntry.note(stage.project, alice, "saved", MARKUP)
    Draft.objects.keep(stage.project, alice, "judge", {"name": [MARKUP], "prompt": [MARKUP]}, evaluator=None, key="d")
    label = RunLabel.objects.create(run_id=stage.ids["run"], label_id=1, label=MARKUP)
    scored = {"state": Status.SCORED, "score": 0.5, "label_id": label.label_id, "settled_at": timezone.now()}
    Evaluation.objects.filter(pk=stage.ids["evaluation"]).update(**scored)
    failed = {"state": Status.FAILED, "why": "thrown", "settled_at": timezone.now()}
    Evaluation.objects.exclude(pk=stage.ids["evaluation"]).update(**failed)
    EvaluationBody.objects.bulk_create(
        EvaluationBody(evaluation=evaluation, reason=MARKUP, logs=[MARKUP]) for evaluation in Evaluation.objects.all()
    )
    return stage


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}], ids=["page", "fragment"])
def test_text_is_never_markup(client, alice, marked_up, headers):
    client.force_login(alice)
    shown = 0
    for name in PAGES:
        for address in marked_up.addresses(name):
            for query in (
                "",
                f"?peek={marked_up.ids['output']}&q=%3Cimg%20src=x",
                "?draft=d",
                "?tab=metrics&show=failed",
            ):
                reply = client.get(address + query, headers=headers)
                if reply.status_code == 200 and not reply.streaming and "html" in reply["Content-Type"]:
                    page = reply.content.decode()
                    assert "<img src=x" not in page, address + query
                    assert "<script>alert" not in page, address + query
                    shown += "&lt;img src=x" in page
                    assert "default-src 'self'" in reply["Content-Security-Policy"], address
    assert shown > 30


def _read_whole(reply) -> None:
    if reply.streaming:
        assert b"".join(reply.streaming_content) is not None


def test_a_version_that_cannot_be_read_any_more_breaks_no_page(client, alice, stage):
    EvaluatorVersion.objects.update(config={"nothing": "of use"}, config_schema=1)
    client.force_login(alice)
    for name in OF_PROJECTS:
        for address in stage.addresses(name):
            assert client.get(address).status_code < 500, address
            said = {"version": stage.ids["version"], "experiment": stage.ids["experiment"], "kind": "heuristic"}
            assert client.post(address, said).status_code < 500, address


def test_the_stage_is_what_it_seems(stage):
    assert Evaluator.objects.exclude(kind="human").count() == Import.objects.count() == 1
