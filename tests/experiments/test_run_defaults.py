"""What new runs of a project begin with: limits, and the evaluators that judge every new result."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import AuditEntry
from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.ledger.asked import Asked
from experiments.ledger.start import start
from experiments.models import Experiment, Run, RunDefaults
from experiments.outputs.intake import open_experiment
from experiments.outputs.judging import Judge, always_in
from tests.experiments.judged import experiment_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def here(project):
    return reverse("run-defaults", args=[project.slug])


@pytest.fixture
def experiment(project) -> Experiment:
    return experiment_of(project, 3)


def heuristic(project, name="Short"):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
    return evaluator.revise(kind.blank(), schema=kind.schema, author=None)


def judge(project, connection, name="Judge"):
    kind = get_kind("judge")
    evaluator = Evaluator.objects.create(project=project, name=name, kind="judge")
    own = {"prompt": "{{ outputs.value }}", "connection_id": connection.pk, "model": "tiny"}
    return evaluator.revise(kind.blank() | own, schema=kind.schema, author=None)


def human(project):
    kind = get_kind("human")
    evaluator = Evaluator.objects.create(project=project, name="People", kind="human")
    return evaluator.revise(kind.blank(), schema=kind.schema, author=None)


@pytest.fixture
def priced(connection):
    connection.usd_per_million_in = connection.usd_per_million_out = 1
    connection.save()
    return connection


def test_an_editor_sets_them_and_the_audit_says_so(as_alice, project, here):
    short = heuristic(project)

    as_alice.post(here, {"limit_usd": "2.5", "limit_minutes": "30", "evaluators": [short.evaluator_id]})

    saved = RunDefaults.objects.get(project=project)
    assert (saved.limit_usd, saved.limit_s, list(saved.evaluators.all())) == (2.5, 1800, [short.evaluator])
    assert AuditEntry.objects.filter(project=project, subject="the defaults of new runs").exists()
    assert 'value="2.5"' in as_alice.get(here).content.decode()


def test_what_is_no_limit_is_refused_beside_its_field_and_nothing_typed_is_lost(as_alice, project, here):
    answer = as_alice.post(here, {"limit_usd": "cheap", "limit_minutes": "30"})

    assert answer.status_code == 422
    assert "Give an amount" in answer.content.decode()
    assert 'value="30"' in answer.content.decode()
    assert not RunDefaults.objects.exists()


def test_a_viewer_reads_them_and_changes_nothing(client, bob, here):
    client.force_login(bob)

    assert client.get(here).status_code == 200
    assert client.post(here, {"limit_usd": "1"}).status_code == 403


def test_a_run_begins_with_the_limits_that_fit_what_it_does(project, experiment, priced):
    RunDefaults.objects.create(project=project, limit_usd=2.0, limit_s=600)

    limits = {
        version.evaluator.name: (run.limit_usd, run.limit_s)
        for version in (heuristic(project), judge(project, priced), human(project))
        for run in [start(version, experiment)]
    }

    assert limits == {"Short": (None, 600), "Judge": (2.0, 600), "People": (None, None)}


def test_spending_is_not_limited_where_no_price_is_known(project, experiment, connection):
    RunDefaults.objects.create(project=project, limit_usd=2.0)

    assert start(judge(project, connection), experiment).limit_usd is None


def test_what_somebody_says_goes_before_them(project, experiment, priced):
    RunDefaults.objects.create(project=project, limit_usd=2.0, limit_s=600)

    run = start(judge(project, priced), experiment, asked=Asked(limit_usd=5.0, lifted=frozenset(["limit_s"])))

    assert (run.limit_usd, run.limit_s) == (5.0, None)


def test_a_run_that_exists_keeps_what_it_was_started_with(project, experiment):
    run = start(heuristic(project), experiment)
    RunDefaults.objects.create(project=project, limit_s=600)

    assert start(run.version, experiment).limit_s is None


def test_the_page_that_starts_a_run_is_filled_in_and_can_lift_them(as_alice, project, experiment):
    RunDefaults.objects.create(project=project, limit_usd=2.0, limit_s=600)
    short, other = heuristic(project), heuristic(project, "Other")
    url = reverse("run-start", args=[project.slug, experiment.pk])

    assert 'value="10.0"' in as_alice.get(url, {"version": short.pk}).content.decode()
    kept = {"take": "", "limit_usd": "2.0", "limit_minutes": "10.0", "priority": "0"}
    as_alice.post(url, {"version": short.pk} | kept)
    as_alice.post(url, {"version": other.pk} | kept | {"limit_minutes": "", "limit_usd": ""})

    assert Run.objects.get(version=short).limit_s == 600
    assert Run.objects.get(version=other).limit_s is None


def test_one_click_starts_within_them(as_alice, project, experiment):
    RunDefaults.objects.create(project=project, limit_s=600)
    short = heuristic(project)

    as_alice.post(reverse("run-start", args=[project.slug, experiment.pk]), {"version": short.pk})

    assert Run.objects.get(version=short).limit_s == 600


def test_evaluators_that_always_run_judge_a_new_experiment_unless_others_are_named(project, experiment, alice):
    always, other = heuristic(project), heuristic(project, "Other")
    RunDefaults.objects.create(project=project).evaluators.set([always.evaluator])
    version = experiment.dataset_version

    def opened(system, **more):
        made, _ = open_experiment(project, alice, system=system, version=version, client_key=None, **more)
        return [run.version for run in Run.objects.filter(experiment=made)]

    assert opened("one") == [always]
    assert opened("two", judges=[Judge(other)]) == [other]
    assert opened("three", judges=[]) == []


def test_what_is_archived_or_compares_never_runs_by_itself(project, alice):
    kind = get_kind("heuristic")
    pair = Evaluator.objects.create(project=project, name="Pair", kind="heuristic")
    pair.revise(kind.blank() | {"runs_on": "comparison"}, schema=kind.schema, author=None)
    archived = heuristic(project).evaluator
    archived.archive(alice)
    RunDefaults.objects.create(project=project).evaluators.set([pair, archived])

    assert always_in(project) == []
