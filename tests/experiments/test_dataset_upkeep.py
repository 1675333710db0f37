"""A dataset as a whole: searching it, going back, differences, splits, schema, duplicates, cases from outputs."""

import json

import pytest
from django.urls import reverse

from evalstudio.projects.models import Project
from experiments.datasets import differing, wholesale
from experiments.datasets.browsing import facets_of
from experiments.datasets.committing import Edit, Refused, commit
from experiments.datasets.contents import Content
from experiments.datasets.inferring import inferred, schema_of
from experiments.datasets.versions import contents
from experiments.datasets.working import WorkingSet
from experiments.models import Case, CaseSpan, Dataset, Output
from tests.experiments.curated import asking, case_id, curated, questions
from tests.experiments.importing import bring, jsonl

SCHEMA = {"inputs": {"type": "object", "required": ["question"], "properties": {"question": {"type": "string"}}}}


@pytest.fixture
def dataset(project, alice) -> Dataset:
    return curated(
        project,
        alice,
        a=asking("Wie groß ist ÄRGER?", "Sehr", split="train", metadata={"tags": ["Gold", "de"]}),
        b=asking('Say "yes" 100%', "yes", split="test", metadata={"tags": ["gold"], "note": "x\x1fgold\x1f"}),
        c=asking("Who?", "nobody"),
    )


@pytest.fixture
def at(project, dataset):
    return lambda name, pk=dataset.pk: reverse(name, args=[project.slug, pk])


# --- Search -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ({"q": "ärger"}, "a"),
        ({"q": "ÄRGER GROSS"}, "a"),
        ({"q": '"yes"'}, "b"),
        ({"q": "100%"}, "b"),
        ({"q": "question"}, ""),  # a name, not a word of the content
        ({"q": "who nobody"}, "c"),
        ({"q": "who yes"}, ""),
        ({"split": "train"}, "a"),
        ({"split": " "}, "c"),
        ({"tag": "gold"}, "b"),
        ({"tag": "Gold"}, "a"),
        ({"tag": "gol"}, ""),
        ({"tag": "de", "split": "test"}, ""),
    ],
)
def test_cases_are_found_by_words_split_and_tag(as_alice, at, query, keys):
    page = as_alice.get(at("dataset-page"), query)
    assert [row.key for row in page.context["rows"]] == list(keys)
    assert page.context["n_found"] == len(keys)


def test_splits_and_tags_are_counted_once_for_a_version(as_alice, at, dataset, django_assert_num_queries):
    page = as_alice.get(at("dataset-page")).content.decode()
    assert "No split (1)" in page
    assert "train (1)" in page
    assert "gold (1)" in page
    version = dataset.versions.get(number=2)
    with django_assert_num_queries(0):
        facets = facets_of(version)
    assert facets.splits == {"": 1, "test": 1, "train": 1}
    assert facets.tags == {"Gold": 1, "de": 1, "gold": 1}


def test_an_old_version_is_searched_as_it_was(as_alice, at, dataset, alice):
    commit(dataset, [Edit("c", None, case_id(dataset, "c"))], alice)
    assert [row.key for row in as_alice.get(at("dataset-page"), {"q": "who", "version": 2}).context["rows"]] == ["c"]
    assert as_alice.get(at("dataset-page"), {"q": "who"}).context["rows"] == []


def test_tags_come_from_a_file_as_a_list_and_from_a_cell_between_commas(project):
    bring(project, jsonl({"id": "a", "inputs": {"q": "?"}, "tags": ["x", "y"]}), dataset="json")
    bring(project, 'id,question,tags\na,?,"x, y"\n', "cases.csv", dataset="csv")
    assert [case.metadata for case in Case.objects.all()] == [{"tags": ["x", "y"]}] * 2


# --- Versions ---------------------------------------------------------------------------------------------------------
def test_an_old_version_comes_back_with_the_same_cases_at_their_places(as_alice, at, dataset, alice):
    before = list(CaseSpan.objects.filter(dataset=dataset).at(2).order_by("position").values_list("case", "position"))
    edits = [Edit("a", asking("Changed"), case_id(dataset, "a")), Edit("b", None, case_id(dataset, "b"))]
    commit(dataset, [*edits, Edit("d", asking("D?"), None)], alice)
    as_alice.post(at("dataset-restore"), {"version": 2})
    spans = CaseSpan.objects.filter(dataset=dataset)
    assert list(spans.at(4).order_by("position").values_list("case", "position")) == before
    assert list(questions(dataset, 3)) == ["a", "c", "d"]
    version = dataset.versions.get(number=4)
    assert (version.note, version.author, version.n_cases) == ("Restored version 2", alice, 3)
    as_alice.post(at("dataset-restore"), {"version": 2})
    assert dataset.versions.count() == 4


def test_nothing_goes_over_changes_that_are_not_committed(as_alice, at, dataset, alice):
    WorkingSet(dataset, alice).remove([("a", case_id(dataset, "a"))])
    answer = as_alice.post(at("dataset-restore"), {"version": 1}, follow=True)
    assert "You have 1 uncommitted change in this dataset." in answer.content.decode()
    assert dataset.versions.count() == 2


@pytest.mark.parametrize("number", ["0", "3", "x", ""])
def test_a_version_that_never_was_cannot_be_restored_or_compared(as_alice, at, number):
    assert as_alice.post(at("dataset-restore"), {"version": number}).status_code == 404
    assert as_alice.get(at("dataset-difference"), {"from": number, "to": 2}).status_code == 404


def test_the_difference_of_two_versions_names_what_came_went_and_changed(as_alice, at, dataset, alice):
    a = case_id(dataset, "a")
    edits = [Edit("a", asking("Wie groß ist Freude?"), a), Edit("b", None, case_id(dataset, "b"))]
    commit(dataset, [*edits, Edit("d", asking("D?"), None)], alice)
    found = differing.between(dataset, 2, 3)
    assert [(each.key, each.sort) for each in found] == [("a", "changed"), ("b", "removed"), ("d", "added")]
    assert [(each.key, each.sort) for each in differing.between(dataset, 3, 2)] == [
        ("a", "changed"),
        ("b", "added"),
        ("d", "removed"),
    ]
    page = as_alice.get(at("dataset-difference"), {"from": 2, "to": 3}).content.decode()
    assert "<del>ÄRGER</del>" in page
    assert "<ins>Freude</ins>" in page
    known = contents([a])
    labels = [change.label for change in differing.changes(known[a], asking("Wie groß ist Freude?"))]
    assert labels == ["Input question", "Expected value", "Tags", "Split"]


def test_a_difference_of_many_cases_comes_in_pages(as_alice, project, alice, django_assert_max_num_queries):
    dataset = curated(project, alice, "many", **{f"k{n:02}": asking(f"{n}?") for n in range(60)})
    address = reverse("dataset-difference", args=[project.slug, dataset.pk])
    with django_assert_max_num_queries(12):
        second = as_alice.get(address, {"from": 1, "to": 2, "at": 25})
    assert [each.key for each, _ in second.context["rows"]] == [f"k{n:02}" for n in range(25, 50)]
    assert (second.context["previous"], second.context["next"]) == (0, 50)


# --- Splits -----------------------------------------------------------------------------------------------------------
def test_a_seed_deals_the_same_cases_out_the_same_way(as_alice, project, alice):
    dataset = curated(project, alice, "many", **{f"k{n}": asking(f"{n}?") for n in range(50)})
    address = reverse("dataset-splits", args=[project.slug, dataset.pk])

    def dealt(seed, splits="train 80\ntest 20"):
        as_alice.post(address, {"splits": splits, "seed": seed})
        dataset.refresh_from_db()
        spans = CaseSpan.objects.filter(dataset=dataset).at(dataset.latest_version)
        return dict(spans.values_list("key", "case__split"))

    first = dealt(1)
    assert sorted(first.values()) == ["test"] * 10 + ["train"] * 40
    assert dataset.versions.get(number=3).note == "Splits at random: train 80%, test 20% (seed 1)"
    assert dealt(2) != first
    assert dealt(1) == first
    assert sorted(dealt(3, "a 1\nb 1\nc 1").values()) == ["a"] * 17 + ["b"] * 16 + ["c"] * 17


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ("train", "Line 1: write a split"),
        ("train 80\ntest -1", "Line 2: write a split"),
        ("a 1\na 2", "stands there twice"),
        ("a nan", "above zero"),
        ("", "Name at least one split"),
    ],
)
def test_wrong_shares_name_their_line(as_alice, at, splits, said):
    answer = as_alice.post(at("dataset-splits"), {"splits": splits, "seed": "1"})
    assert answer.status_code == 422
    assert said in answer.content.decode()


# --- Schema -----------------------------------------------------------------------------------------------------------
def test_a_schema_is_read_off_the_cases():
    values = [{"q": f"question {n}", "lang": ["en", "de"][n % 2], "n": n, "x": [n]} for n in range(20)]
    assert schema_of([*values, {"q": "last", "lang": "en", "n": 1.5, "x": None}]) == {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "lang": {"type": "string", "enum": ["de", "en"]},
            "n": {"type": "number"},
            "x": {"type": ["array", "null"], "items": {"type": "integer"}},
        },
        "required": ["q", "lang", "n", "x"],
    }


def test_every_case_fits_the_schema_that_was_read_off(as_alice, at, dataset, alice):
    commit(dataset, [Edit("odd", Content({"question": None, "deep": {"a": [{"b": True}]}}), None)], alice)
    page = as_alice.get(at("dataset-schema"), {"inferred": "1"})
    texts = {part: page.context["form"].initial[part] for part in ("inputs", "expected_outputs")}
    assert {part: json.loads(text) for part, text in texts.items()} == inferred(dataset, 3)
    assert as_alice.post(at("dataset-schema"), texts).status_code == 302
    assert "Every case of version 3 fits." in as_alice.get(at("dataset-breaking")).content.decode()


def test_cases_that_break_the_schema_are_counted_and_listed_and_new_ones_refused(as_alice, at, project, dataset, alice):
    commit(dataset, [Edit("odd", Content({"question": 5}), None)], alice)
    as_alice.post(at("dataset-schema"), {"inputs": json.dumps(SCHEMA["inputs"])})
    page = as_alice.get(at("dataset-breaking")).content.decode()
    assert "<b>1</b> case of version 3 breaks the schema" in page
    assert "inputs.question" in page
    dataset.refresh_from_db()

    with pytest.raises(Refused) as refused:
        commit(dataset, [Edit("new", Content({"text": "?"}), None)], alice)
    (fault,) = refused.value.faults
    assert (fault.key, fault.field) == ("new", "inputs")
    assert "question" in fault.reason

    job = bring(project, jsonl({"id": "x", "inputs": {"question": 7}}, {"id": "y", "inputs": {"question": "fits"}}))
    (row,) = job.row_errors
    assert (row["line"], row["field"]) == (1, "inputs.question")
    assert (job.counts["added"], job.counts["bad"]) == (1, 1)

    typed = {"mode": "fields", "json:inputs:question": "5"}
    answer = as_alice.post(reverse("case-edit", args=[project.slug, dataset.pk, case_id(dataset, "a")]), typed)
    assert answer.status_code == 422
    assert "inputs.question: By the schema" in answer.content.decode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{\n", "Line 2"),
        ("[]", "A schema is a JSON object."),
        ('{"type": "nothing"}', "This is no JSON Schema"),
        ('{"title": "a\\u0000"}', "it holds a NUL character."),
        ('{"title": "a\\ud800"}', "it holds text that is not Unicode."),
        (f'{{"maximum": 1{"0" * 400}}}', "it holds a whole number of more than 64 bits."),
        ('{"maximum": 1e999}', "it holds a number beyond every float."),
        ('{"not": ' * 101 + "{}" + "}" * 101, "it is nested more than 100 levels deep."),
    ],
)
def test_what_is_no_schema_is_told_and_kept(as_alice, at, dataset, text, said):
    answer = as_alice.post(at("dataset-schema"), {"inputs": text})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert answer.context["form"]["inputs"].value() == text
    dataset.refresh_from_db()
    assert dataset.schema == {}


def test_a_schema_that_somebody_else_wrote_meanwhile_is_not_gone_over_unseen(as_alice, at, dataset):
    url = at("dataset-schema")
    base = as_alice.get(url).context["base"]
    mine, theirs = '{"type": "object", "maxProperties": 9}', '{"type": "object"}'
    as_alice.post(url, {"inputs": theirs, "base": base})
    response = as_alice.post(url, {"inputs": mine, "base": base})
    assert response.status_code == 422
    assert "Somebody else has saved another schema since you began." in response.content.decode()
    assert "maxProperties" in response.content.decode()
    dataset.refresh_from_db()
    assert dataset.schema == {"inputs": {"type": "object"}}
    as_alice.post(url, {"inputs": mine, "base": response.context["base"]})
    dataset.refresh_from_db()
    assert dataset.schema["inputs"]["maxProperties"] == 9


def test_viewers_read_the_schema_and_cannot_write_it(client, bob, at):
    client.force_login(bob)
    page = client.get(at("dataset-schema")).content.decode()
    assert "Save schema" not in page
    assert client.post(at("dataset-schema"), {"inputs": "{}"}).status_code == 403


# --- Duplicates -------------------------------------------------------------------------------------------------------
@pytest.fixture
def repeated(project, alice) -> Dataset:
    return curated(
        project,
        alice,
        "repeated",
        one=asking("Same?", "yes"),
        two=asking("Same?", "yes", split="test"),
        three=asking("Same?", "no"),
        alone=asking("Other?"),
    )


def test_cases_that_say_the_same_are_listed_and_the_extra_ones_go(as_alice, at, repeated):
    page = as_alice.get(at("dataset-duplicates", repeated.pk)).content.decode()
    assert "Remove 1 extra case" in page
    assert "expects something else" in page
    assert (
        at("dataset-duplicates", repeated.pk) + '">2</a>' in as_alice.get(repeated.get_absolute_url()).content.decode()
    )
    as_alice.post(at("dataset-duplicates", repeated.pk))
    assert list(questions(repeated)) == ["one", "three", "alone"]
    as_alice.post(at("dataset-duplicates", repeated.pk), {"by": "inputs"})
    assert list(questions(repeated)) == ["one", "alone"]
    assert repeated.versions.get(number=4).note == "Removed 1 repeated case"
    assert "No two cases have the same inputs" in as_alice.get(at("dataset-duplicates", repeated.pk)).content.decode()
    as_alice.post(at("dataset-duplicates", repeated.pk))
    assert repeated.versions.count() == 4


# --- From an output ---------------------------------------------------------------------------------------------------
@pytest.fixture
def output(make_experiment) -> Output:
    make_experiment(3)
    return Output.objects.select_related("case").first()


@pytest.fixture
def door(project, output):
    return reverse("dataset-add-from-output", args=[project.slug, output.pk])


def test_an_output_becomes_a_case_of_the_next_version(as_alice, door, dataset, alice):
    said = {"dataset": dataset.pk, "key": "from-output", "expected": "output"}
    assert as_alice.get(door).status_code == 200
    answer = as_alice.post(door, said, HTTP_HX_REQUEST="true").content.decode()
    assert "“from-output” is in version 3 of questions." in answer
    case = Case.objects.get(pk=case_id(dataset, "from-output"))
    assert (case.inputs, case.expected_outputs) == ({"question": "question 0"}, {"value": "answer 0"})
    again = as_alice.post(door, said, follow=True)
    assert "has this case already" in again.content.decode()
    assert dataset.versions.count() == 3


@pytest.mark.parametrize(("wish", "expected"), [("case", {"value": "answer 0"}), ("none", None)])
def test_what_is_expected_can_be_chosen(as_alice, door, dataset, wish, expected):
    as_alice.post(door, {"dataset": dataset.pk, "key": "k", "expected": wish})
    assert Case.objects.get(pk=case_id(dataset, "k")).expected_outputs == expected


def test_a_key_that_is_taken_asks_before_it_replaces_the_case(as_alice, door, dataset):
    said = {"dataset": dataset.pk, "key": "a", "expected": "output"}
    answer = as_alice.post(door, said)
    assert answer.status_code == 422
    assert "Replace that case" in answer.content.decode()
    as_alice.post(door, said | {"replace": "1"})
    assert questions(dataset)["a"] == "question 0"


def test_a_dataset_of_another_project_cannot_be_chosen(as_alice, door, project, charlie):

    other = wholesale.create(Project.start("Elsewhere", charlie), "theirs", charlie)
    assert as_alice.post(door, {"dataset": other.pk, "key": "k", "expected": "none"}).status_code == 422
    assert other.versions.count() == 1


def test_the_peek_of_a_result_offers_it_to_editors(as_alice, client, bob, output, door, project):
    peek = reverse("experiment-peek", args=[project.slug, output.experiment_id, output.pk])
    assert door in as_alice.get(peek).content.decode()
    client.force_login(bob)
    assert door not in client.get(peek).content.decode()


# --- A new one --------------------------------------------------------------------------------------------------------
def test_an_empty_dataset_is_made_and_takes_cases(as_alice, project):
    address = reverse("dataset-new", args=[project.slug])
    page = as_alice.post(address, {"name": "  By   hand "}, follow=True)
    assert "No cases yet" in page.content.decode()
    dataset = Dataset.objects.get(name="By hand")
    as_alice.post(
        reverse("case-new", args=[project.slug, dataset.pk]), {"mode": "json", "inputs": '{"q": 1}', "key": "k"}
    )
    as_alice.post(reverse("dataset-changes", args=[project.slug, dataset.pk]))
    assert dataset.versions.get(number=2).n_cases == 1
    again = as_alice.post(address, {"name": "By hand"})
    assert again.status_code == 422
    assert "has this name" in again.content.decode()
