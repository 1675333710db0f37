"""The gate: what golden cases must show before a version stands for its evaluator."""

import pytest
from django.urls import reverse

from evalstudio.calls.models import Connection
from evalstudio.projects.models import AuditEntry
from evaluators.golden_judging import judge
from evaluators.kinds import KINDS
from evaluators.models import EvaluatorVersion, GoldenVerdict, Publication, PublishingRule
from evaluators.publishing import GateClosed, gate_of, publish
from tests.evaluators.editor_forms import heuristic_fields
from tests.evaluators.golden_stage import ALWAYS, YES_NO, four_cases, heuristic_config, keep_case, version_of

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def rule(project):
    return PublishingRule.objects.create(project=project, least_cases=4, min_sensitivity=0.9, min_specificity=0.9)


@pytest.fixture
def good(project, rule):
    """A version that is right about its four cases."""
    version = version_of(project, "Short", heuristic_config())
    four_cases(version.evaluator)
    return version


@pytest.fixture
def careless(good, project):
    """The next version, which lets everything pass."""
    return version_of(project, "Short", heuristic_config(ALWAYS))


def reasons(version):
    return gate_of(version, PublishingRule.objects.first()).reasons


def test_without_a_rule_saving_publishes(project):
    version = version_of(project, "Short", heuristic_config())
    assert version.evaluator.published_version == version
    assert gate_of(version, None).is_open


def test_with_a_rule_a_saved_version_waits(good):
    assert good.evaluator.published_version is None
    assert not Publication.objects.exists()


def test_every_golden_case_has_to_be_judged_first(good, alice):
    with pytest.raises(GateClosed) as closed:
        publish(good, alice)
    assert closed.value.reasons == ["v1 has judged 0 of 4 golden cases."]


def test_a_version_that_holds_is_published_with_its_figures(good, alice):
    judge(good)
    publish(good, alice)
    good.evaluator.refresh_from_db()
    assert good.evaluator.published_version == good
    kept = Publication.objects.get()
    assert kept.by == alice
    assert kept.figures["cases"] == 4
    assert kept.figures["sensitivity"]["value"] == 1.0
    assert AuditEntry.objects.filter(act="published v1 of").exists()


def test_passing_everything_fails_at_specificity(careless, alice):
    judge(careless)
    with pytest.raises(GateClosed, match="Specificity is 0\u00a0%; the project asks for 90\u00a0%"):
        publish(careless, alice)
    gate = gate_of(careless, PublishingRule.objects.get())
    shown = {one.name: one.figure for one in gate.conditions if one.figure}
    assert (shown["Sensitivity"].value, shown["Specificity"].value) == (1.0, 0.0)
    assert shown["Specificity"].method == "Wilson score interval"


def test_the_point_value_decides_and_the_limit_itself_is_enough(careless, rule):
    PublishingRule.objects.update(min_sensitivity=None, min_specificity=None, min_agreement=0.5)
    judge(careless)
    assert reasons(careless) == []
    PublishingRule.objects.update(min_agreement=0.5001)
    assert reasons(careless) == ["Agreement is 50\u00a0%; the project asks for 50.01\u00a0%."]


def test_too_few_cases_close_it(good):
    PublishingRule.objects.update(least_cases=10)
    judge(good)
    assert reasons(good) == ["The project asks for at least 10 golden cases; there are 4."]


def test_what_cannot_be_told_closes_it_with_what_to_do(project, rule):
    version = version_of(project, "Short", heuristic_config())
    for answer in ("one", "two", "three", "four"):
        keep_case(version.evaluator, answer, {"passed": True})
    judge(version)
    assert reasons(version) == ["Specificity cannot be told: no golden case has to fail. Keep a wrong answer."]
    open_ended = version_of(project, "Short", heuristic_config(threshold=None))
    judge(open_ended)
    assert "Specificity cannot be told: the evaluator has no threshold" in reasons(open_ended)[1]


def test_a_case_that_failed_has_to_be_judged_again(project, rule):
    version = version_of(project, "Short", heuristic_config("function evaluate() { throw new Error('no'); }"))
    four_cases(version.evaluator)
    judge(version)
    assert "v1 failed at 4 golden cases. Look at what went wrong, then judge again." in reasons(version)


def test_a_case_without_a_score_does_not_agree(project, rule):
    version = version_of(project, "Short", heuristic_config("function evaluate() { return 7; }"))
    four_cases(version.evaluator)
    judge(version)
    assert [reason.split(";")[0] for reason in reasons(version)] == [
        "Sensitivity is 0\u00a0%",
        "Specificity is 0\u00a0%",
    ]


def test_what_was_published_once_may_be_published_again(good, careless, alice):
    judge(good)
    publish(good, alice)
    PublishingRule.objects.update(least_cases=50)
    good.evaluator.publish(careless, alice)
    publish(good, alice)
    good.evaluator.refresh_from_db()
    assert good.evaluator.published_version == good
    assert Publication.objects.count() == 2


def test_a_new_case_reopens_the_question(good, careless):
    judge(good)
    keep_case(good.evaluator, "fresh", {"passed": True})
    assert reasons(good) == ["v1 has judged 4 of 5 golden cases."]


def test_people_are_not_held_up(project, rule, alice):
    config = KINDS["human"].blank() | {"instructions": "Read it.", "scoring": YES_NO}
    version = version_of(project, "By hand", config, "human")
    publish(version, alice)
    version.evaluator.refresh_from_db()
    assert version.evaluator.published_version == version


def test_a_version_that_cannot_be_read_stays_closed(good, alice):
    EvaluatorVersion.objects.update(config={})
    good.refresh_from_db()
    with pytest.raises(GateClosed, match="cannot be read any more"):
        publish(good, alice)


# --- Pages ------------------------------------------------------------------------------------------------------------
def test_the_page_refuses_with_reasons_and_then_publishes(as_alice, project, good):
    address = reverse("evaluator-publish", args=[project.slug, good.evaluator_id])
    refused = as_alice.post(address, {"version": "1"}, **HTMX)
    assert refused.status_code == 422
    assert "Not published." in refused.content.decode()
    assert "v1 has judged 0 of 4 golden cases." in refused.content.decode()
    assert as_alice.post(address, {"version": "1"}).status_code == 422, "and without scripts"
    judge_it = reverse("golden-judge", args=[project.slug, good.evaluator_id])
    judged = as_alice.post(judge_it, {"version": "1"}, **HTMX)
    assert "v1 may be published" in judged.content.decode()
    assert as_alice.post(address, {"version": "1"}).status_code == 302
    assert "v1 is published" in as_alice.get(good.evaluator.get_absolute_url()).content.decode()


def test_saving_says_that_it_is_not_published_and_where_to_look(as_alice, project, rule):
    address = reverse("evaluator-new", args=[project.slug, "heuristic"]) + "?draft=k1"
    page = as_alice.post(address, heuristic_fields(), follow=True).content.decode()
    assert 'Saved v1 of Short, not published. <a href="#gate">' in page


def test_an_owner_sets_the_rule_and_lifts_it(as_alice, project):
    address = reverse("publishing-rule", args=[project.slug])
    as_alice.post(address, {"min_agreement": "90", "least_cases": "12"})
    rule = PublishingRule.objects.get()
    assert (rule.min_agreement, rule.min_sensitivity, rule.least_cases) == (0.9, None, 12)
    assert b'value="90"' in as_alice.get(address).content
    as_alice.post(address, {"min_agreement": "", "least_cases": "12"})
    assert not PublishingRule.objects.exists()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"min_agreement": "120"}, "a percentage from 0 to 100"),
        ({"min_agreement": "most"}, "a percentage such as 60"),
        ({"min_sensitivity": "90"}, "Give both or neither"),
        ({"min_agreement": "90", "least_cases": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_rule_that_is_wrong_says_so_beside_the_field(as_alice, project, typed, said):
    reply = as_alice.post(reverse("publishing-rule", args=[project.slug]), typed)
    assert reply.status_code == 422
    assert said in reply.content.decode()
    assert not PublishingRule.objects.exists()


def test_only_owners_set_the_rule(client, bob, project):
    client.force_login(bob)
    address = reverse("publishing-rule", args=[project.slug])
    assert client.post(address, {"min_agreement": "0"}).status_code == 403
    assert b"An owner of the project can change this." in client.get(address).content


def test_the_panel_takes_the_same_queries_for_many_cases(as_alice, good, django_assert_max_num_queries):
    for number in range(60):
        keep_case(good.evaluator, f"answer {number}", {"passed": True})
    judge(good)
    with django_assert_max_num_queries(28):
        page = as_alice.get(good.evaluator.get_absolute_url()).content.decode()
    assert "64 cases" in page
    assert "answer 59" in page
    assert "answer 30<" not in page
    assert GoldenVerdict.objects.count() == 64
    assert Connection.objects.count() == 0
