"""Members, invitations and what each role sees: one link makes one member, and a project always keeps an owner."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evalstudio.projects.membership import LastOwner, accept, change_role, invitation_of, invite, remove
from evalstudio.projects.models import ApiToken, AuditEntry, Invitation, Membership, Role, Scope, User
from tests.browser_fixtures import axe_findings, overflow, sign_in

MEMBERS = "/p/support/settings/members/"


def role_in(project, user):
    """The role of a person in a project; None for strangers."""
    return Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()


def member_of(project, user):
    return Membership.objects.get(project=project, user=user)


def test_somebody_without_an_account_makes_one_and_joins(project, alice, client):
    _, secret = invite(project, alice, Role.EDITOR, "Mara")
    reply = client.post(f"/join/{secret}/", {"username": "mara", "password": "long enough 1"})
    assert reply.status_code == 302
    assert reply.url == "/p/support/"
    assert role_in(project, User.objects.get(username="mara")) == Role.EDITOR
    assert client.get(MEMBERS).status_code == 200


def test_somebody_with_an_account_joins_with_it(project, alice, charlie, client):
    _, secret = invite(project, alice, Role.VIEWER, "")
    page = client.get(f"/join/{secret}/").content.decode()
    assert f"/sign-in/?next=/join/{secret}/" in page
    client.force_login(charlie)
    client.post(f"/join/{secret}/")
    assert role_in(project, charlie) == Role.VIEWER


def test_a_link_works_once(project, alice, charlie, client):
    _, secret = invite(project, alice, Role.EDITOR, "Mara")
    client.post(f"/join/{secret}/", {"username": "mara", "password": "long enough 1"})
    late = Client()
    late.force_login(charlie)
    assert late.get(f"/join/{secret}/").status_code == 404
    assert late.post(f"/join/{secret}/").status_code == 404
    assert role_in(project, charlie) is None


def test_of_two_who_accept_at_once_one_gets_in(project, alice, bob, charlie):
    _, secret = invite(project, alice, Role.EDITOR, "")
    first, second = invitation_of(secret), invitation_of(secret)
    assert accept(first, charlie)
    assert not accept(second, bob)


@pytest.mark.parametrize("end", ["expired", "revoked", "forged"])
def test_an_ended_link_says_so(project, alice, client, end):
    invitation, secret = invite(project, alice, Role.EDITOR, "Mara")
    if end == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    if end == "revoked":
        owner = Client()
        owner.force_login(alice)
        owner.post(f"/p/support/settings/invitations/{invitation.pk}/revoke/")
    reply = client.get(f"/join/{secret if end != 'forged' else 'forged'}/")
    assert reply.status_code == 404
    assert b"This link has ended" in reply.content


def test_a_taken_name_is_refused_beside_its_field_and_the_link_still_works(project, alice, client):
    _, secret = invite(project, alice, Role.EDITOR, "")
    reply = client.post(f"/join/{secret}/", {"username": "alice", "password": "long enough 1"})
    assert reply.status_code == 422
    assert b"Somebody here has this name" in reply.content
    assert invitation_of(secret)


def test_an_invitation_never_lowers_a_role(project, alice, bob):
    invitation, _ = invite(project, alice, Role.VIEWER, "")
    change_role(member_of(project, bob), Role.EDITOR, alice)
    accept(invitation, bob)
    assert role_in(project, bob) == Role.EDITOR


def test_the_only_owner_stays_an_owner_and_stays(project, alice, bob):
    owner = member_of(project, alice)
    with pytest.raises(LastOwner):
        change_role(owner, Role.EDITOR, alice)
    with pytest.raises(LastOwner):
        remove(owner, alice)
    change_role(member_of(project, bob), Role.OWNER, alice)
    change_role(owner, Role.EDITOR, alice)
    assert role_in(project, alice) == Role.EDITOR


def test_who_is_removed_loses_access_and_tokens(project, alice, bob, client):
    token, secret = ApiToken.issue(project, bob, "nightly", Scope.READ)
    remove(member_of(project, bob), alice)
    token.refresh_from_db()
    assert token.revoked_at is not None
    reply = client.get("/api/projects/support/evaluators/", headers={"Authorization": f"Bearer {secret}"})
    assert reply.status_code == 401
    assert AuditEntry.objects.filter(act="removed", subject="bob").exists()


def test_a_member_may_leave_but_not_remove_others(project, alice, bob, client):
    client.force_login(bob)
    others = member_of(project, alice)
    assert client.post(f"{MEMBERS}{others.pk}/remove/").status_code == 403
    assert client.post(f"{MEMBERS}{member_of(project, bob).pk}/remove/").status_code == 302
    assert role_in(project, bob) is None


def test_the_link_of_an_invitation_is_shown_once_and_stored_nowhere(as_alice, project):
    page = as_alice.post(f"{MEMBERS}invite/", {"note": "Mara", "role": "3"}).content.decode()
    secret = page.split("/join/")[1].split("/")[0]
    assert invitation_of(secret).note == "Mara"
    assert secret not in as_alice.get(MEMBERS).content.decode()
    assert not Invitation.objects.filter(digest=secret).exists()


def test_a_reviewer_is_shown_the_review_and_nothing_else(project, charlie, client):
    Membership.objects.create(project=project, user=charlie, role=Role.REVIEWER)
    client.force_login(charlie)
    assert client.get("/p/support/").url == "/p/support/review/"
    assert client.get("/p/support/experiments/").status_code == 403
    page = client.get("/p/support/review/").content.decode()
    assert "/p/support/experiments/" not in page


def test_members_cost_the_same_however_many_they_are(as_alice, project, django_assert_max_num_queries):
    for number in range(40):
        user = User.objects.create_user(f"person-{number}")
        Membership.objects.create(project=project, user=user, role=Role.EDITOR)
    with django_assert_max_num_queries(8):
        as_alice.get(MEMBERS)


def test_the_api_does_what_the_pages_do(as_alice, project, bob, client):
    base = "/api/projects/support/"
    bobs = member_of(project, bob)
    listed = as_alice.get(f"{base}members/").json()["results"]
    assert [(one["name"], one["role"]) for one in listed] == [("alice", "owner"), ("bob", "viewer")]
    changed = as_alice.patch(f"{base}members/{bobs.pk}/", {"role": "editor"}, content_type="application/json")
    assert changed.json()["role"] == "editor"
    refused = as_alice.patch(f"{base}members/{bobs.pk}/", {"role": "king"}, content_type="application/json")
    assert refused.status_code == 400
    own = as_alice.patch(f"{base}members/{listed[0]['id']}/", {"role": "viewer"}, content_type="application/json")
    assert "only owner" in str(own.json())
    made = as_alice.post(f"{base}invitations/", {"role": "reviewer", "note": "Mara"}, content_type="application/json")
    assert made.status_code == 201
    assert Client().get(made.json()["path"]).status_code == 200
    assert as_alice.delete(f"{base}members/{bobs.pk}/").status_code == 204
    assert role_in(project, bob) is None


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 1440])
def test_the_pages_of_people_pass_axe_and_fit(page, live_server, project, alice, width):
    sign_in(page, live_server, alice)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{live_server.url}{MEMBERS}")
    page.get_by_label("For whom").fill("Mara")
    page.get_by_role("button", name="Make link").click()
    assert page.locator("#join-link").inner_text().startswith(f"{live_server.url}/join/")
    for path in (None, "/p/support/settings/audit/", f"/join/{invite(project, alice, Role.VIEWER, '')[1]}/"):
        if path:
            page.goto(f"{live_server.url}{path}")
        assert axe_findings(page) == []
        assert overflow(page) == 0
