"""Options and limits of runs on pages and over the API."""

import json
import re

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import ApiToken, Scope
from evaluators.core import Status
from experiments.ledger.asked import Asked
from experiments.ledger.start import start
from experiments.models import Case, Evaluation, Priority, Run, RunState, StopReason
from tests.experiments.judged import experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture
def experiment(project):
    return experiment_of(project, 6)


@pytest.fixture
def version(project):
    return version_of(project, "Facts")


@pytest.fixture
def send(as_alice, project, experiment, version):
    url = reverse("run-start", args=[project.slug, experiment.pk])
    return lambda **typed: as_alice.post(url, {"version": version.pk, **typed})


@pytest.fixture
def spent(experiment, version, alice):
    """A run that has come to its limit."""
    run = start(version, experiment, alice, asked=Asked(limit_usd=2))
    Run.objects.update(state=RunState.STOPPED, stop_reason=StopReason.SPEND, spent_usd=2.25)
    return run


def test_options_are_folded_away_beside_the_one_click(as_alice, experiment, version):
    said = text_of(as_alice.get(experiment.get_absolute_url()))
    assert "Options</summary>" in said
    assert "Run over 6 outputs" in said
    assert 'name="limit_usd"' in said
    assert 'name="split"' not in said, "its cases have no splits"


def test_a_run_starts_with_the_options_that_were_typed(send):
    typed = {"take": "random", "n": "3", "seed": "7", "repeats": "2", "scores_only": "on", "priority": "1"}
    assert send(**typed, limit_minutes="1.5").status_code == 302
    run = Run.objects.get()
    assert run.selection == {"take": "random", "n": 3, "seed": 7}
    assert (run.repeats, run.keeps_details, run.priority, run.limit_s) == (2, False, Priority.HIGH, 90)
    assert Evaluation.objects.count() == 6


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"take": "first"}, "Say how many outputs to judge."),
        ({"take": "random", "n": "0"}, "Give a whole number from 1 to 10,000."),
        ({"repeats": "21"}, "Give a whole number from 1 to 20."),
        ({"limit_usd": "much"}, "Give an amount up to 1,000,000."),
        ({"limit_minutes": "-1"}, "Give minutes up to 43,200."),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_nothing_typed_is_lost(send, typed, said):
    response = send(**typed, seed="77")
    assert response.status_code == 422
    assert said in text_of(response)
    assert 'value="77"' in text_of(response)
    assert not Run.objects.exists()


def test_a_split_is_offered_where_cases_have_one(as_alice, project, experiment, version, send):
    Case.objects.filter(key__in=["case-001", "case-002"]).update(split="test")
    assert '<option value="test">' in text_of(as_alice.get(experiment.get_absolute_url()))
    send(take="split", split="test")
    assert Run.objects.get().selection == {"take": "split", "split": "test"}
    assert Evaluation.objects.count() == 2
    assert "Choose a split: test." in text_of(send(take="split", split="other"))


def test_a_run_is_run_again_with_its_options_filled_in(as_alice, project, experiment, version, send):
    send(take="first", n="2", repeats="3")
    run = Run.objects.get()
    page = text_of(as_alice.get(run.get_absolute_url()))
    link = re.search(r'href="([^"]*)">[^<]*<svg[^>]*>.{0,200}?</svg>Run again', page)
    assert link, page
    form = text_of(as_alice.get(link[1].replace("&amp;", "&")))
    assert "It has run here, over the first 2." in form
    assert 'value="3"' in form
    send(take="first", n="2", repeats="3", again="on")
    assert [each.is_current for each in Run.objects.order_by("pk")] == [False, True]


def test_a_run_that_was_replaced_stays_readable(as_alice, experiment, version, send):
    former = judged(experiment, version, [0.125] * 6)
    send(again="on")
    assert "12.5 %" not in text_of(as_alice.get(experiment.get_absolute_url()))
    former.refresh_from_db()
    page = text_of(as_alice.get(former.results_url))
    assert "12.5 %" in page
    assert ">replaced</span>" in page


def test_what_a_run_lacks_is_judged_with_its_own_options(as_alice, project, experiment, version, send):
    send(repeats="2")
    run = Run.objects.get()
    Evaluation.objects.update(state=Status.SCORED, score=1, settled_at=timezone.now())
    Run.objects.update(state=RunState.FINISHED)
    from tests.experiments.judged import add_case, add_output

    add_output(experiment, add_case(experiment.dataset_version.dataset, "late", 9))
    page = text_of(as_alice.get(experiment.get_absolute_url()))
    assert "Outputs came after this run." in page
    send(like=run.pk)
    assert Run.objects.get().evaluation_set.count() == 14


# --- Limits -----------------------------------------------------------------------------------------------------------
def test_a_run_at_its_limit_says_so_and_goes_on_when_it_is_raised(as_alice, project, spent):
    page = text_of(as_alice.get(spent.get_absolute_url()))
    assert "It may spend $2.00, and has spent $2.25. It goes on when its limit is raised." in page
    assert "Raise the limit" in page
    assert ">Resume<" not in page
    url = reverse("run-bound", args=[project.slug, spent.pk])
    refused = as_alice.post(url, {"limit_usd": "2.1", "priority": "0"})
    assert refused.status_code == 422
    assert "It may spend $2.10" in text_of(refused)
    assert as_alice.post(url, {"limit_usd": "5", "priority": "1"}).status_code == 302
    spent.refresh_from_db()
    assert (spent.state, spent.stop_reason, spent.limit_usd, spent.priority) == (RunState.ACTIVE, "", 5.0, 1)


def test_a_limit_is_lifted_by_leaving_its_field_empty(as_alice, project, spent):
    as_alice.post(reverse("run-bound", args=[project.slug, spent.pk]), {"limit_usd": "", "priority": "0"})
    spent.refresh_from_db()
    assert (spent.state, spent.limit_usd) == (RunState.ACTIVE, None)


def test_a_resumption_beyond_the_limit_is_refused_with_the_reason(as_alice, project, spent):
    response = as_alice.post(reverse("run-resume", args=[project.slug, spent.pk]), follow=True)
    assert "It may spend $2.00, and has spent $2.25." in text_of(response)
    spent.refresh_from_db()
    assert spent.state == RunState.STOPPED


def test_the_overshoot_is_said(as_alice, project, experiment, version):
    run = judged(experiment, version, ["pending"] * 6, state=RunState.ACTIVE, connection=rehearsal_of(project))
    said = text_of(as_alice.get(run.get_absolute_url()))
    assert "What is in flight when it reaches its limit still lands and is paid: at most 16 calls." in said


def test_only_what_failed_can_be_asked_again(as_alice, project, experiment, version):
    run = judged(experiment, version, [0.5, "unscored: unparsed", "failed: time limit", 1.0])
    assert "Only 1 failed" in text_of(as_alice.get(run.get_absolute_url()))
    as_alice.post(reverse("run-retry", args=[project.slug, run.pk]), {"only": "failed"})
    assert Evaluation.objects.filter(run=run, state=Status.PENDING).count() == 1


def test_the_list_says_of_every_run_what_waits_and_why(as_alice, project, spent, experiment):
    start(version_of(project, "Tone"), experiment)
    said = text_of(as_alice.get(reverse("run-list", args=[project.slug])))
    assert "<b>6</b> rows: It may spend $2.00" in said
    assert "<b>6</b> rows: A worker has been called" in said or "<b>6</b> rows: No worker is at it" in said


# --- The API ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def call(client, alice, project):
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def call(method, path, data):
        headers = {"Authorization": f"Bearer {secret}"}
        url = f"/api/projects/{project.slug}/{path}"
        return getattr(client, method)(url, json.dumps(data), content_type="application/json", headers=headers)

    return call


def test_the_api_takes_the_same_options(call, experiment, version):
    wanted = {"take": "first", "n": 2, "repeats": 3, "priority": "high", "limit_minutes": 2}
    reply = call("post", "runs/", {"version": version.pk, "experiment": experiment.pk, **wanted})
    assert reply.status_code == 201, reply.json()
    told = reply.json()
    assert told["selection"] == {"take": "first", "n": 2}
    assert (told["repeats"], told["priority"], told["limit_s"], told["stop_reason"]) == (3, "high", 120, "")
    assert told["counts"]["pending"] == 6


def test_the_api_names_a_wrong_option(call, experiment, version):
    reply = call("post", "runs/", {"version": version.pk, "experiment": experiment.pk, "take": "random"})
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"] == "n"


def test_the_api_raises_limits_and_refuses_what_cannot_go_on(call, spent):
    assert call("post", f"runs/{spent.pk}/resume/", {}).status_code == 409
    assert call("patch", f"runs/{spent.pk}/", {"limit_usd": 1}).status_code == 409
    reply = call("patch", f"runs/{spent.pk}/", {"limit_usd": 9, "priority": "low"})
    assert (reply.json()["state"], reply.json()["priority"]) == ("active", "low")
