"""Golden cases are judged in rounds: what fits, several at once, once each, whatever happens between."""

import json

import pytest

from evalstudio.calls.models import REHEARSAL_URL, Call, Connection
from evaluators.core import Status
from evaluators.golden_judging import PeopleGrade, forget_failures, judge
from evaluators.kinds import KINDS, BadConfig
from evaluators.models import EvaluatorVersion, GoldenVerdict
from tests.evaluators.golden_stage import (
    YES_NO,
    four_cases,
    heuristic_config,
    judge_config,
    keep_case,
    version_of,
)
from tests.local_chat_server import broken

pytestmark = pytest.mark.django_db(transaction=True)  # the chat client reads connections in a thread of its own


@pytest.fixture
def version(project):
    version = version_of(project, "Short", heuristic_config())
    four_cases(version.evaluator)
    return version


@pytest.fixture
def served(project, chat_server):
    chat_server.reply = json.dumps({"reason": "It is.", "label": "Yes"})
    return Connection.objects.create(project=project, name="Local", base_url=chat_server.url, model="tiny")


def test_a_version_is_judged_on_every_case_once(version):
    assert (judge(version).judged, judge(version).judged) == (4, 0)
    found = GoldenVerdict.objects.order_by("case").values_list("case__title", "passed", "state")
    assert list(found) == [
        ("brief", True, Status.SCORED),
        ("short", True, Status.SCORED),
        ("a rambling answer", False, Status.SCORED),
        ("another rambling answer", False, Status.SCORED),
    ]


def test_only_a_case_that_is_new_is_judged(version):
    judge(version)
    keep_case(version.evaluator, "new", {"passed": True})
    done = judge(version)
    assert (done.judged, done.left) == (1, 0)


def test_a_round_without_time_leaves_the_rest_for_the_next(version):
    for number in range(30):
        keep_case(version.evaluator, f"answer {number}", {"passed": True})
    first = judge(version, limit_s=0)
    assert (first.judged, first.left) == (16, 18)
    rounds = [judge(version, limit_s=0) for _ in range(2)]
    assert [done.left for done in rounds] == [2, 0]
    assert GoldenVerdict.objects.count() == 34


def test_calls_are_in_flight_together_and_their_replies_kept(project, served, chat_server):
    version = version_of(project, "Right", judge_config(served), "judge")
    for number in range(6):
        keep_case(version.evaluator, f"answer {number}", {"label": "Yes"})
    chat_server.latency_s = 0.3
    assert judge(version).judged == 6
    assert chat_server.calls == 6
    assert chat_server.max_in_flight > 1
    assert set(GoldenVerdict.objects.values_list("label", "reason")) == {("Yes", "It is.")}
    assert Call.objects.filter(reusable=True).count() == 6


def test_what_failed_is_judged_again_when_it_is_asked_for(project, served, chat_server):
    version = version_of(project, "Right", judge_config(served), "judge")
    keep_case(version.evaluator, "answer", {"label": "Yes"})
    chat_server.then(broken())
    judge(version)
    assert GoldenVerdict.objects.get().state == Status.FAILED
    assert judge(version).judged == 0, "a round goes over no case twice"
    assert forget_failures(version) == 1
    judge(version)
    assert GoldenVerdict.objects.get().label == "Yes"


def test_a_reply_that_says_nothing_is_unscored_and_stays_so(project, served, chat_server):
    version = version_of(project, "Right", judge_config(served), "judge")
    keep_case(version.evaluator, "answer", {"label": "Yes"})
    chat_server.reply = "Perhaps."
    judge(version)
    assert GoldenVerdict.objects.get().state == Status.UNSCORED
    assert forget_failures(version) == 0


def test_the_rehearsal_needs_no_slots(project, alice):
    connection = Connection.objects.create(project=project, name="R", base_url=REHEARSAL_URL, model="rehearsal")
    version = version_of(project, "Right", judge_config(connection), "judge")
    keep_case(version.evaluator, "answer", {"label": "Yes"})
    assert judge(version).judged == 1


def test_people_grade_for_a_human_evaluator(project):
    config = KINDS["human"].blank() | {"instructions": "Read it.", "scoring": YES_NO}
    with pytest.raises(PeopleGrade):
        judge(version_of(project, "By hand", config, "human"))


def test_a_version_that_cannot_be_read_is_not_judged(version):
    EvaluatorVersion.objects.update(config={})
    version.refresh_from_db()
    with pytest.raises(BadConfig):
        judge(version)
