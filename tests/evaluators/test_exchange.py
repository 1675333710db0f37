"""Evaluators leave as one file and come back as they were; files from strangers do no harm."""

import copy
import json
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evalstudio.calls.models import Connection
from evalstudio.projects.models import Membership, Project, Role, User
from evaluators.arriving import arrival, bring, free_name
from evaluators.exchange import MOST_BYTES, NotAnExport, exported, read, told_by
from evaluators.kinds import KINDS
from evaluators.models import Evaluator, GoldenCase, Publication, PublishingRule, Scale
from tests.evaluators.golden_stage import YES_NO, four_cases, heuristic_config, judge_config, version_of

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
STORED = Path(__file__).parent / "stored_configs"


@pytest.fixture
def elsewhere(alice):
    return Project.start("Elsewhere", alice)


@pytest.fixture
def connection(project):
    return Connection.objects.create(project=project, name="Local", base_url="http://localhost:9/v1", model="tiny")


@pytest.fixture
def told(project, alice):
    """The export of a small heuristic with two versions and four golden cases, as parsed JSON."""
    version = version_of(project, "Short", heuristic_config())
    version.evaluator.revise(heuristic_config(threshold=0.7), schema=2, author=alice, note="Stricter")
    four_cases(version.evaluator)
    return json.loads(json.dumps(exported(version.evaluator)))


def moved(evaluator, project, user, **choices):
    """The evaluator in another project, by way of a file."""
    come = arrival(read(json.dumps(exported(evaluator)).encode()), project, **choices)
    assert come.faults == ()
    return bring(come, user)


@pytest.mark.parametrize("key", KINDS)
def test_an_evaluator_of_every_kind_comes_back_as_it_was(project, elsewhere, alice, connection, key):
    kind = KINDS[key]
    stored = json.loads((STORED / f"{key}-{kind.schema}.json").read_text())
    stored |= {"connection_id": connection.pk, "model": "tiny"} if "connection_id" in stored else {}
    stored |= {"scale": None} if stored.get("scale") else {}
    fields = kind.form.from_config(stored, project)
    assert fields.is_valid(), fields.errors
    before = version_of(project, "Moved", fields.to_config(), key)
    there = Connection.objects.create(project=elsewhere, name="Local", base_url="http://localhost:9/v1", model="tiny")
    after = moved(before.evaluator, elsewhere, alice).versions.get()
    known = before.config | ({"connection_id": there.pk} if before.config.get("connection_id") else {})
    assert after.config == known
    assert (after.number, after.note, after.created_at) == (before.number, before.note, before.created_at)


def test_every_version_keeps_number_note_author_and_time(project, elsewhere, alice, told):
    mara = User.objects.create_user("mara")
    Membership.objects.create(project=project, user=mara, role=Role.EDITOR)
    evaluator = Evaluator.objects.get()
    evaluator.revise(heuristic_config(threshold=0.8), schema=2, author=mara, note="Stricter still")
    after = moved(evaluator, elsewhere, alice)
    rows = after.versions.order_by("number").values_list("number", "author__username", "note", "config__threshold")
    assert list(rows) == [
        (1, None, "", 0.5),
        (2, "alice", "Stricter", 0.7),
        (3, None, "Stricter still (by mara)", 0.8),
    ]
    times = [list(one.versions.order_by("number").values_list("created_at", flat=True)) for one in (evaluator, after)]
    assert times[0] == times[1]
    assert after.published_version.number == 3
    assert Publication.objects.filter(version__evaluator=after).count() == 3


def test_golden_cases_come_along(elsewhere, alice, told):
    after = bring(arrival(told_by(told), elsewhere), alice)
    rows = list(after.golden_cases.order_by("pk").values_list("title", "must", "sample", "digest"))
    before = GoldenCase.objects.exclude(evaluator=after).order_by("pk")
    assert rows == list(before.values_list("title", "must", "sample", "digest"))


def test_the_file_holds_no_id_and_no_key(project, connection, alice):
    connection.key = "sk-secret"
    connection.save()
    scale = Scale.objects.create(project=project, name="Truth", scoring=YES_NO)
    version = version_of(project, "Right", judge_config(connection, scale=scale.frozen()), "judge")
    text = json.dumps(exported(version.evaluator))
    assert "sk-secret" not in text
    assert "connection_id" not in text
    assert '"id"' not in text
    assert '"connection": "Local"' in text


def test_a_scale_comes_by_name_with_its_frozen_scoring(project, elsewhere, connection, alice):
    scale = Scale.objects.create(project=project, name="Truth", description="Is it so?", scoring=YES_NO)
    version = version_of(project, "Right", judge_config(connection, scale=scale.frozen()), "judge")
    Connection.objects.create(project=elsewhere, name="Local", base_url="http://localhost:9/v1", model="tiny")
    config = moved(version.evaluator, elsewhere, alice).versions.get().config
    made = Scale.objects.get(project=elsewhere)
    assert config["scale"] == {"id": made.pk, "name": "Truth", "description": "Is it so?"}
    assert (made.scoring, config["scoring"]) == (version.config["scoring"], version.config["scoring"])


def test_another_scale_of_that_name_stays_and_versions_keep_theirs(project, elsewhere, connection, alice):
    scale = Scale.objects.create(project=project, name="Truth", scoring=YES_NO)
    version = version_of(project, "Right", judge_config(connection, scale=scale.frozen()), "judge")
    Connection.objects.create(project=elsewhere, name="Local", base_url="http://localhost:9/v1", model="tiny")
    Scale.objects.create(project=elsewhere, name="Truth", scoring={"type": "percentage"})
    come = arrival(read(json.dumps(exported(version.evaluator)).encode()), elsewhere)
    assert come.notices == (
        "The scale “Truth” is another here. The versions keep theirs; a new version takes this one.",
    )
    assert bring(come, alice).versions.get().config["scoring"]["type"] == "enum"


def test_a_connection_that_is_not_here_is_asked_for(project, elsewhere, connection, alice):
    version = version_of(project, "Right", judge_config(connection), "judge")
    incoming = read(json.dumps(exported(version.evaluator)).encode())
    come = arrival(incoming, elsewhere)
    assert come.faults == ("Choose a connection to take the place of “Local”.",)
    assert arrival(incoming, elsewhere, chosen={"Local": connection.pk}).faults == come.faults, "of another project"
    other = Connection.objects.create(project=elsewhere, name="Other", base_url="http://localhost:9/v1", model="big")
    come = arrival(incoming, elsewhere, chosen={"Local": other.pk})
    config = bring(come, alice).versions.get().config
    assert (config["connection_id"], config["model"]) == (other.pk, "tiny")


def test_a_name_that_is_taken_asks_for_another(project, told):
    come = arrival(told_by(told), project)
    assert come.faults == ("This project has an evaluator “Short” already. “Short 2” is free.",)
    assert arrival(told_by(told), project, name=free_name(project, "Short")).faults == ()


def test_nothing_comes_published_where_the_project_has_a_gate(elsewhere, alice, told):
    PublishingRule.objects.create(project=elsewhere, min_agreement=0.9)
    come = arrival(told_by(told), elsewhere)
    assert come.notices == ("No version comes published: this project asks for golden cases before.",)
    assert bring(come, alice).published_version is None


def test_what_was_never_published_comes_so(elsewhere, alice, told):
    told["versions"][1]["published"] = False
    told["published_version"] = 1
    after = bring(arrival(told_by(told), elsewhere), alice)
    assert after.published_version.number == 1
    assert Publication.objects.filter(version__evaluator=after).count() == 1


# --- Files that do not fit --------------------------------------------------------------------------------------------
def test_an_unknown_kind_and_a_newer_schema_are_named(elsewhere, told):
    assert "There is no kind “oracle”" in arrival(told_by(told | {"kind": "oracle"}), elsewhere).faults[0]
    told["versions"][1]["schema"] = 99
    assert arrival(told_by(told), elsewhere).faults == (
        "Version 2 was made by a newer EvalStudio. Bring this one up to date first.",
    )


def test_a_version_that_could_not_be_saved_here_says_which_and_why(elsewhere, told):
    told["versions"][0]["config"]["code"] = "function {"
    told["versions"][1]["config"]["threshold"] = 7
    first, second = arrival(told_by(told), elsewhere).faults
    assert first.startswith("v1: code: ")
    assert second.startswith("v2: threshold: ")


@pytest.mark.parametrize(
    "config",
    [{}, {"code": []}, {"scoring": "stars"}, {"scoring": {"type": "enum", "options": "x"}}, {"threshold": "x"},
     {"seed": {"a": 1}}, {"threshold": 1e308}, {"scale": {"name": ["x"]}}, {"scale": "x"}, {"direction": None}],
    ids=str,
)  # fmt: skip
def test_a_configuration_of_another_shape_never_comes_in(elsewhere, told, config):
    told["versions"][0]["config"] = {**told["versions"][0]["config"], **config} if config else {}
    assert arrival(told_by(told), elsewhere).faults


def test_what_the_form_does_not_know_is_left_behind(elsewhere, alice, told):
    told["versions"][0]["config"] |= {"connection_id": 1, "evil": "x" * 1000}
    after = bring(arrival(told_by(told), elsewhere), alice)
    assert set(after.versions.get(number=1).config) == set(heuristic_config())


def broken(told, *path, value):
    """The file with something else at one place."""
    changed = copy.deepcopy(told)
    place = changed
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return changed


BROKEN = [
    ((), "format", "other"), ((), "schema", 2), ((), "versions", {}), ((), "versions", []), ((), "versions", [1]),
    ((), "golden_cases", 3), ((), "name", 7), ((), "name", "x" * 121), ((), "kind", None),
    (("versions", 0), "number", 2), (("versions", 0), "number", "1"), (("versions", 0), "number", 10**9),
    (("versions", 0), "schema", True), (("versions", 0), "config", []), (("versions", 0), "note", "x" * 301),
    (("versions", 0), "author", {}), (("versions", 0), "note", "a\0b"), (("versions", 0, "config"), "connection", 3),
    (("golden_cases", 0), "sample", []), (("golden_cases", 0), "sample", {}),
    (("golden_cases", 0), "sample", {"evil": 1}), (("golden_cases", 0), "must", {"label": ""}),
    (("golden_cases", 0), "title", "x" * 201), ((), "golden_cases", [{}] * 1001),
]  # fmt: skip


@pytest.mark.parametrize(("path", "name", "value"), BROKEN, ids=lambda one: str(one)[:30])
def test_a_broken_file_is_refused_with_the_place(told, path, name, value):
    changed = broken(told, *path, name, value=value)
    if (name, value) == ("kind", None):
        assert told_by(changed).kind == ""
        return
    with pytest.raises(NotAnExport):
        told_by(changed)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"format": "evalstudio.evaluator"}', b"x" * 5_000_001],
    ids=["empty", "cut off", "null", "a list", "bytes", "endless", "nothing in it", "too large"],
)
def test_what_is_no_export_is_refused(content):
    with pytest.raises(NotAnExport):
        read(content)


def test_a_picture_is_refused_as_no_text():
    with pytest.raises(NotAnExport, match=r"^This is no text, so it is no exported evaluator\.$"):
        read(b"\x89PNG\r\n\x1a\n")


def test_times_that_are_none_or_ahead_count_as_now(told, elsewhere, alice):
    told["versions"][0]["created_at"], told["versions"][1]["created_at"] = "9999-01-01T00:00:00Z", "2020-13-45"
    after = bring(arrival(told_by(told), elsewhere), alice)
    assert after.versions.filter(created_at__year__gt=2999).count() == 0


# --- Pages ------------------------------------------------------------------------------------------------------------
def sent(told):
    content = told if isinstance(told, bytes) else json.dumps(told).encode()
    return SimpleUploadedFile("short.evaluator.json", content, "application/json")


def test_the_page_shows_what_comes_before_it_comes(as_alice, project, told):
    address = reverse("evaluator-import", args=[project.slug])
    page = as_alice.post(address, {"file": sent(told)}, **HTMX).content.decode()
    assert 'value="Short 2"' in page
    assert "2 versions, 4 golden cases" in page
    assert "Stricter" in page
    assert Evaluator.objects.count() == 1
    reply = as_alice.post(address, {"file": sent(told), "name": "Short again", "do": "import"})
    assert reply.url == Evaluator.objects.get(name="Short again").get_absolute_url()


def test_what_does_not_fit_is_said_on_the_page(as_alice, project, told):
    address = reverse("evaluator-import", args=[project.slug])
    taken = as_alice.post(address, {"file": sent(told), "name": "Short", "do": "import"})
    assert taken.status_code == 422
    assert "“Short 2” is free." in taken.content.decode()
    assert "Choose a file that was exported" in as_alice.post(address, {}).content.decode()
    assert "This is not JSON" in as_alice.post(address, {"file": sent(b"{")}).content.decode()
    assert Evaluator.objects.count() == 1


def test_a_connection_is_chosen_on_the_page(as_alice, project, elsewhere, connection):
    version = version_of(project, "Right", judge_config(connection), "judge")
    other = Connection.objects.create(project=elsewhere, name="Other", base_url="http://localhost:9/v1", model="big")
    file = json.dumps(exported(version.evaluator)).encode()
    address = reverse("evaluator-import", args=[elsewhere.slug])
    page = as_alice.post(address, {"file": sent(file)}).content.decode()
    assert "Instead of “Local”" in page
    data = {"connection_name": ["Local"], "connection_to": [str(other.pk)], "name": "Right", "do": "import"}
    assert as_alice.post(address, {"file": sent(file)} | data).status_code == 302
    assert Evaluator.objects.get(project=elsewhere).versions.get().config["connection_id"] == other.pk


def test_markup_in_a_file_stays_text(as_alice, project, told):
    told["versions"][0]["note"] = told["name"] = "<img src=x onerror=alert(1)>"
    page = as_alice.post(reverse("evaluator-import", args=[project.slug]), {"file": sent(told)}).content.decode()
    assert "<img src=x" not in page


def test_the_file_of_the_page_is_the_one_that_comes_in(as_alice, project, elsewhere, alice, told):
    evaluator = Evaluator.objects.get()
    reply = as_alice.get(reverse("evaluator-export", args=[project.slug, evaluator.pk]))
    assert reply["Content-Disposition"] == 'attachment; filename="short.evaluator.json"'
    assert bring(arrival(read(reply.content), elsewhere), alice).versions.count() == 2
    assert len(reply.content) < MOST_BYTES
