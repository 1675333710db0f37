"""Scales: their pages, their API, and versions that keep a scale as it was."""

import pytest
from django.urls import reverse

from evalstudio.projects.models import ApiToken, AuditEntry, Project, Scope
from evaluators.kinds import get_kind
from evaluators.models import Evaluator, Scale
from evaluators.scales import uses_of
from tests.evaluators.editor_forms import judge_fields, rehearsal

JUDGE = get_kind("judge")
OPTIONS = {
    "type": "enum",
    "options": [
        {"label": "LOW", "percentage": 0.0, "description": "Nothing of use"},
        {"label": "HIGH", "percentage": 100.0, "description": ""},
    ],
}
TYPED = {
    "name": "Helpfulness",
    "description": "What the customer gets.",
    "scoring": "enum",
    "option_label": ["LOW", "HIGH"],
    "option_percentage": ["0", "100"],
    "option_description": ["Nothing of use", ""],
    "range_low": "",
    "range_high": "",
}


@pytest.fixture
def scale(project, alice):
    return Scale.objects.create(project=project, name="Helpfulness", scoring=OPTIONS, author=alice)


def using(project, author, scale, name="Helpful"):
    evaluator = Evaluator.objects.create(project=project, name=name, kind="judge")
    evaluator.revise(
        JUDGE.blank() | {"scoring": scale.scoring, "scale": scale.frozen()}, schema=JUDGE.schema, author=author
    )
    return evaluator


def address(name, project, *args):
    return reverse(name, args=[project.slug, *args])


# Making and changing


def test_a_scale_is_made_from_what_was_typed(as_alice, project, alice):
    reply = as_alice.post(address("scale-new", project), TYPED, follow=True)
    assert "Helpfulness is saved." in reply.content.decode()
    scale = Scale.objects.get()
    assert (scale.name, scale.description, scale.scoring, scale.author) == (
        "Helpfulness",
        "What the customer gets.",
        OPTIONS,
        alice,
    )
    assert AuditEntry.objects.get().subject == "scale Helpfulness"
    assert "LOW 0 %, HIGH 100 %" in reply.content.decode()


def test_a_range_is_a_scale_too(as_alice, project):
    as_alice.post(address("scale-new", project), TYPED | {"scoring": "percentage", "range_low": "1", "range_high": "5"})
    assert Scale.objects.get().scoring == {"type": "percentage", "low": 1.0, "high": 5.0}
    assert "a number from 1 to 5" in as_alice.get(address("scale-list", project)).content.decode()


@pytest.mark.parametrize(
    ("changed", "field", "sentence"),
    [
        ({"name": " "}, "name", "Give it a name."),
        ({"name": "Taken"}, "name", "Another scale of this project has this name"),
        ({"option_label": ["LOW", "low"]}, "option_label.1", "low"),
        ({"option_percentage": ["0", "101"]}, "option_percentage.1", "0 to 100"),
        ({"option_percentage": ["0", "much"]}, "option_percentage.1", ""),
        ({"option_label": ["LOW"], "option_percentage": ["0"]}, "option_label", ""),
        ({"scoring": "percentage", "range_low": "5", "range_high": "1"}, "range_high", "above the lowest"),
        ({"scoring": "percentage", "range_low": "few"}, "range_low", "number"),
        ({"scoring": "stars"}, "scoring", ""),
        ({"description": "a\0b"}, "description", ""),
        ({"option_label": ["LOW", "a\0b"]}, "option_label.1", "stored"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(
    as_alice, project, alice, changed, field, sentence
):
    Scale.objects.create(project=project, name="Taken", scoring=OPTIONS, author=alice)
    reply = as_alice.post(address("scale-new", project), TYPED | {"description": "Keep me."} | changed)
    assert reply.status_code == 422
    assert any(sentence in fault.message for fault in reply.context["faults"][field])
    page = reply.content.decode()
    assert 'data-error-for="id_' + field in page
    assert changed.get("description", "Keep me.").replace("\0", "") in page.replace("\0", "")
    assert Scale.objects.count() == 1


def test_rows_are_added_and_removed_without_javascript(as_alice, project):
    more = as_alice.post(address("scale-new", project), TYPED | {"do": "add-option"})
    assert more.content.decode().count('name="option_label"') == 4, "three rows and the one that is copied"
    less = as_alice.post(address("scale-new", project), TYPED | {"do": "remove-option:0"})
    assert 'value="HIGH"' in less.content.decode()
    assert 'value="LOW"' not in less.content.decode()
    assert not Scale.objects.exists()


def test_changing_a_scale_changes_no_saved_version_and_says_who_keeps_it_as_it_was(as_alice, project, alice, scale):
    evaluators = [using(project, alice, scale, f"E{number}") for number in range(3)]
    before = evaluators[0].versions.get().config
    reply = as_alice.post(
        address("scale-edit", project, scale.pk), TYPED | {"option_percentage": ["0", "90"]}, follow=True
    )
    said = "3 evaluators keep the scale as it was; save their next version to take this over."
    assert said in reply.content.decode()
    assert "3 with the scale as it was" in reply.content.decode()
    assert evaluators[0].versions.get().config == before
    page = as_alice.get(address("scale-edit", project, scale.pk)).content.decode()
    assert page.count("with the scale as it was") == 3
    scale.refresh_from_db()
    config = before | {"scoring": scale.scoring, "scale": scale.frozen()}
    evaluators[0].revise(config, schema=JUDGE.schema, author=alice)
    assert [use.is_behind for use in uses_of([scale])[0].uses] == [False, True, True]


def test_a_scale_chosen_in_the_editor_is_frozen_into_the_version_and_counted(as_alice, project, scale):
    fields = judge_fields(rehearsal(project), scale=str(scale.pk))
    as_alice.post(address("evaluator-new", project, "judge") + "?draft=k1", fields)
    version = Evaluator.objects.get().versions.get()
    assert version.scale == scale
    assert version.config["scoring"] == OPTIONS
    assert version.config["scale"] == scale.frozen()


def test_the_list_names_who_uses_a_scale_now_and_counts_versions_of_all_times(as_alice, project, alice, scale):
    stays, leaves, gone = (using(project, alice, scale, name) for name in ("Stays", "Leaves", "Gone"))
    leaves.revise(JUDGE.blank(), schema=JUDGE.schema, author=alice)
    gone.archive(alice)
    found = uses_of([scale])[0]
    assert [use.evaluator for use in found.uses] == [stays]
    assert found.n_versions == 3


def test_the_scale_of_another_project_is_nobodys(charlie, project, alice, scale):
    elsewhere = Project.start("Elsewhere", charlie)
    version = using(elsewhere, charlie, scale).versions.get()
    assert version.scale is None
    assert uses_of([scale])[0].n_versions == 0


def test_the_list_asks_as_often_for_many_scales_as_for_one(as_alice, project, alice, scale, django_assert_num_queries):
    using(project, alice, scale)
    as_alice.get(address("scale-list", project))
    with django_assert_num_queries(8):
        as_alice.get(address("scale-list", project))
    for number in range(20):
        more = Scale.objects.create(project=project, name=f"S{number}", scoring=OPTIONS)
        using(project, alice, more, f"E{number}")
    with django_assert_num_queries(8):
        as_alice.get(address("scale-list", project))


def test_an_archived_scale_is_offered_to_nobody_and_can_come_back(as_alice, project, scale):
    reply = as_alice.post(address("scale-archive", project, scale.pk), follow=True)
    undo = address("scale-restore", project, scale.pk)
    assert reply.content.decode().count(f'action="{undo}"') == 2, "in the toast and in the archive"
    assert "No shared scale yet" in reply.content.decode()
    as_alice.post(undo)
    scale.refresh_from_db()
    assert scale.archived_at is None


def test_a_viewer_may_look_and_a_stranger_finds_nothing(client, bob, charlie, project, scale):
    client.force_login(bob)
    page = client.get(address("scale-list", project)).content.decode()
    assert "Helpfulness" in page
    assert address("scale-edit", project, scale.pk) not in page
    for name in ("scale-edit", "scale-archive", "scale-restore"):
        assert client.post(address(name, project, scale.pk), TYPED).status_code == 403
    client.force_login(charlie)
    assert client.get(address("scale-list", project)).status_code == 404
    assert client.post(address("scale-edit", project, scale.pk), TYPED).status_code == 404


# The API


@pytest.fixture
def api(client, project, alice):
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)
    base = f"/api/projects/{project.slug}/"

    def call(method, path, body=None):
        send = getattr(client, method)
        headers = {"Authorization": f"Bearer {secret}"}
        kwargs = {} if method == "get" else {"data": body, "content_type": "application/json"}
        return send(base + path, headers=headers, **kwargs)

    return call


def test_the_api_makes_reads_lists_and_changes_scales_by_the_same_rules(api):
    made = api("post", "scales/", {"name": "Marks", "scoring": {"type": "percentage", "low": 1, "high": 6}})
    assert made.status_code == 201
    key = made.json()["id"]
    assert made.json()["scoring"] == {"type": "percentage", "low": 1.0, "high": 6.0}
    changed = api("patch", f"scales/{key}/", {"scoring": OPTIONS})
    assert (changed.json()["name"], changed.json()["scoring"]) == ("Marks", OPTIONS)
    assert api("get", f"scales/{key}/").json() == changed.json()
    assert [one["name"] for one in api("get", "scales/").json()["results"]] == ["Marks"]
    assert api("get", "scales/?archived=true").json()["results"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"scoring": OPTIONS}, "name"),
        ({"name": "Marks"}, "scoring"),
        ({"name": "Marks", "scoring": {"type": "stars"}}, "scoring"),
        ({"name": "Marks", "scoring": {}}, "scoring"),
        ({"name": "Marks", "scoring": {"type": "enum", "options": "many"}}, "scoring"),
        ({"name": "Marks", "scoring": {"type": "enum", "options": []}}, "option_label"),
        ({"name": "Marks", "scoring": {"type": "percentage", "low": 3, "high": 1}}, "range_high"),
    ],
)
def test_the_api_says_what_is_wrong_by_field(api, body, field):
    reply = api("post", "scales/", body)
    assert reply.status_code == 400
    assert field in str(reply.json())
    assert not Scale.objects.exists()


def test_the_api_archives_restores_and_duplicates_evaluators(api, project, alice, scale):
    evaluator = using(project, alice, scale)
    archived = api("post", f"evaluators/{evaluator.pk}/archive/")
    assert archived.json()["archived_at"] is not None
    assert api("get", "evaluators/").json()["results"] == []
    assert [one["name"] for one in api("get", "evaluators/?archived=true").json()["results"]] == ["Helpful"]
    assert api("post", f"evaluators/{evaluator.pk}/restore/").json()["archived_at"] is None
    copied = api("post", f"evaluators/{evaluator.pk}/duplicate/")
    assert (copied.status_code, copied.json()["name"]) == (201, "Helpful (copy)")
    begun = Evaluator.objects.create(project=project, name="Begun", kind="judge")
    assert api("post", f"evaluators/{begun.pk}/duplicate/").status_code == 400


def test_the_api_lists_evaluators_of_a_kind_or_of_two_results(api, project, alice, scale):
    using(project, alice, scale)
    better = Evaluator.objects.create(project=project, name="Better", kind="judge")
    better.revise(JUDGE.blank() | {"runs_on": "comparison"}, schema=JUDGE.schema, author=alice)
    found = {query: [one["name"] for one in api("get", f"evaluators/?{query}").json()["results"]] for query in (
        "kind=judge", "kind=comparative", "kind=heuristic", "q=help", "",
    )}  # fmt: skip
    assert found == {
        "kind=judge": ["Helpful"],
        "kind=comparative": ["Better"],
        "kind=heuristic": [],
        "q=help": ["Helpful"],
        "": ["Better", "Helpful"],
    }
