"""Who may see results and who may run: a stranger finds nothing, a viewer sees, an editor acts."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import AuditEntry
from experiments.models import Evaluation, Run
from tests.experiments.judged import experiment_of, judged, version_of

pytestmark = pytest.mark.django_db

READ = (
    "home-results",
    "experiment-list",
    "experiment-page",
    "experiment-columns",
    "experiment-peek",
    "experiment-export",
    "evaluation-exchange",
    "evaluator-runs",
    "run-list",
    "running-badge",
    "run-page",
)
ACT = ("run-bound", "run-stop", "run-resume", "run-retry")


@pytest.fixture
def addresses(project):
    experiment = experiment_of(project, 2)
    run = judged(experiment, version_of(project, "Facts"), [0.5, 0.6])
    arguments = {
        "experiment-page": [experiment.pk],
        "experiment-columns": [experiment.pk],
        "experiment-peek": [experiment.pk, experiment.output_set.first().pk],
        "experiment-export": [experiment.pk, "csv"],
        "evaluation-exchange": [Evaluation.objects.first().pk],
        "evaluator-runs": [run.version.evaluator_id],
        "run-page": [run.pk],
        "run-bound": [run.pk],
        "run-stop": [run.pk],
        "run-resume": [run.pk],
        "run-retry": [run.pk],
    }
    return {name: reverse(name, args=[project.slug, *arguments.get(name, [])]) for name in (*READ, *ACT)}


@pytest.mark.parametrize("name", READ)
def test_a_viewer_may_see_it(client, bob, addresses, name):
    client.force_login(bob)
    assert client.get(addresses[name]).status_code == 200


@pytest.mark.parametrize("name", ACT)
def test_a_viewer_may_not_do_it(client, bob, addresses, name):
    client.force_login(bob)
    assert client.post(addresses[name]).status_code == 403
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("name", READ)
def test_a_stranger_finds_nothing(client, charlie, addresses, name):
    client.force_login(charlie)
    assert client.get(addresses[name]).status_code == 404


@pytest.mark.parametrize("name", ACT)
def test_a_stranger_can_do_nothing(client, charlie, addresses, name):
    client.force_login(charlie)
    assert client.post(addresses[name]).status_code == 404


@pytest.mark.parametrize("name", READ)
def test_the_signed_out_are_asked_to_sign_in(client, addresses, name):
    response = client.get(addresses[name])
    assert (response.status_code, response.url.startswith(reverse("sign-in"))) == (302, True)


@pytest.mark.parametrize("name", ACT)
def test_nothing_is_done_by_following_a_link(as_alice, addresses, name):
    assert as_alice.get(addresses[name]).status_code == 405


@pytest.mark.parametrize("name", READ)
def test_reading_takes_no_other_method(as_alice, addresses, name):
    assert as_alice.post(addresses[name]).status_code == 405


def test_a_viewer_is_offered_no_verbs(client, bob, addresses):
    client.force_login(bob)
    said = client.get(addresses["experiment-page"]).content.decode()
    assert "Add evaluator" not in said
    assert said.count('method="post"') == 1  # to sign out


@pytest.mark.parametrize("name", ["experiment-page", "run-page", "experiment-export", "run-list"])
def test_another_project_s_results_stay_there(as_alice, alice, addresses, name):
    from evalstudio.projects.models import Project

    other = Project.start("Other", alice)
    response = as_alice.get(addresses[name].replace("/support/", f"/{other.slug}/"))
    assert response.status_code == (200 if name == "run-list" else 404)
    assert Run.objects.count() == 1
    assert b"Facts" not in response.content
