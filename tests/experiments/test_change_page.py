"""What would change: two versions over the same outputs, and the verdicts that differ."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Project
from evaluators.kinds import KINDS
from evaluators.models import Draft, Evaluator
from experiments.analysis.change import Trial, change
from experiments.analysis.sampling import sample_ids
from experiments.ledger.start import start
from experiments.ledger.verbs import stop
from experiments.models import Evaluation, OutputBody, Purpose, Run
from tests.experiments.judged import experiment_of
from tests.experiments.trying import finish, heuristic_version, judge_version, reply

pytestmark = pytest.mark.django_db(transaction=True)


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture
def experiment(project):
    """Thirty outputs whose numbers go from 0 to 29."""
    experiment = experiment_of(project, 30)
    for number, body in enumerate(OutputBody.objects.order_by("pk")):
        body.outputs = {"value": str(number)}
        body.save()
    return experiment


LENIENT = "return +outputs.value >= 10 ? 1 : 0"
STRICT = "return +outputs.value >= 16 ? 1 : 0"


@pytest.fixture
def two(project):
    """A heuristic whose second version is stricter; the second is published."""
    return heuristic_version(project, LENIENT, threshold=0.5), heuristic_version(project, STRICT, threshold=0.5)


def look(client, evaluator, **query):
    return client.get(reverse("evaluator-change", args=[evaluator.project.slug, evaluator.pk]), query)


def press(client, evaluator, follow=False, **typed):
    said = {"from": 1, "to": 2, "n": 50} | typed
    url = reverse("change-start", args=[evaluator.project.slug, evaluator.pk])
    return client.post(url, {name: value for name, value in said.items() if value is not None}, follow=follow)


def tried(two, experiment, n=50, baseline=None):
    runs = Trial(*two, experiment, n, baseline).start(None)
    return change(*(finish(run) for run in runs))


# --- What it comes to -------------------------------------------------------------------------------------------------
def test_verdicts_that_differ_are_counted_and_listed(two, experiment):
    found = tried(two, experiment)
    assert len(found.both) == len(found.scored) == 30
    assert [each.before.output.case.key for each in found.differing] == [f"case-{n:03}" for n in range(10, 16)]
    assert found.share.value == 6 / 30
    assert found.difference.value == -6 / 30
    assert found.difference.high < 0
    assert found.verdict == "worse"
    assert found.table.names == ["passes", "fails"]
    assert [[count for count, _ in cells] for _, cells, _ in found.table.rows] == [[14, 6], [0, 10]]


def test_the_largest_change_comes_first_and_half_a_point_is_none(project, experiment):
    before = heuristic_version(project, "return 0.5")
    after = heuristic_version(project, "return [0.5, 0.505, 0.506, 0.05, 0.9][+outputs.value % 5]")
    found = tried((before, after), experiment)
    keys = [int(each.before.output.case.key[-3:]) % 5 for each in found.differing]
    assert keys == [3] * 6 + [4] * 6 + [2] * 6
    assert found.table is None


def test_labels_that_count_the_same_are_another_verdict_all_the_same(project, experiment):
    scoring = {"type": "enum", "options": [{"label": "A", "percentage": 50}, {"label": "B", "percentage": 50}]}
    two = [heuristic_version(project, f'return "{label}"', scoring=scoring) for label in "AB"]
    found = tried(two, experiment)
    assert len(found.differing) == 30
    assert found.difference.value == 0
    assert found.table.rows == [("A", [(0, True), (30, False)], 30), ("B", [(0, False), (0, True)], 0)]


def test_what_only_one_version_scored_is_told_apart_and_never_a_zero(project, experiment):
    before = heuristic_version(project, "return 1", threshold=0.5)
    after = heuristic_version(project, "if (+outputs.value < 3) throw new Error('no'); return 1", threshold=0.5)
    found = tried((before, after), experiment)
    assert (len(found.scored), len(found.lopsided), found.neither, found.differing) == (27, 3, 0, [])
    assert found.difference.value == 0
    assert (found.share.n, found.share.asked) == (27, 30)
    assert found.table.names == ["passes", "no score"]


def test_where_the_better_direction_changed_nobody_is_called_better(project, experiment):
    two = heuristic_version(project, "return 0.2"), heuristic_version(project, "return 0.9", direction="lower")
    assert tried(two, experiment).verdict is None


def test_the_same_outputs_are_judged_by_both_and_asked_again_nothing_runs(two, experiment):
    trial = Trial(*two, experiment, 10)
    assert trial.runs() is None
    runs = trial.start(None)
    assert [run.sample for run in runs] == [sample_ids(experiment, 10)] * 2
    assert trial.start(None) == runs == trial.runs()
    assert Run.objects.count() == 2
    assert {run.purpose for run in runs} == {Purpose.TRIAL}


def test_replies_that_are_kept_are_used_again(project, alice, experiment, connection, chat_server):
    chat_server.reply = lambda body: reply("Right" if "kindly" in body["messages"][-1]["content"] else "Wrong")
    two = (
        judge_version(project, connection, "Judge {{ outputs.value }}"),
        judge_version(project, connection, "Judge kindly {{ outputs.value }}"),
    )
    finish(start(two[0], experiment, alice))
    assert chat_server.calls == 30
    found = tried(two, experiment, n=20)
    assert chat_server.calls == 50
    assert len(found.differing) == 20
    assert found.table.names == ["Right", "Wrong"]


def test_comparisons_are_tried_against_their_baseline(project, experiment):
    baseline = experiment_of(project, 30, system="assistant 0")
    longer = "return comparison.outputs.value.length > outputs.value.length ? 1 : 0"
    two = (
        heuristic_version(project, longer, "Longer", runs_on="comparison"),
        heuristic_version(project, "return 0.5", "Longer", runs_on="comparison"),
    )
    found = tried(two, experiment, baseline=baseline)
    assert len(found.differing) == 30
    assert found.difference.value == 0.5
    assert found.table.names == ["a tie", "the baseline"]


# --- The page ---------------------------------------------------------------------------------------------------------
def test_from_start_to_publish(as_alice, two, experiment):
    evaluator = two[0].evaluator
    page = text_of(look(as_alice, evaluator))
    assert "Not tried on these outputs yet." in page
    assert re.search(r'name="from".*?value="1" selected', page)
    assert re.search(r'name="to".*?value="2" selected', page)
    going = press(as_alice, evaluator, follow=True, experiment=experiment.pk)
    assert going.redirect_chain[0][0].endswith(f"/change/?from=1&to=2&experiment={experiment.pk}&n=50")
    assert "every 2s" in text_of(going)
    assert AuditEntry.objects.get().act == "tried"
    for run in Run.objects.all():
        finish(run)
    said = text_of(look(as_alice, evaluator, experiment=experiment.pk))
    for words in ("<b>6 of 30</b> verdicts differ", "−20.0 pts", "looks worse", "20.0 %", "case-010"):
        assert words in said
    assert "every 2s" not in said
    assert "Publish" not in said  # v2 is published already
    back = text_of(look(as_alice, evaluator, experiment=experiment.pk, **{"from": 2, "to": 1}))
    assert "Not tried" not in back
    assert "Publish v1" in back
    assert "looks better" in back


def test_nothing_differs_is_said_in_so_many_words(as_alice, project, experiment):
    two = heuristic_version(project, "return 1"), heuristic_version(project, "return 1.0")
    tried(two, experiment)
    assert "No verdict differs on 30 outputs." in text_of(look(as_alice, two[0].evaluator))


def test_both_reasons_stand_side_by_side(as_alice, two, experiment):
    found = tried(two, experiment).differing[0]
    url = reverse("evaluations-beside", args=[two[0].evaluator.project.slug, found.before.pk, found.after.pk])
    said = text_of(as_alice.get(url, headers={"HX-Request": "true"}))
    assert "<html" not in said
    assert said.count("It gave no reason.") == 2
    assert "Question case-010?" in said
    assert "Answer case-010" in said
    assert "<html" in text_of(as_alice.get(url))


def test_verdicts_on_different_outputs_or_of_different_evaluators_do_not_belong_together(
    as_alice, project, two, experiment, alice
):
    first, second = tried(two, experiment).both[:2]
    other = finish(start(heuristic_version(project, "return 1", "Other"), experiment, alice))
    stranger = Evaluation.objects.get(run=other, output=first.before.output)
    for pair in ((first.before, second.after), (first.before, stranger)):
        url = reverse("evaluations-beside", args=[project.slug, *(row.pk for row in pair)])
        assert as_alice.get(url).status_code == 404


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"to": 1}, "Choose two different versions."),
        ({"to": 9}, "This evaluator has no such version."),
        ({"from": "x"}, "This evaluator has no such version."),
        ({"n": 1000}, "Give a number from 2 to 200."),
        ({"experiment": 999999}, "This result is not in this project."),
        ({"experiment": None}, "Choose whose outputs to judge."),
    ],
)
def test_what_cannot_be_tried_says_why_and_keeps_what_was_typed(as_alice, two, experiment, typed, said):
    response = press(as_alice, two[0].evaluator, **{"experiment": experiment.pk, "n": 7, **typed})
    assert response.status_code == 422
    assert said in text_of(response)
    assert "n" in typed or 'value="7"' in text_of(response)
    assert not Run.objects.exists()


def test_the_version_of_another_evaluator_cannot_be_named(as_alice, project, two, experiment):
    """Versions go by their number within their evaluator, so that there is no way to say another's."""
    for number in range(3):
        heuristic_version(project, f"return {number}", "Other")
    assert press(as_alice, two[0].evaluator, experiment=experiment.pk, to=3).status_code == 422


def test_the_result_of_another_project_is_not_judged(as_alice, charlie, two):
    theirs = experiment_of(Project.start("Elsewhere", charlie), 3)
    assert press(as_alice, two[0].evaluator, experiment=theirs.pk).status_code == 422
    assert not Run.objects.exists()


def test_versions_that_people_grade_are_refused(as_alice, project, experiment):
    evaluator = Evaluator.objects.create(project=project, name="By hand", kind="human")
    for text in ("Read it.", "Read it twice."):
        evaluator.revise(KINDS["human"].blank() | {"instructions": text}, schema=1, author=None)
    response = press(as_alice, evaluator, experiment=experiment.pk)
    assert response.status_code == 422
    assert "Nothing here gives the scores of v1, so it cannot be tried." in text_of(response)
    assert not Run.objects.exists()


def test_a_comparison_asks_for_a_baseline_of_the_same_data_set(as_alice, project, experiment):
    two = [heuristic_version(project, f"return {n}", "Pairs", runs_on="comparison") for n in (0, 1)]
    evaluator, other = two[0].evaluator, experiment_of(project, 4)
    for against, said in (
        (None, "Choose the one to compare with."),
        (experiment.pk, "A result cannot be compared with itself."),
        (other.pk, "The two answer different data sets."),
    ):
        response = press(as_alice, evaluator, experiment=experiment.pk, against=against)
        assert response.status_code == 422
        assert said in text_of(response)
    mixed = heuristic_version(project, "return 1", "Pairs")
    response = press(as_alice, evaluator, experiment=experiment.pk, to=mixed.number)
    assert "One of the two judges a result, the other compares two." in text_of(response)


def test_a_version_that_cannot_start_leaves_no_run_behind(as_alice, project, experiment, connection):
    evaluator = judge_version(project, connection).evaluator
    spare = type(connection).objects.create(
        project=project, name="Spare", base_url="http://127.0.0.1:9/v1", model="m", archived_at=timezone.now()
    )
    judge_version(project, spare)
    response = press(as_alice, evaluator, experiment=experiment.pk)
    assert response.status_code == 422
    assert "The connection “Spare” is archived." in text_of(response)
    assert not Run.objects.exists()


def test_one_version_alone_says_what_to_do(as_alice, project, experiment):
    version = heuristic_version(project, "return 1")
    assert "There is only one version" in text_of(look(as_alice, version.evaluator))


def test_without_results_it_says_to_import_some(as_alice, two):
    assert "There is nothing to judge yet" in text_of(look(as_alice, two[0].evaluator))


def test_edits_that_are_not_saved_are_pointed_out(as_alice, alice, project, two, experiment):
    evaluator = two[0].evaluator
    Draft.objects.keep(project, alice, evaluator.kind, {"code": ["x"]}, evaluator=evaluator, key="")
    assert "You have edits that are not saved yet." in text_of(look(as_alice, evaluator))


def test_a_viewer_reads_and_starts_nothing(client, bob, two, experiment):
    tried(two, experiment)
    client.force_login(bob)
    assert "<b>6 of 30</b> verdicts differ" in text_of(look(client, two[0].evaluator))
    assert "Compare these" not in text_of(look(client, two[0].evaluator))
    assert press(client, two[0].evaluator, experiment=experiment.pk).status_code == 403


def test_a_stopped_trial_shows_what_has_no_score(as_alice, two, experiment):
    runs = Trial(*two, experiment, 50).start(None)
    stop(runs[1])
    finish(runs[0])
    said = text_of(look(as_alice, two[0].evaluator))
    assert "was stopped" in said
    assert "No output has a score from both versions." in said
    assert "Scored by only one of the two" in said
    assert "every 2s" not in said


@pytest.mark.parametrize("n", [5, 30])
def test_the_page_takes_the_same_few_queries_however_much_differs(
    as_alice, project, two, n, django_assert_max_num_queries
):
    experiment = experiment_of(project, n)
    OutputBody.objects.update(outputs={"value": "12"})
    tried(two, experiment)
    look(as_alice, two[0].evaluator)
    with django_assert_max_num_queries(20):
        assert f"<b>{n} of {n}</b> verdicts differ" in text_of(look(as_alice, two[0].evaluator))
