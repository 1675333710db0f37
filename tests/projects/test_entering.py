"""Signing in: with a password, with a link that works once, and out again."""

from datetime import timedelta

from django.urls import reverse
from django.utils import timezone

from evalstudio.projects import entry


def test_a_link_signs_in_once(client, alice, project):
    link = reverse("enter", args=[entry.one_time_token(alice)])
    assert client.get(link).url == reverse("home-root")
    assert client.get("/").url == reverse("project-home", args=[project.slug])
    client.logout()
    assert client.get(link).url == reverse("sign-in")
    assert "_auth_user_id" not in client.session


def test_any_other_sign_in_makes_the_link_void(client, alice, project):
    token = entry.one_time_token(alice)
    client.post(reverse("sign-in"), {"username": "alice", "password": "alice-password"})
    assert entry.user_of_token(token) is None


def test_a_link_is_void_after_a_day(alice, monkeypatch):
    token = entry.one_time_token(alice)
    later = (timezone.now() + timedelta(hours=25)).timestamp()
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    assert entry.user_of_token(token) is None


def test_a_forged_link_is_void(alice):
    assert entry.user_of_token(entry.one_time_token(alice) + "x") is None


def test_too_many_wrong_passwords_lock_the_name_out_for_a_while(client, alice, bob, settings):
    settings.AXES_ENABLED = True
    wrong = [client.post(reverse("sign-in"), {"username": "alice", "password": "x"}) for _ in range(10)]
    assert [reply.status_code for reply in wrong] == [200] * 9 + [429]
    right = client.post(reverse("sign-in"), {"username": "alice", "password": "alice-password"})
    assert right.status_code == 429
    assert "quarter of an hour" in right.content.decode()
    assert client.post(reverse("sign-in"), {"username": "bob", "password": "bob-password"}).status_code == 302


def test_signing_in_leads_nowhere_else(client, alice, project):
    for elsewhere in ("//evil.example", "https://evil.example/", "javascript:alert(1)", "/\\evil.example"):
        said = {"username": "alice", "password": "alice-password", "next": elsewhere}
        assert client.post(reverse("sign-in"), said).url == reverse("home-root")
        client.logout()


def test_sign_in_and_out(client, alice, project):
    reply = client.post(reverse("sign-in"), {"username": "alice", "password": "alice-password"})
    assert reply.url == reverse("home-root")
    assert client.post(reverse("sign-out")).url == reverse("sign-in")
    assert client.get("/").url == reverse("sign-in")


def test_a_wrong_password_says_so(client, alice):
    reply = client.post(reverse("sign-in"), {"username": "alice", "password": "wrong"})
    assert "No account has this name and password." in reply.content.decode()


def test_a_password_can_be_changed(as_alice, alice, project):
    said = {"old_password": "alice-password", "new_password1": "quite-new-4711", "new_password2": "quite-new-4711"}
    assert as_alice.post(reverse("password"), said).url == reverse("password-changed")
    alice.refresh_from_db()
    assert alice.check_password("quite-new-4711")
