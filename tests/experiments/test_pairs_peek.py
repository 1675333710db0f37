"""One case of two results: both answers side by side, and what was said about them."""

import re

import pytest
from django.urls import reverse

from evalstudio.calls.models import Call
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, EvaluationBody, OutputBody
from tests.experiments.compared import comparative, compared, preference
from tests.experiments.judged import add_output, experiment_of, rehearsal_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(project):
    mine, theirs = experiment_of(project, 3, "new"), experiment_of(project, 3, "old")
    said = "You get 50 back for the outage, on your next bill."
    OutputBody.objects.filter(output__experiment=mine).update(outputs={"value": f"Sorry! {said}"})
    OutputBody.objects.filter(output__experiment=theirs).update(outputs={"value": said})
    return mine, theirs


@pytest.fixture
def run(project, two):
    return compared(*two, preference(project, rehearsal_of(project)), [1.0, 0.5, 0.0], flipped=(1,))


def peek(client, mine, theirs, number, **query):
    output = mine.output_set.order_by("pk")[number]
    return client.get(f"{mine.url_against(theirs.pk)}peek/{output.pk}/", query)


def words_of(response) -> str:
    text = re.sub(r"<[^>]*>", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", text)


def test_both_answers_stand_side_by_side_the_baseline_first(as_alice, two, run):
    said = words_of(peek(as_alice, *two, 0))
    assert said.index("old baseline") < said.index("new compared")
    assert "Question case-000?" in said
    assert "Answer case-000" in said  # what is expected


def test_words_that_the_other_does_not_have_are_marked(as_alice, two, run):
    response = peek(as_alice, *two, 0).content.decode()
    assert re.findall(r'<mark class="own">(.*?)</mark>', response) == ["Sorry!"]


def test_markup_in_an_answer_stays_text(as_alice, two, run):
    said = "One two three four five <b>bold</b> & more words here."
    OutputBody.objects.filter(output__experiment=two[0]).update(outputs={"value": f"<script>x</script> {said}"})
    OutputBody.objects.filter(output__experiment=two[1]).update(outputs={"value": said})
    response = peek(as_alice, *two, 0).content.decode()
    assert '<mark class="own">&lt;script&gt;x&lt;/script&gt;</mark>' in response
    assert "<b>bold" not in response


@pytest.mark.parametrize(("number", "winner"), [(0, "new 100 %"), (1, "a tie 50 %"), (2, "old 0 %")])
def test_each_verdict_names_its_winner_and_its_reason(as_alice, two, run, number, winner):
    said = words_of(peek(as_alice, *two, number))
    assert winner in said
    assert f"Because of {number}." in said


def test_a_flip_is_said_in_words(as_alice, two, run):
    sentence = "Asked again with the two outputs exchanged, it answered otherwise."
    assert [sentence in words_of(peek(as_alice, *two, number)) for number in range(3)] == [False, True, False]


def test_the_arrows_walk_the_pairs_in_the_order_of_the_page(as_alice, two, run):
    output = two[0].output_set.order_by("pk")[1]
    response = peek(as_alice, *two, 1)
    place = response.context["place"]
    assert (place.number, place.total) == (2, 3)
    assert f"{two[0].url_against(two[1].pk)}peek/{place.next}/" in response.content.decode()
    assert output.pk not in (place.previous, place.next)


def test_an_answer_without_a_partner_is_not_found(as_alice, two, run):
    alone = add_output(two[0], two[0].output_set.first().case, attempt=1)
    address = f"{two[0].url_against(two[1].pk)}peek/{alone.pk}/"
    assert as_alice.get(address).status_code == 404
    assert "peek_id" not in as_alice.get(two[0].url_against(two[1].pk), {"peek": alone.pk}).context


def test_before_any_run_both_answers_can_be_read(as_alice, two):
    assert "No evaluator has judged both of these yet." in words_of(peek(as_alice, *two, 0))


def test_a_case_costs_the_same_however_many_evaluators_have_run(as_alice, project, two, django_assert_max_num_queries):
    for name in ("a", "b", "c"):
        compared(*two, comparative(project, name), [1.0, 0.5, 0.0])
    peek(as_alice, *two, 0)
    with django_assert_max_num_queries(17):
        peek(as_alice, *two, 0)


@pytest.mark.django_db(transaction=True)
def test_the_exchange_shows_the_messages_of_both_orders(as_alice, project, two):
    start(preference(project, rehearsal_of(project)), two[0], baseline=two[1])
    work("net")
    row = Evaluation.objects.order_by("pk").first()
    assert (
        len(EvaluationBody.objects.get(pk=row.pk).call_keys) == Call.objects.filter(pk__in=row.body.call_keys).count()
    )
    said = words_of(as_alice.get(reverse("evaluation-exchange", args=[project.slug, row.pk])))
    assert said.count("Rendered message") == 2
    assert "the two outputs exchanged" in said
    assert "new against old, case-000" in said
