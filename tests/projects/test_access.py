"""Who may open a project's pages."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import ApiToken, AuditEntry, Project, Scope


def test_the_signed_out_are_sent_to_sign_in(client, project):
    reply = client.get(reverse("project-home", args=[project.slug]))
    assert reply.url == f"{reverse('sign-in')}?next=/p/{project.slug}/"


def test_a_stranger_finds_nothing(client, charlie, project):
    client.force_login(charlie)
    assert client.get(reverse("project-home", args=[project.slug])).status_code == 404


def test_a_viewer_sees_but_may_not_issue_tokens(client, bob, project):
    client.force_login(bob)
    assert client.get(reverse("project-home", args=[project.slug])).status_code == 200
    assert client.get(reverse("token-list", args=[project.slug])).status_code == 403


def test_projects_get_slugs_of_their_own(alice, project):
    assert Project.start("Support", alice).slug == "support-2"
    assert Project.start("¿…?", alice).slug == "project"


@pytest.fixture
def issued(as_alice, project):
    page = as_alice.post(reverse("token-list", args=[project.slug]), {"name": "nightly", "scope": "1"})
    return page.context["secret"], ApiToken.objects.get()


def test_a_token_is_shown_once_and_stored_as_a_digest(as_alice, project, issued):
    secret, token = issued
    assert token.scope == Scope.READ
    assert secret not in str(ApiToken.objects.values().get())
    assert secret not in as_alice.get(reverse("token-list", args=[project.slug])).content.decode()
    assert AuditEntry.objects.filter(act="issued token", subject="nightly").exists()


def test_a_revoked_token_is_gone(as_alice, project, issued):
    _, token = issued
    as_alice.post(reverse("token-revoke", args=[project.slug, token.pk]))
    token.refresh_from_db()
    assert token.revoked_at is not None


def test_home_has_a_constant_number_of_queries(as_alice, alice, project, django_assert_max_num_queries):
    for number in range(20):
        AuditEntry.note(project, alice, "saved", f"evaluator {number}")
    with django_assert_max_num_queries(10):
        as_alice.get(reverse("project-home", args=[project.slug]))
