"""An empty installation makes its first account, once."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import Membership, Project, Role, User

FIRST = {"username": "mara", "password": "long enough 42", "project": "Parcel tracker"}


@pytest.fixture
def first_account(client, db):
    client.post(reverse("setup"), FIRST)
    return User.objects.get()


def test_the_root_leads_to_the_first_run(client, db):
    assert client.get("/").url == reverse("setup")


def test_sign_in_leads_to_the_first_run_while_there_is_no_account(client, db):
    assert client.get(reverse("sign-in")).url == reverse("setup")


def test_it_makes_the_owner_and_the_project_and_signs_in(client, first_account):
    project = Project.objects.get()
    assert (project.name, project.slug) == ("Parcel tracker", "parcel-tracker")
    assert Membership.objects.get(project=project, user=first_account).role == Role.OWNER
    assert client.get("/").url == reverse("project-home", args=["parcel-tracker"])


def test_a_weak_password_is_refused_beside_its_field_and_nothing_typed_is_lost(client, db):
    reply = client.post(reverse("setup"), FIRST | {"password": "12345678"})
    assert reply.status_code == 422
    assert "password" in reply.context["form"].errors
    assert 'value="Parcel tracker"' in reply.content.decode()
    assert not User.objects.exists()


def test_there_is_no_second_first_account(client, first_account):
    client.logout()
    reply = client.post(reverse("setup"), FIRST | {"username": "eve"})
    assert reply.status_code == 302
    assert User.objects.count() == 1
