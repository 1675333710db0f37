"""Pages of connections: who may do what, what a form refuses, what is kept, and that a key is never shown."""

import pytest
from django.db import connection as database
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evalstudio.calls.models import REHEARSAL_URL, Connection, ModelTraits
from evalstudio.projects.models import AuditEntry, Membership, Project, Role
from tests.local_chat_server import refused

KEY = "sk-very-secret"


@pytest.fixture
def connection(project, chat_server):
    connection = Connection(project=project, name="Local", base_url=chat_server.url, model="tiny", max_in_flight=4)
    connection.key = KEY
    connection.save()
    return connection


def address(name, project, *more):
    return reverse(name, args=[project.slug, *more])


def typed(chat_server, **changes):
    fields = {"name": "Local", "base_url": chat_server.url, "model": "tiny", "max_in_flight": "8"}
    return {name: value for name, value in {**fields, **changes}.items() if value is not None}


def as_htmx(client, url, data):
    return client.post(url, data, headers={"HX-Request": "true"})


# --- who may ----------------------------------------------------------------------------------------------------------
def test_every_member_sees_the_list_and_only_owners_change_it(client, project, connection, bob, charlie):
    new = ["connection-new", "connection-rehearsal", "connection-test"]
    own = ["connection-edit", "connection-test", "connection-archive", "connection-restore"]
    urls = [address(name, project) for name in new] + [address(name, project, connection.pk) for name in own]

    def statuses(user):
        client.force_login(user)
        listed = client.get(address("connection-list", project)).status_code
        return [listed, *(client.post(url).status_code for url in urls)]

    assert statuses(bob) == [200] + [403] * 7
    Membership.objects.filter(user=bob).update(role=Role.EDITOR)
    assert statuses(bob) == [200] + [403] * 7
    assert statuses(charlie) == [404] * 8
    client.logout()
    assert [client.post(url).status_code for url in urls] == [302] * 7


def test_a_connection_of_another_project_is_not_there(as_alice, alice, connection):
    other = Project.start("Other", alice)
    assert as_alice.get(address("connection-edit", other, connection.pk)).status_code == 404
    assert as_alice.post(address("connection-archive", other, connection.pk)).status_code == 404


# --- the list ---------------------------------------------------------------------------------------------------------
def test_an_empty_list_says_what_to_do(as_alice, project):
    page = as_alice.get(address("connection-list", project)).content.decode()
    assert "No connection yet" in page
    assert "Add the rehearsal" in page


def test_the_list_takes_the_same_queries_for_one_and_for_many(as_alice, project, connection):
    def count():
        with CaptureQueriesContext(database) as queries:
            assert as_alice.get(address("connection-list", project)).status_code == 200
        return len(queries)

    few = count()
    for number in range(20):
        other = Connection.objects.create(project=project, name=f"C{number}", base_url="http://x/v1", model="tiny")
        ModelTraits.remember(other.pk, "tiny", {"left_out": ["seed"]})
    assert count() == few <= 12


def test_the_rehearsal_is_one_click_away_and_named_for_what_it_is(as_alice, project, alice):
    for _ in range(2):
        as_alice.post(address("connection-rehearsal", project))
    rehearsal = Connection.objects.get(project=project)
    assert rehearsal.base_url == REHEARSAL_URL
    assert "no language model" in as_alice.get(address("connection-list", project)).content.decode()
    assert list(AuditEntry.objects.values_list("actor", "act", "subject")) == [
        (alice.pk, "added connection", "Rehearsal (no language model)")
    ]


def test_an_archived_rehearsal_comes_back(as_alice, project):
    as_alice.post(address("connection-rehearsal", project))
    rehearsal = Connection.objects.get()
    as_alice.post(address("connection-archive", project, rehearsal.pk))
    as_alice.post(address("connection-rehearsal", project))
    rehearsal.refresh_from_db()
    assert not rehearsal.is_archived
    assert Connection.objects.count() == 1


def test_the_address_of_the_rehearsal_cannot_be_changed(as_alice, project):
    as_alice.post(address("connection-rehearsal", project))
    rehearsal = Connection.objects.get()
    answer = as_alice.post(
        address("connection-edit", project, rehearsal.pk),
        {"name": "Practice", "max_in_flight": "5", "base_url": "http://127.0.0.1/v1", "key": "sk-1"},
    )
    rehearsal.refresh_from_db()
    assert answer.status_code == 302
    assert (rehearsal.name, rehearsal.max_in_flight, rehearsal.base_url, rehearsal.key) == (
        "Practice", 5, REHEARSAL_URL, "",
    )  # fmt: skip


# --- adding and changing ----------------------------------------------------------------------------------------------
def test_a_connection_is_added(as_alice, project, alice, chat_server):
    answer = as_alice.post(
        address("connection-new", project),
        typed(chat_server, key=KEY, requests_per_minute="600", usd_per_million_in="0.15", usd_per_million_out="0.6"),
    )
    assert answer.status_code == 302
    connection = Connection.objects.get(project=project)
    assert (connection.name, connection.key, connection.max_in_flight, connection.requests_per_minute) == (
        "Local", KEY, 8, 600,
    )  # fmt: skip
    assert KEY not in connection.key_encrypted
    assert AuditEntry.objects.get().act == "added connection"
    assert AuditEntry.objects.get().actor == alice


def test_the_form_starts_from_the_environment(as_alice, project, settings):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "http://127.0.0.1:9001/v1/", KEY
    page = as_alice.get(address("connection-new", project)).content.decode()
    assert 'value="http://127.0.0.1:9001/v1"' in page
    assert 'name="max_in_flight" value="16"' in page
    assert "the key from OPENAI_API_KEY" in page
    assert KEY not in page


def test_the_key_of_the_environment_goes_to_its_own_address_only(as_alice, project, settings, chat_server):
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = chat_server.url, KEY
    as_alice.post(address("connection-new", project), typed(chat_server))
    as_alice.post(
        address("connection-new", project), typed(chat_server, name="Other", base_url="https://example.org/v1")
    )
    assert {connection.name: connection.key for connection in Connection.objects.all()} == {"Local": KEY, "Other": ""}


@pytest.mark.parametrize(
    ("typed_url", "kept"),
    [
        (" https://api.example.org/v1/ ", "https://api.example.org/v1"),
        ("https://api.example.org/v1/chat/completions", "https://api.example.org/v1"),
        ("http://127.0.0.1:11434/v1//", "http://127.0.0.1:11434/v1"),
    ],
)
def test_an_address_is_kept_without_what_belongs_to_single_requests(as_alice, project, chat_server, typed_url, kept):
    as_alice.post(address("connection-new", project), typed(chat_server, base_url=typed_url))
    assert Connection.objects.get().base_url == kept


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"name": ""}, "This field is required."),
        ({"base_url": "rehearsal:"}, "An address starts with http:// or https://."),
        ({"base_url": "ftp://example.org"}, "An address starts with http:// or https://."),
        ({"base_url": "http://169.254.169.254/v1"}, "no request may go to"),
        ({"base_url": "https://me:pw@example.org/v1"}, "must not hold a user name"),
        ({"max_in_flight": "0"}, "greater than or equal to 1"),
        ({"requests_per_minute": "-5"}, "greater than or equal to 1"),
        ({"usd_per_million_in": "1"}, "A cost needs both prices."),
        ({"usd_per_million_in": "x", "usd_per_million_out": "1"}, "Enter a number."),
    ],
)
def test_what_cannot_be_is_said_beside_its_field(as_alice, project, chat_server, changes, sentence):
    answer = as_alice.post(address("connection-new", project), typed(chat_server, **changes))
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not Connection.objects.exists()


def test_private_addresses_need_the_setting(as_alice, project, chat_server, settings):
    settings.CONNECTIONS_MAY_BE_PRIVATE = False
    answer = as_alice.post(address("connection-new", project), typed(chat_server))
    assert answer.status_code == 422
    assert "lies on this machine or a private network" in answer.content.decode()


def test_a_name_is_taken_once_also_by_what_is_archived(as_alice, project, connection, chat_server, alice):
    page = as_alice.post(address("connection-new", project), typed(chat_server)).content.decode()
    assert "Local is the name of another connection here." in page
    connection.archive(alice)
    page = as_alice.post(address("connection-new", project), typed(chat_server)).content.decode()
    assert "Local is the name of an archived connection here." in page


def test_a_key_is_write_only(as_alice, project, connection, chat_server):
    edit = address("connection-edit", project, connection.pk)
    page = as_alice.get(edit).content.decode()
    assert "A key is stored." in page
    assert KEY not in page
    as_alice.post(edit, typed(chat_server, name="Renamed"))
    connection.refresh_from_db()
    assert (connection.name, connection.key) == ("Renamed", KEY)
    as_alice.post(edit, typed(chat_server, key="sk-new"))
    connection.refresh_from_db()
    assert connection.key == "sk-new"
    as_alice.post(edit, typed(chat_server, forget_key="on"))
    connection.refresh_from_db()
    assert connection.key_encrypted == ""


def test_a_key_that_was_typed_is_not_echoed(as_alice, project, chat_server):
    answer = as_alice.post(address("connection-new", project), typed(chat_server, name="", key=KEY))
    assert KEY not in answer.content.decode()


@pytest.mark.parametrize("name", ["connection-edit", "connection-test"])
def test_a_stored_key_never_goes_to_another_address(as_alice, project, connection, chat_server, name):
    url = chat_server.url.replace("127.0.0.1", "localhost")
    answer = as_alice.post(address(name, project, connection.pk), typed(chat_server, base_url=url))
    assert answer.status_code == 422
    assert "Type its key" in answer.content.decode()
    assert chat_server.calls == 0


def test_another_address_forgets_what_was_learned_of_the_former(as_alice, project, connection, chat_server):
    ModelTraits.remember(connection.pk, "tiny", {"left_out": ["seed"]})
    Connection.objects.update(ceiling=2.0, blocked_why="busy")
    edit = address("connection-edit", project, connection.pk)
    as_alice.post(edit, typed(chat_server))
    assert ModelTraits.objects.count() == 1
    as_alice.post(edit, typed(chat_server, base_url="http://localhost:9/v1", key="sk-new"))
    connection.refresh_from_db()
    assert (connection.ceiling, connection.blocked_why, ModelTraits.objects.count()) == (None, "", 0)


def test_archiving_and_restoring(as_alice, project, connection):
    as_alice.post(address("connection-archive", project, connection.pk))
    connection.refresh_from_db()
    assert connection.is_archived
    page = as_alice.get(address("connection-list", project)).content.decode()
    assert "Archived" in page
    as_alice.post(address("connection-restore", project, connection.pk))
    connection.refresh_from_db()
    assert not connection.is_archived
    assert list(AuditEntry.objects.order_by("pk").values_list("act", flat=True)) == [
        "archived connection", "restored connection",
    ]  # fmt: skip


# --- testing ----------------------------------------------------------------------------------------------------------
def test_what_is_typed_is_tested_before_it_is_saved(as_alice, project, chat_server):
    chat_server.key = KEY
    answer = as_htmx(as_alice, address("connection-test", project), typed(chat_server, key=KEY))
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "It works." in page
    assert "<html" not in page
    assert KEY not in page
    assert not Connection.objects.exists()


def test_a_test_uses_the_stored_key(as_alice, project, connection, chat_server):
    chat_server.key = KEY
    answer = as_htmx(as_alice, address("connection-test", project, connection.pk), typed(chat_server))
    assert "It works." in answer.content.decode()


def test_a_wrong_key_is_said(as_alice, project, chat_server):
    chat_server.key = "another"
    page = as_htmx(as_alice, address("connection-test", project), typed(chat_server, key=KEY)).content.decode()
    assert "The key is wrong." in page


def test_an_unknown_model_offers_the_nearest(as_alice, project, chat_server):
    chat_server.models = ["tiny-2", "<b>bold</b>"]
    page = as_htmx(as_alice, address("connection-test", project), typed(chat_server)).content.decode()
    assert "It does not know tiny." in page
    assert 'data-fix-to="tiny-2"' in page
    assert "<b>bold" not in page


def test_what_a_test_finds_is_remembered_for_a_saved_connection(as_alice, project, connection, chat_server):
    chat_server.refuses = {"temperature"}
    page = as_htmx(as_alice, address("connection-test", project, connection.pk), typed(chat_server)).content.decode()
    assert page.count("Sent without temperature.") == 2  # the outcome, and the panel of known models
    assert ModelTraits.objects.get().left_out == ["temperature"]
    assert 'name="found"' not in page


def test_what_a_test_finds_is_remembered_when_a_new_connection_is_saved(as_alice, project, chat_server):
    chat_server.refuses = {"seed"}
    answer = as_htmx(as_alice, address("connection-test", project), typed(chat_server))
    found = answer.context["found"]
    as_alice.post(address("connection-new", project), typed(chat_server, found=found))
    assert ModelTraits.objects.get().left_out == ["seed"]
    as_alice.post(address("connection-new", project), typed(chat_server, name="Other", model="big", found=found))
    as_alice.post(address("connection-new", project), typed(chat_server, name="Forged", found=f"{found}x"))
    assert ModelTraits.objects.count() == 1


def test_a_form_with_errors_is_not_tested(as_alice, project, chat_server):
    answer = as_htmx(as_alice, address("connection-test", project), typed(chat_server, model=""))
    assert answer.status_code == 422
    assert "<b>Default model</b>: This field is required." in answer.content.decode()
    assert chat_server.calls == 0


def test_without_javascript_the_outcome_stands_on_the_form(as_alice, project, chat_server):
    page = as_alice.post(address("connection-test", project), typed(chat_server, name="My server")).content.decode()
    assert "<html" in page
    assert "It works." in page
    assert 'value="My server"' in page


def test_foreign_words_are_escaped(as_alice, project, chat_server):
    chat_server.then(refused(400, "<script>alert(1)</script>"))
    page = as_htmx(as_alice, address("connection-test", project), typed(chat_server)).content.decode()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
