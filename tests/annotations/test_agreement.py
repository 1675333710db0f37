"""How far people agree: figures worked out by hand, each person, disagreements, second askings and known answers."""

from datetime import timedelta

import pytest
from django.urls import reverse
from plotly.graph_objects import Figure

from annotations.agreeing import batches_of, counted, figures, level_of, pairs_of, people_in, said_in, table_of
from annotations.agreeing_charts import matrix, over_time
from annotations.answers import Answer
from annotations.disagreeing import differing, page_of, told
from annotations.holding import at_hand
from annotations.models import Grade, GradeState, Item
from annotations.progress import progress_of
from annotations.queueing import ask_again, config_of
from evalstudio.projects.models import Membership, Role
from evalstudio.web.pagination import Page
from evaluators import scoring as scorings
from tests.annotations.conftest import SIDES, YES_NO
from tests.annotations.test_grading import BAD, GOOD
from tests.annotations.test_holding import grade

pytestmark = pytest.mark.django_db


def address(project, name, *args):
    return reverse(name, args=[project.slug, *args])


def grades_by(queue, person, words):
    """Grade the items of a queue in their order: "g" is Good, "b" is Bad, "-" leaves one out."""
    for item, word in zip(queue.items.filter(repeats=None).order_by("output"), words, strict=True):
        if word != "-":
            grade(item, person, GOOD if word == "g" else BAD)


@pytest.fixture
def graded(make_queue, people):
    """Ten items. Rita and Ravi agree on eight; Rosa graded the first two and differs from both on the second."""
    queue = make_queue(10, graders=3)
    grades_by(queue, people[0], "gggggbbbbg")
    grades_by(queue, people[1], "gggggbbbgb")
    grades_by(queue, people[2], "gb--------")
    return queue


@pytest.fixture
def version(graded):
    return graded.versions.get()


def looked_at(version, queue=None):
    said = said_in(counted(version, queue))
    scoring = config_of(version).scoring
    level = level_of(scoring)
    return said, table_of(said, scoring, level), level


# --- Figures ----------------------------------------------------------------------------------------------------------
def test_what_a_scale_suggests():
    three = {"type": "enum", "options": [{"label": str(n), "percentage": n} for n in (0, 50, 100)]}
    alike = {"type": "enum", "options": [{"label": str(n), "percentage": n % 2} for n in range(3)]}
    suggested = [level_of(scorings.read(one)) for one in (YES_NO, three, alike, {"type": "percentage"})]
    assert suggested == ["nominal", "ordinal", "nominal", "interval"]


def test_two_people_have_the_kappa_that_their_table_gives(graded, version, people):
    # Of ten, both say Good of 5, both Bad of 3, and each says Good once where the other says Bad: 0.8 agree by 0.52 of
    # chance (6 · 6 + 4 · 4 of 100), so κ = 0.28 / 0.48.
    Grade.objects.filter(person=people[2]).delete()
    said, table, level = looked_at(version)
    found = figures(table, level)
    assert (found.people, found.items) == (2, 10)
    assert found.same.value == pytest.approx(0.8)
    assert found.cohen.value == pytest.approx(0.28 / 0.48)
    assert found.fleiss.value == pytest.approx(0.28 / 0.48)  # both use Good as often
    assert found.gwet.value == pytest.approx((0.8 - 0.48) / (1 - 0.48))  # 2 · 0.6 · 0.4
    # Krippendorff: 1 − (20 − 1) · 4 / (2 · 12 · 8), of 4 disagreeing ordered pairs among 12 Good and 8 Bad.
    assert found.krippendorff.value == pytest.approx(1 - 19 * 4 / (2 * 12 * 8))
    (pair,) = pairs_of(said, table, level)
    assert (pair.items, pair.same.value, pair.kappa.value) == (10, pytest.approx(0.8), pytest.approx(0.28 / 0.48))


def test_with_three_people_each_two_are_compared_on_what_both_graded(graded, version, people):
    said, table, level = looked_at(version)
    assert figures(table, level).cohen is None
    pairs = {(pair.first, pair.second): pair for pair in pairs_of(said, table, level)}
    rita, ravi, rosa = (person.pk for person in people)
    assert pairs[rita, ravi].items == 10
    assert (pairs[rita, rosa].items, pairs[rita, rosa].same.value) == (2, 0.5)
    assert pairs[ravi, rosa].kappa.refused


def test_each_person_is_compared_with_the_others(graded, version, people):
    # Rita: item 1 (1 + 1) / 2, item 2 (1 + 0) / 2, six more alike, the last two not: (1 + 0.5 + 6) / 10.
    rows = {one.pk: one for one in people_in(said_in(counted(version)), version)}
    rita, ravi, rosa = (rows[person.pk] for person in people)
    assert (rita.grades, rita.others.value) == (10, pytest.approx(0.75))
    assert ravi.others.value == pytest.approx(0.75)
    assert (rosa.grades, rosa.others.value) == (2, pytest.approx(0.5))
    assert (rosa.again.n, rosa.known.n) == (0, 0)


def test_of_numbers_the_distance_counts(make_queue, make_human, people):
    from annotations.answers import Answer
    from annotations.models import GradeState

    version = make_human("Marks", {"type": "percentage", "low": 0, "high": 10})
    queue = make_queue(2, versions=[version], graders=2)
    for person, marks in zip(people[:2], ((0.9, 0.4), (0.7, 0.4)), strict=True):
        for item, mark in zip(queue.items.order_by("output"), marks, strict=True):
            grade(item, person, Answer(GradeState.GRADED, "", mark))
    rita, ravi = people_in(said_in(counted(version)), version)
    assert rita.others.value == ravi.others.value == pytest.approx(0.9)
    _, table, level = looked_at(version)
    # Interval: squared distances 0.04 within the first item; among all four values 0.9, 0.7, 0.4, 0.4.
    apart = 2 * (0.2**2 + 0.5**2 + 0.5**2 + 0.3**2 + 0.3**2 + 0)
    assert figures(table, level).krippendorff.value == pytest.approx(1 - 3 * 2 * 0.2**2 / apart)


def test_batches_follow_one_another_in_time(make_queue, people):
    queue = make_queue(60, graders=2)
    version = queue.versions.get()
    grades_by(queue, people[0], "gb" * 30)
    grades_by(queue, people[1], "gb" * 15 + "bg" * 15)
    late = queue.items.order_by("output").values_list("pk", flat=True)[30:]
    for one in Grade.objects.filter(item__in=list(late)):
        Grade.objects.filter(pk=one.pk).update(created_at=one.created_at + timedelta(days=9))
    said, _, level = looked_at(version)
    first, second = batches_of(said, config_of(version).scoring, level)
    assert (first.items, first.same.value, first.alpha.value) == (30, 1.0, 1.0)
    assert (second.items, second.same.value) == (30, 0.0)
    chart = over_time([first, second], level)
    Figure(chart.figure)
    assert chart.figure["data"][0]["y"] == [1.0, second.alpha.value]
    assert [row[1] for row in chart.table.rows] == ["30", "30"]


def test_fewer_than_two_batches_are_no_chart(graded, version):
    said, _, level = looked_at(version)
    assert over_time(batches_of(said, config_of(version).scoring, level), level) is None


def test_the_matrix_is_blank_where_two_people_share_too_few_items(graded, version, people):
    said, table, level = looked_at(version)
    names = {person.pk: person.username for person in people}
    chart = matrix(pairs_of(said, table, level), names.__getitem__, weighted=False)
    Figure(chart.figure)
    assert chart.figure["data"][0]["z"][0] == [None, pytest.approx(0.28 / 0.48), None]
    assert ["rita and rosa", "2", "50.0\N{NO-BREAK SPACE}%", "0.00", "–"] in [list(row) for row in chart.table.rows]


# --- Second askings and known answers ---------------------------------------------------------------------------------
def test_a_hidden_second_asking_goes_to_who_was_asked_first(make_queue, people):
    queue = make_queue(2)
    assert ask_again(queue, 0.5) == 1
    repeated = queue.items.get(repeats__isnull=False)
    other = queue.items.exclude(pk__in=[repeated.pk, repeated.repeats_id]).get()
    grade(repeated.repeats, people[0])
    grade(other, people[1])
    assert at_hand(queue, people[1]) == []
    (seat,) = at_hand(queue, people[0])
    assert seat.item_id == repeated.pk


def test_consistency_is_the_share_of_second_askings_answered_alike(graded, version, people):
    ask_again(graded, 0.2)
    for number, item in enumerate(graded.items.filter(repeats__isnull=False).order_by("pk")):
        first = Grade.objects.get(item=item.repeats, person=people[0])
        alike = GOOD if first.label == "Good" else BAD
        grade(item, people[0], alike if number == 0 else (BAD if alike is GOOD else GOOD))
    rita, ravi, _ = people_in(said_in(counted(version)), version)
    assert (rita.again.n, rita.again.value) == (2, 0.5)
    assert rita.grades == 10
    assert ravi.again.n == 0


def test_an_editor_notes_the_known_answer_and_each_person_is_measured_by_it(as_alice, project, graded, version, people):
    last = Grade.objects.filter(person=people[0]).order_by("-output").first()
    reply = as_alice.post(address(project, "grades-beside", last.pk), {"known": "Bad"})
    assert reply.status_code == 302
    assert Item.objects.get(pk=last.item_id).known == {str(version.pk): "Bad"}
    rita, ravi, rosa = people_in(said_in(counted(version)), version)
    assert [(one.known.n, one.known.value) for one in (rita, ravi, rosa)] == [(1, 0.0), (1, 1.0), (0, None)]
    page = as_alice.get(address(project, "grades-beside", last.pk)).content.decode()
    assert "<option selected>Bad</option>" in page
    as_alice.post(address(project, "grades-beside", last.pk), {"known": ""})
    assert Item.objects.get(pk=last.item_id).known is None


def test_a_known_answer_off_the_scale_says_so(as_alice, project, graded):
    reply = as_alice.post(address(project, "grades-beside", Grade.objects.first().pk), {"known": "Fine"})
    assert reply.status_code == 422
    assert not Item.objects.filter(known__isnull=False).exists()


# --- Disagreements ----------------------------------------------------------------------------------------------------
def test_disagreements_come_furthest_apart_first(graded, version):
    found = differing(said_in(counted(version)))
    assert [one.output.case.key for one in told(found, version)] == ["case-1", "case-8", "case-9"]
    assert [spread for spread, _ in found] == [1.0] * 3


def test_pages_of_disagreements_begin_after_an_item_wherever_it_stands_by_then():
    found = [(1.0, 7), (0.5, 3), (0.5, 9), (0.1, 2)]
    assert page_of(found, {}, 3) == Page(found[:3], None, "9")
    assert page_of(found, {"after": "9"}, 3) == Page(found[3:], "2", None)
    assert page_of(found, {"before": "2"}, 3) == Page(found[:3], None, "9")
    assert page_of(found, {"after": "8"}, 3).rows == found[:3]
    assert page_of([], {"after": "1"}) == Page([], None, None)


def test_pairs_with_different_baselines_are_different_items(make_queue, make_experiment, make_human, people):
    from annotations.answers import Answer
    from annotations.models import GradeState

    first, second = Answer(GradeState.GRADED, "First", 0.0), Answer(GradeState.GRADED, "Second", 1.0)
    version, experiment = make_human("Better", SIDES, "comparison"), make_experiment(1)
    said = ((first, second), (first, first))
    for name, answers in zip(("one", "two"), said, strict=True):
        baseline = make_experiment(1, name)
        queue = make_queue(versions=[version], experiment=experiment, baseline=baseline, graders=2, name=name)
        for person, answer in zip(people, answers, strict=False):
            grade(queue.items.get(), person, answer)
    (found,) = told(differing(said_in(counted(version))), version)
    assert found.baseline_output.experiment.system.name == "one"
    assert len(said_in(counted(version))) == 4


# --- Pages ------------------------------------------------------------------------------------------------------------
def test_the_page_shows_every_figure_and_opens_disagreements(
    as_alice, project, graded, version, django_assert_max_num_queries
):
    with django_assert_max_num_queries(22):
        page = as_alice.get(address(project, "evaluator-agreement", version.evaluator_id)).content.decode()
    for words in ("Krippendorff’s alpha", "Gwet’s AC1", "Fleiss’ kappa", "rita", "ravi and rosa", "Each two people"):
        assert words in page
    assert "Cohen’s kappa</h3>" not in page
    opened = Grade.objects.filter(output__case__key="case-1").order_by("pk").first()
    assert address(project, "grades-beside", opened.pk) in page
    beside = as_alice.get(address(project, "grades-beside", opened.pk)).content.decode()
    assert beside.index("rita") < beside.index("rosa")
    assert "Wrong amount." in beside
    assert "answer 1" in beside


def test_more_people_and_items_take_no_more_queries(
    as_alice, project, make_queue, people, django_assert_max_num_queries
):
    queue = make_queue(30, graders=3)
    for person, words in zip(people, ("g" * 30, "b" * 30, "gb" * 15), strict=True):
        grades_by(queue, person, words)
    with django_assert_max_num_queries(22):
        first = as_alice.get(address(project, "evaluator-agreement", queue.versions.get().evaluator_id))
    assert first.context["page"].next
    assert len(first.context["differing"]) == 25
    second = as_alice.get(first.wsgi_request.path, {"after": first.context["page"].next})
    assert len(second.context["differing"]) == 5


@pytest.mark.parametrize(("is_blind", "shown"), [(True, "Person 1"), (False, "rita")])
def test_a_viewer_sees_names_unless_the_queue_is_blind(client, project, dora, make_queue, people, is_blind, shown):
    Membership.objects.create(project=project, user=dora, role=Role.VIEWER)
    queue = make_queue(2, graders=2, is_blind=is_blind)
    grades_by(queue, people[0], "gg")
    grades_by(queue, people[1], "gb")
    client.force_login(dora)
    pages = [address(project, "evaluator-agreement", queue.versions.get().evaluator_id)]
    pages.append(address(project, "grades-beside", Grade.objects.first().pk))
    for page in pages:
        found = client.get(page).content.decode()
        assert shown in found
        assert ("rita" in found) is not is_blind


def test_a_reviewer_sees_their_own_figures_and_nobody_elses(client, project, graded, version, people):
    client.force_login(people[0])
    page = client.get(address(project, "evaluator-agreement", version.evaluator_id)).content.decode()
    assert "75.0\N{NO-BREAK SPACE}%" in page
    assert "ravi" not in page
    assert "Krippendorff" not in page
    assert "case-1" not in page
    assert client.get(address(project, "grades-beside", Grade.objects.first().pk)).status_code == 403


def test_what_a_person_is_measured_by_follows_from_the_scale_and_not_from_the_level(
    client, alice, project, graded, version, people, make_queue, make_human
):
    numbers = make_queue(1, name="Numbers", versions=[make_human("Number", scoring={"type": "percentage"})])
    grade(numbers.items.get(), people[0], Answer(GradeState.GRADED, "", 0.5))
    near, same = "how near, 100 % being the same", "the share of same grades"
    for person in (alice, people[0]):
        client.force_login(person)
        for evaluator, said in ((version.evaluator_id, same), (numbers.versions.get().evaluator_id, near)):
            for level in ("nominal", "interval"):
                page = client.get(reverse("evaluator-agreement", args=[project.slug, evaluator]), {"level": level})
                assert said in page.content.decode()


def test_queues_lead_to_the_agreement_of_their_people(client, alice, project, graded, version, people):
    place = address(project, "evaluator-agreement", version.evaluator_id)
    client.force_login(alice)
    assert f"{place}?version=1&amp;queue={graded.pk}" in client.get(graded.get_absolute_url()).content.decode()
    client.force_login(people[0])
    assert f'{place}?version=1"' in client.get(address(project, "queue-list")).content.decode()


def test_without_grades_the_page_says_what_to_do(as_alice, project, make_human):
    page = as_alice.get(address(project, "evaluator-agreement", make_human().evaluator_id)).content.decode()
    assert "Nobody has graded by it yet" in page


def test_an_editor_asks_again_from_the_page_of_a_queue(as_alice, project, graded):
    assert as_alice.post(address(project, "queue-ask-again", graded.pk), {"share": "30"}).status_code == 302
    assert graded.items.filter(repeats__isnull=False).count() == 3
    as_alice.post(address(project, "queue-ask-again", graded.pk), {"share": "90"})
    assert graded.items.filter(repeats__isnull=False).count() == 3


# --- API --------------------------------------------------------------------------------------------------------------
def test_agreement_over_rest(client, alice, project, graded, version, people):
    client.force_login(alice)
    place = f"/api/projects/{project.slug}/evaluators/{version.evaluator_id}/agreement/"
    told = client.get(place, {"queue": graded.pk}).json()
    assert (told["version"], told["level"], told["items"], told["cohen"]) == (version.pk, "nominal", 10, None)
    assert [(one["person"], one["grades"]) for one in told["people"]] == [("rita", 10), ("ravi", 10), ("rosa", 2)]
    assert told["pairs"][0]["kappa"]["value"] == pytest.approx(0.28 / 0.48)
    assert client.get(place, {"level": "ordinal"}).json()["level"] == "ordinal"
    assert client.get(place, {"queue": "nonsense"}).status_code == 400
    client.force_login(people[2])
    own = client.get(place).json()
    assert ([one["person"] for one in own["people"]], own["pairs"], own["krippendorff"]) == (["rosa"], [], None)


def test_a_hidden_second_asking_that_nobody_comes_back_for_does_not_keep_a_queue_open(make_queue, people):
    queue = make_queue(4)
    ask_again(queue, 0.5)
    first, *others = queue.items.filter(repeats=None).order_by("pk")
    for item in others:
        grade(item, people[0])
    progress = progress_of([queue], people[0])[queue.pk]
    assert (progress.turns, progress.done, progress.left) == (6, 3, 3)
    grade(first, people[0])
    progress = progress_of([queue], people[0])[queue.pk]
    assert (progress.turns, progress.done, progress.left, progress.share) == (4, 4, 0, 1.0)
    (repeat, _) = queue.items.filter(repeats__isnull=False).order_by("pk")
    grade(repeat, people[0])
    progress = progress_of([queue], people[0])[queue.pk]
    assert (progress.turns, progress.done, progress.left) == (5, 5, 0)
