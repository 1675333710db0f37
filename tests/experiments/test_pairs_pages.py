"""The pages of two results: the choice of the other one, the figures between them, and their cases."""

import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Membership, Project, Role
from evaluators.models import Evaluator
from experiments.models import Evaluation, Experiment, OutputBody, Run, RunState
from tests.experiments.compared import comparative, compared, preference, wavering
from tests.experiments.judged import add_case, add_output, experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db
KEYS = re.compile(r'<span class="mono clip">([^<]+)</span>')


@pytest.fixture
def two(project):
    return experiment_of(project, 6, "new"), experiment_of(project, 6, "old")


@pytest.fixture
def run(project, two):
    """A loss, two wins, a tie and two cases without a score; the tie and a win flipped."""
    told = [0.0, 1.0, 0.5, 0.75, "unscored: unparsed", "failed: unreachable"]
    return compared(*two, preference(project, rehearsal_of(project)), told, flipped=(2, 3))


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def words_of(response) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", text_of(response)))


def keys_on(response) -> list[str]:
    return KEYS.findall(response.content.decode())


def against(client, mine, theirs, **query):
    return client.get(mine.url_against(theirs.pk), query)


def choice(client, experiment, **query):
    return client.get(reverse("comparison-choice", args=[experiment.project.slug, experiment.pk]), query)


# --- The choice -------------------------------------------------------------------------------------------------------
def test_the_page_of_a_result_leads_to_the_choice(as_alice, two):
    said = text_of(as_alice.get(two[0].get_absolute_url()))
    assert reverse("comparison-choice", args=[two[0].project.slug, two[0].pk]) in said


def test_the_other_results_of_the_data_set_are_offered_with_the_cases_both_have(as_alice, project, two, run):
    mine, theirs = two
    theirs.output_set.last().delete()
    stranger = experiment_of(project, 2, "of other cases")
    response = choice(as_alice, mine)
    said = words_of(response)
    assert f'href="{mine.url_against(theirs.pk)}"' in text_of(response)
    assert "old 6 questions v1 5 Preference" in said
    assert stranger.system.name not in said
    assert f'href="{mine.get_absolute_url()}"' in text_of(response)


def test_a_result_without_a_case_in_common_is_no_link(as_alice, two):
    two[1].output_set.all().delete()
    assert two[0].url_against(two[1].pk) not in text_of(choice(as_alice, two[0]))


def test_many_results_are_found_by_their_system(as_alice, project, two):
    found = choice(as_alice, two[0], q="OL")
    assert "old" in words_of(found)
    assert "No system has that in its name" in words_of(choice(as_alice, two[0], q="nobody"))


def test_a_result_that_has_no_other_says_what_to_bring(as_alice, project):
    said = words_of(choice(as_alice, experiment_of(project, 1)))
    assert "Nothing to compare with yet" in said


def test_the_choice_costs_the_same_for_three_and_for_fifteen_results(as_alice, project, django_assert_max_num_queries):
    mine = experiment_of(project, 2, "new")
    for number in range(14):
        experiment_of(project, 2, f"old {number}")
    with django_assert_max_num_queries(11):
        choice(as_alice, mine)


# --- The figures ------------------------------------------------------------------------------------------------------
def test_the_head_says_how_often_the_one_beats_the_other_and_how_sure_that_is(as_alice, two, run):
    said = words_of(against(as_alice, *two))
    assert "How often new beats old, a tie counting half" in said
    assert "2 wins 50.0 % 1 tie 25.0 % 1 loss 25.0 %" in said
    assert "2 flipped with the order" in said
    assert "56.2 %" in said
    assert "4 of 6" in said
    assert "standard error 21.348 points" in said
    assert "Orders disagree" in said
    assert "cannot tell" in said


def test_a_clear_winner_is_called_better_and_the_mirror_has_runs_of_its_own(as_alice, project, two):
    run = compared(*two, comparative(project), [1.0] * 6)
    there = against(as_alice, *two)
    assert 'class="verdict is-better"' in text_of(there)
    mirror = two[1].url_against(two[0].pk)
    assert f'href="{mirror}"' in text_of(there)
    back = as_alice.get(mirror)
    assert "Not compared yet" in text_of(back)
    assert "1 run there" in text_of(back)
    assert Run.objects.get() == run


def test_a_rehearsal_says_that_it_is_one(as_alice, project, two):
    rehearsal = rehearsal_of(project)
    compared(*two, preference(project, rehearsal), [1.0] * 6, connection=rehearsal)
    assert "no language model" in text_of(against(as_alice, *two))


def test_runs_of_each_result_alone_and_of_other_pairs_do_not_show(as_alice, project, two, run):
    judged(two[0], version_of(project, "Facts"), [1.0] * 6)
    third = experiment_of(project, 6, "third")
    compared(two[0], third, comparative(project, "Elsewhere"), [1.0] * 6)
    assert [head["subject"].run for head in against(as_alice, *two).context["heads"]] == [run]


def test_a_comparison_is_no_figure_of_the_result_itself(as_alice, project, two, run):
    for address in (
        two[0].get_absolute_url(),
        reverse("experiment-list", args=[project.slug]),
        reverse("home-results", args=[project.slug]),
        reverse("experiment-export", args=[project.slug, two[0].pk, "csv"]),
    ):
        response = as_alice.get(address)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        assert b"Preference" not in content, address


def test_cases_of_one_side_are_listed_as_not_comparable(as_alice, project, two, run):
    dataset = two[0].dataset_version.dataset
    add_output(two[0], add_case(dataset, "only-mine", 7))
    response = against(as_alice, *two)
    said = words_of(response)
    assert "Not comparable" in said
    assert "Only new: 1 answer only-mine" in said
    assert "only-mine" not in keys_on(response)


def test_answers_of_one_side_alone_are_counted_and_their_cases_named_once(as_alice, two, run):
    """Neither side answered in an attempt of the other, which makes no other content of the case."""
    case = two[0].output_set.get(case__key="case-001").case
    for attempt in (1, 2):
        add_output(two[0], case, attempt=attempt)
    add_output(two[1], case, attempt=3)
    response = against(as_alice, *two)
    said = words_of(response)
    assert "Only new: 2 answers case-001 Only old: 1 answer case-001 " in said
    assert "with other content" not in said


def test_results_without_a_common_case_say_so(as_alice, project, two):
    two[0].output_set.all().delete()
    assert "no case in common" in words_of(against(as_alice, *two))


# --- The rows ---------------------------------------------------------------------------------------------------------
SCORED = ["case-000", "case-002", "case-003", "case-001"]


def test_what_the_baseline_won_comes_first_unless_the_other_is_asked_for(as_alice, two, run):
    assert keys_on(against(as_alice, *two)) == [*SCORED, "case-005", "case-004"]
    assert "Worst regression first by Preference" in words_of(against(as_alice, *two))
    assert keys_on(against(as_alice, *two, sort="high")) == [*SCORED[::-1], "case-005", "case-004"]
    assert keys_on(against(as_alice, *two, sort="case")) == [f"case-00{n}" for n in range(6)]


@pytest.mark.parametrize(
    ("show", "expected"),
    {
        "wins": ["case-003", "case-001"],
        "ties": ["case-002"],
        "losses": ["case-000"],
        "flips": ["case-002", "case-003"],
        "regressed": ["case-000"],
        "errors": ["case-005", "case-004"],
        "unscored": ["case-005", "case-004"],  # a word of former addresses
        "below": [*SCORED, "case-005", "case-004"],  # no word of comparisons
    }.items(),
)
def test_rows_are_filtered_by_outcome(as_alice, two, run, show, expected):
    assert keys_on(against(as_alice, *two, show=show)) == expected


def test_filters_say_how_many_they_keep(as_alice, two, run):
    chips = {chip["word"]: chip["count"] for chip in against(as_alice, *two).context["chips"]}
    assert chips == {"All": 6, "Losses": 1, "Ties": 1, "Wins": 2, "Flips": 2, "Errors": 2}


def test_before_any_run_the_pairs_can_be_read(as_alice, two):
    response = against(as_alice, *two)
    assert keys_on(response) == [f"case-00{n}" for n in range(6)]
    assert "Not compared yet" in words_of(response)


def test_the_page_costs_the_same_for_few_and_many_rows(as_alice, project, django_assert_max_num_queries):
    version = comparative(project)
    for n in (3, 25):
        mine, theirs = experiment_of(project, n, f"new {n}"), experiment_of(project, n, f"old {n}")
        compared(mine, theirs, version, [1.0] * n)
        against(as_alice, mine, theirs)
        with django_assert_max_num_queries(14):
            against(as_alice, mine, theirs)


# --- Running ----------------------------------------------------------------------------------------------------------
def begin(client, mine, theirs, version, **more):
    address = reverse("run-start", args=[mine.project.slug, mine.pk])
    return client.post(address, {"version": version.pk, "baseline": theirs.pk, **more}, follow=True)


def test_comparative_evaluators_are_offered_for_pairs_and_others_for_results_alone(as_alice, project, two):
    pair, alone = comparative(project), version_of(project, "Facts")
    old = comparative(project, "Gone")
    Evaluator.objects.filter(pk=old.evaluator_id).update(archived_at=timezone.now())
    assert against(as_alice, *two).context["addable"] == [pair]
    assert as_alice.get(two[0].get_absolute_url()).context["addable"] == [alone]
    Evaluator.objects.filter(pk=pair.evaluator_id).update(published_version=None)
    assert "has no comparative evaluator that is published" in words_of(against(as_alice, *two))


def test_a_comparison_is_started_over_the_pairs_and_noted(as_alice, project, two):
    two[1].output_set.last().delete()
    response = begin(as_alice, *two, comparative(project))
    run = Run.objects.get()
    assert response.redirect_chain == [(two[0].url_against(two[1].pk), 302)]
    assert (run.experiment, run.baseline) == two
    assert Evaluation.objects.filter(run=run).count() == 5
    assert AuditEntry.objects.get().subject == "Shorter output v1 on new against old"
    assert "Shorter output v1 is running." in text_of(response)
    assert 'hx-trigger="every 2s"' in text_of(response)


@pytest.mark.parametrize("kind", ["alone", "together"])
def test_a_version_of_the_wrong_sort_is_refused_in_words(as_alice, project, two, kind):
    if kind == "alone":
        said = text_of(begin(as_alice, *two, version_of(project, "Facts")))
        assert "This version judges one result." in said
    else:
        address = reverse("run-start", args=[project.slug, two[0].pk])
        said = text_of(as_alice.post(address, {"version": comparative(project).pk}, follow=True))
        assert "This version compares two results." in said
    assert not Run.objects.exists()


@pytest.mark.parametrize("baseline", ["", "x", "0", "99999999"])
def test_an_unknown_baseline_is_not_found(as_alice, project, two, baseline):
    address = reverse("run-start", args=[project.slug, two[0].pk])
    assert as_alice.post(address, {"version": comparative(project).pk, "baseline": baseline}).status_code == 404


def test_figures_are_polled_while_it_runs(as_alice, project, two):
    compared(*two, comparative(project), [1.0, "pending"], state=RunState.ACTIVE)
    response = as_alice.get(f"{two[0].url_against(two[1].pk)}columns/")
    assert 'hx-trigger="every 2s"' in text_of(response)
    assert "1 pending" in words_of(response)
    Run.objects.update(state=RunState.FINISHED)
    assert "every 2s" not in text_of(as_alice.get(f"{two[0].url_against(two[1].pk)}columns/"))


def test_pairs_that_came_later_can_be_judged_too(as_alice, project, two):
    compared(*two, comparative(project), [1.0] * 4)
    response = against(as_alice, *two)
    assert "Pairs came after this run." in text_of(response)
    assert [len(keys_on(response)), keys_on(response)[-2:]] == [6, ["case-004", "case-005"]]


# --- Who may ----------------------------------------------------------------------------------------------------------
def addresses(mine, theirs) -> list[str]:
    here = mine.url_against(theirs.pk)
    parts = ("", "columns/", f"peek/{mine.output_set.first().pk}/", "export.csv", "export.jsonl")
    return [reverse("comparison-choice", args=[mine.project.slug, mine.pk]), *(f"{here}{part}" for part in parts)]


def test_a_viewer_reads_and_is_offered_no_verb(client, bob, two, run):
    client.force_login(bob)
    for address in addresses(*two):
        assert client.get(address).status_code == 200, address
    assert text_of(against(client, *two)).count('method="post"') == 1  # to sign out
    assert begin(client, *two, run.version).status_code == 403


def test_an_editor_runs(client, bob, project, two):
    Membership.objects.filter(user=bob).update(role=Role.EDITOR)
    client.force_login(bob)
    begin(client, *two, comparative(project))
    assert Run.objects.get().started_by == bob


def test_a_stranger_finds_nothing(client, charlie, two, run):
    client.force_login(charlie)
    for address in addresses(*two):
        assert client.get(address).status_code == 404, address


def test_a_result_of_another_project_or_data_set_is_no_baseline(as_alice, alice, project, two):
    other = experiment_of(Project.start("Other", alice), 6, "old")
    apart = experiment_of(project, 2, "of other cases")
    for baseline in (other, apart, two[0]):
        assert against(as_alice, two[0], baseline).status_code == 404
    assert Experiment.objects.count() == 4


# --- Evaluators that judged both sides --------------------------------------------------------------------------------
@pytest.fixture
def facts(project, two):
    """By which the first case regressed, two improved and three stayed."""
    version = version_of(project, "Facts")
    judged(two[1], version, [0.9, 0.5, 0.5, 0.5, 0.5, 0.5])
    return judged(two[0], version, [0.1, 0.6, 0.7, 0.5, 0.5, 0.5])


def test_each_evaluator_has_both_figures_the_difference_and_a_verdict(as_alice, two, facts):
    response = against(as_alice, *two)
    said = words_of(response)
    assert "neither better nor worse for sure: on the one evaluator the data cannot tell" in said
    assert "56.7 %" in said
    assert "48.3 %" in said
    assert "−8.3 pts" in said
    assert "more cases to tell 8.3 points" in said
    (line,) = response.context["lines"]
    assert {show: line["figure"].counts[show] for show in ("regressed", "improved", "same")} == {
        "regressed": 1,
        "improved": 2,
        "same": 3,
    }
    assert keys_on(as_alice.get(line["shows"]["regressed"])) == ["case-000"]
    assert keys_on(as_alice.get(line["shows"]["improved"])) == ["case-002", "case-001"]


def test_the_cases_that_go_against_the_verdict_stand_above_the_rest(as_alice, project):
    mine, theirs = experiment_of(project, 30, "weaker"), experiment_of(project, 30, "stronger")
    compared(mine, theirs, comparative(project), [1.0 if number in (7, 21) else 0.0 for number in range(30)])
    response = against(as_alice, mine, theirs)
    assert "Though worse on Shorter output, weaker wins 2 cases case-007" in words_of(response)
    grain = response.context["grain"]
    assert keys_on(as_alice.get(grain["url"])) == ["case-007", "case-021"]


def test_where_cases_were_answered_several_times_attempts_are_counted(as_alice, project):
    mine, theirs = experiment_of(project, 30, "weaker"), experiment_of(project, 30, "stronger")
    for each in (mine, theirs):
        add_output(each, each.output_set.order_by("pk")[7].case, attempt=1)
    compared(mine, theirs, comparative(project), [1.0 if number in (7, 30) else 0.0 for number in range(31)])
    assert "weaker wins 2 attempts case-007" in words_of(against(as_alice, mine, theirs))


def test_what_was_judged_by_other_versions_is_listed_and_can_be_run(as_alice, project, two):
    first = version_of(project, "Facts")
    second = version_of(project, "Facts", threshold=0.7)
    judged(two[0], second, [1.0] * 6)
    judged(two[1], first, [0.0] * 6)
    response = against(as_alice, *two)
    assert "Facts : different versions; v2 on new; v1 on old." in words_of(response)
    assert "Run v2 on old" in words_of(response)
    assert response.context["lines"] == []
    address = reverse("run-start", args=[project.slug, two[1].pk])
    here = two[0].url_against(two[1].pk)
    begun = as_alice.post(address, {"version": second.pk, "next": here})
    assert begun.url == here
    assert [line["subject"].version for line in against(as_alice, *two).context["lines"]] == [second]
    elsewhere = as_alice.post(address, {"version": first.pk, "next": "https://elsewhere.example/"})
    assert elsewhere.url == two[1].get_absolute_url()


def test_texts_are_read_side_by_side_inline_or_plain(as_alice, two, facts):
    said = "You get a credit for the outage on your next bill"
    OutputBody.objects.filter(output__experiment=two[0]).update(outputs={"value": f"{said} today.", "n": {"a": 1}})
    OutputBody.objects.filter(output__experiment=two[1]).update(outputs={"value": f"{said}.", "n": {"a": 2}})
    side = text_of(against(as_alice, *two, **{"as": "texts"}))
    assert '<mark class="own">bill today.</mark>' in side
    assert "n.a" in side
    inline = text_of(against(as_alice, *two, **{"as": "texts", "text": "inline"}))
    assert '<ins><span class="vh">added: </span>bill today.</ins>' in inline
    assert '<del><span class="vh">removed: </span>' in inline
    plain = text_of(against(as_alice, *two, **{"as": "texts", "text": "plain"}))
    assert "<mark" not in plain
    assert "<del>" not in plain


def test_pairs_whose_texts_differ_are_a_filter_of_their_own(as_alice, two, facts):
    OutputBody.objects.filter(output=two[0].output_set.order_by("pk")[3]).update(outputs={"value": "Other words."})
    response = against(as_alice, *two, show="changed")
    assert keys_on(response) == ["case-003"]
    assert {chip["word"]: chip["count"] for chip in response.context["chips"]}["Text changed"] == 1
    assert "Text changed <b>1</b>" in text_of(as_alice.get(f"{two[0].url_against(two[1].pk)}changed/"))


def test_a_word_of_a_case_s_key_finds_it(as_alice, two, facts):
    assert keys_on(against(as_alice, *two, q="-004")) == ["case-004"]
    assert "No case fits" in words_of(against(as_alice, *two, q="nothing like it"))


def test_the_page_costs_the_same_with_many_evaluators_and_an_open_case(
    as_alice, project, two, django_assert_max_num_queries
):
    for number in range(6):
        version = version_of(project, f"Evaluator {number}")
        for experiment in two:
            judged(experiment, version, [0.5] * 6)
        wavering(two[0], version, 0.4, 0.6)
    compared(*two, comparative(project), [1.0] * 6)
    for query in ({}, {"peek": two[0].output_set.first().pk}, {"as": "texts"}):
        against(as_alice, *two, **query)
        with django_assert_max_num_queries(15):
            against(as_alice, *two, **query)


# --- Noise ------------------------------------------------------------------------------------------------------------
FLOOR = "; the evaluator's own noise floor is 16.0 pts"  # 1.96 √2 √.02 / √6: six outputs, .4 and .6 for each


def test_where_nothing_can_be_told_the_noise_floor_of_the_version_is_said(as_alice, two, facts):
    assert "noise floor" not in words_of(against(as_alice, *two))
    wavering(two[0], facts.version, 0.4, 0.6)
    said = unescape(words_of(against(as_alice, *two)))
    assert re.search(r"about \d+ more cases to tell \S+ points" + FLOOR, said)


def test_a_measurement_of_another_version_says_nothing(as_alice, project, two, facts):
    wavering(two[0], version_of(project, "Facts", threshold=0.9), 0.4, 0.6)
    assert "noise floor" not in words_of(against(as_alice, *two))


def test_a_later_measurement_takes_the_place_of_an_earlier_one(as_alice, two, facts):
    wavering(two[0], facts.version, 0.1, 0.9)
    against(as_alice, *two)
    wavering(two[0], facts.version, 0.4, 0.6)
    assert FLOOR in unescape(words_of(against(as_alice, *two)))


def test_several_say_the_noise_floor_as_well(as_alice, three):
    mine, theirs, third = three
    wavering(mine, mine.runs.first().version, 0.4, 0.6)
    assert unescape(words_of(against(as_alice, mine, theirs, also=third.pk))).count(FLOOR) == 2


# --- Three and more ---------------------------------------------------------------------------------------------------
@pytest.fixture
def three(project, two):
    third = experiment_of(project, 6, "third")
    version = version_of(project, "Facts")
    judged(two[1], version, [0.5] * 6)
    judged(two[0], version, [0.1, 0.6, 0.5, 0.5, 0.5, 0.5])
    judged(third, version, [0.6, 0.2, 0.5, 0.5, 0.9, 0.5])
    return (*two, third)


def test_several_results_stand_beside_one_baseline(as_alice, three):
    mine, theirs, third = three
    response = against(as_alice, mine, theirs, also=third.pk)
    assert "2 results against old" in words_of(response)
    assert keys_on(response) == [f"case-00{number}" for number in range(6)]  # the worst gains are −.4, −.3, 0, …
    assert [line["figure"].counts["regressed"] for line in response.context["entrants"]] == [1, 1]
    assert [told.gain for told, _ in response.context["rows"][0].told] == pytest.approx([-0.4, 0.1])
    assert all(head["url"] for head in response.context["heads"])
    assert "verdicts are Holm-corrected for 2 results judged at once" in words_of(response)
    assert response.context["charts"][0].table.heads[0] == "Result"
    assert keys_on(against(as_alice, mine, theirs, also=third.pk, show="disagree")) == ["case-000", "case-001"]
    assert keys_on(against(as_alice, mine, theirs, also=third.pk, on=third.pk, sort="high"))[0] == "case-004"
    assert keys_on(against(as_alice, mine, theirs, also=third.pk, show="improved")) == [
        "case-000",
        "case-001",
        "case-004",
    ]


def test_several_results_are_not_called_several_evaluators(as_alice, project):
    """Each gain is told alone, and not any more where there are four."""
    version = version_of(project, "Facts")
    theirs, *others = (experiment_of(project, 40, name) for name in ("old", "one", "two", "three", "four"))
    judged(theirs, version, [0.5] * 40)
    for each in others:
        judged(each, version, [0.5 + 0.01 + (0.028 if number % 2 else -0.028) for number in range(40)])  # p = 0.03
    response = against(as_alice, others[0], theirs, also=",".join(str(each.pk) for each in others[1:]))
    assert words_of(response).count("told alone, but among 4 judged at once it may be chance") == 4


def test_only_cases_that_all_answered_are_rows_of_several(as_alice, three):
    mine, theirs, third = three
    third.output_set.order_by("pk")[2].delete()
    assert "case-002" not in keys_on(against(as_alice, mine, theirs, also=third.pk))


def test_several_results_say_how_many_cases_all_answered(as_alice, three):
    mine, theirs, third = three
    said = words_of(against(as_alice, mine, theirs, also=third.pk))
    assert "Cases that all answered 6" in said
    assert "6 cases" in said


def test_attempts_of_several_results_are_not_called_cases(as_alice, project):
    mine, theirs, third = three = [experiment_of(project, 6, name) for name in ("new", "old", "third")]
    for each in three:
        add_output(each, each.output_set.order_by("pk")[0].case, attempt=1)
    said = words_of(against(as_alice, mine, theirs, also=third.pk))
    assert "Attempts that all made 7" in said
    assert "7 attempts" in said


def test_a_result_that_is_named_again_and_again_keeps_no_other_out(as_alice, three, project):
    mine, theirs, third = three
    fourth = experiment_of(project, 6, "fourth")
    response = against(as_alice, mine, theirs, also=f"{','.join([str(third.pk)] * 8)},{fourth.pk}")
    assert response.context["others"] == [third, fourth]


def test_any_evaluator_may_say_that_a_case_of_several_got_worse(as_alice, project, three):
    mine, theirs, third = three
    tone = version_of(project, "Tone")
    judged(theirs, tone, [0.5] * 6)
    judged(third, tone, [0.5, 0.5, 0.5, 0.5, 0.5, 0.0])
    facts, every = {"also": third.pk, "show": "regressed"}, {"also": third.pk, "by": "all"}
    assert keys_on(against(as_alice, mine, theirs, **facts)) == ["case-000", "case-001"]
    response = against(as_alice, mine, theirs, **facts, by="all")
    assert keys_on(response) == ["case-005", "case-000", "case-001"]
    assert "−50.0 pts Tone" in words_of(response)
    assert "worst regression first by any evaluator" in words_of(response)
    assert keys_on(against(as_alice, mine, theirs, **every, sort="high"))[0] == "case-004"
    assert "case-005" not in keys_on(against(as_alice, mine, theirs, **every, show="disagree"))
    assert [line["verdicts"]["cannot_tell"] for line in response.context["entrants"]] == [1, 2]


def test_comparative_evaluators_have_a_column_of_wins_beside_several(as_alice, project, three):
    mine, theirs, third = three
    version = comparative(project)
    compared(mine, theirs, version, [1.0, 1.0, 1.0, 0.5, 0.0, 0.5])
    response = against(as_alice, mine, theirs, also=third.pk)
    assert "Wins, by Shorter output v1" in words_of(response)
    mine_won, third_won = (line["wins"][0] for line in response.context["entrants"])
    assert mine_won.figure.value == pytest.approx(4 / 6)
    assert third_won is None
    assert "not compared" in words_of(response)


def test_several_are_told_by_a_comparative_evaluator(as_alice, project, three):
    mine, theirs, third = three
    version = comparative(project)
    compared(mine, theirs, version, [1.0, 1.0, 1.0, 0.5, 0.0, 0.5])
    compared(third, theirs, version, [0.5, 0.5, 0.5, 0.0, 0.5, 0.5])
    response = against(as_alice, mine, theirs, also=third.pk, by=version.pk)
    assert "Wins against old, by Shorter output v1" in words_of(response)
    assert response.context["charts"] == []  # win rates stand in the table, and are no differences
    assert keys_on(against(as_alice, mine, theirs, also=third.pk, by=version.pk, show="regressed")) == [
        "case-003",
        "case-004",
    ]
    first = [[told.gain for told, _ in row.told] for row in response.context["rows"]]
    assert first == [[0.0, -1.0], [-1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
    assert "third wins," not in words_of(response)
    assert "new wins," in words_of(response)


def test_a_result_that_the_version_has_not_judged_says_so(as_alice, project, three):
    fourth = experiment_of(project, 6, "fourth")
    said = words_of(against(as_alice, three[0], three[1], also=f"{three[2].pk},{fourth.pk}"))
    assert "Not comparable: v1 has not judged both. Run v1 on fourth" in said


def test_a_case_of_several_opens_with_all_answers(as_alice, three):
    mine, theirs, third = three
    output = mine.output_set.first()
    response = as_alice.get(f"{mine.url_against(theirs.pk)}peek/{output.pk}/", {"also": third.pk})
    assert [side["name"] for side in response.context["sides"]] == ["old", "new", "third"]


@pytest.mark.parametrize("also", ["", "x", "0", "99999999", ",,"])
def test_nonsense_beside_the_two_is_left_out(as_alice, three, also):
    assert "new against old" in words_of(against(as_alice, three[0], three[1], also=also))


def test_several_cost_the_same_however_many(as_alice, project, three, django_assert_max_num_queries):
    more = [experiment_of(project, 6, f"more {number}") for number in range(4)]
    version = three[0].runs.first().version
    for each in more:
        judged(each, version, [0.5] * 6)
    also = ",".join(str(each.pk) for each in (three[2], *more))
    for each in (three[0], three[2], *more):
        compared(each, three[1], comparative(project), [1.0] * 6)
    for query in ({}, {"by": "all"}, {"peek": three[0].output_set.first().pk}):
        against(as_alice, three[0], three[1], also=also, **query)
        with django_assert_max_num_queries(19 if "peek" in query else 15):
            against(as_alice, three[0], three[1], also=also, **query)


# --- The way in -------------------------------------------------------------------------------------------------------
def compare(client, project, *experiments):
    return client.get(reverse("compare", args=[project.slug]), {"experiment": [each.pk for each in experiments]})


def test_ticked_results_are_compared_the_oldest_being_the_baseline(as_alice, project, three):
    mine, theirs, third = three
    assert compare(as_alice, project, third, mine).url == third.url_against(mine.pk)
    assert compare(as_alice, project, mine, theirs, third).url == f"{third.url_against(mine.pk)}?also={theirs.pk}"
    page = text_of(as_alice.get(reverse("experiment-list", args=[project.slug])))
    assert page.count('name="experiment"') == 3


def test_results_that_cannot_be_compared_are_refused_in_words(as_alice, project, two):
    assert "Tick two results or more." in words_of(compare(as_alice, project, two[0]))
    apart = compare(as_alice, project, two[0], experiment_of(project, 2, "of other cases"))
    assert apart.status_code == 422
    assert "one and the same data set" in words_of(apart)


def test_more_results_than_stand_beside_one_another_are_refused_and_none_is_offered(as_alice, project):
    first, *others = (experiment_of(project, 2, f"system {number}") for number in range(11))
    refused = compare(as_alice, project, first, *others)
    assert refused.status_code == 422
    assert "Tick 10 results at most." in words_of(refused)
    assert len(as_alice.get(compare(as_alice, project, first, *others[:-1]).url).context["entrants"]) == 9
    most = [str(each.pk) for each in others[1:9]]
    assert "Another</a>" not in against(as_alice, others[0], first, also=",".join(most)).text
    assert "Another</a>" in against(as_alice, others[0], first, also=",".join(most[1:])).text


def test_comparisons_can_be_opened_again(as_alice, project, two, facts):
    assert "Nothing compared yet" in words_of(compare(as_alice, project))
    against(as_alice, *two)
    response = compare(as_alice, project)
    assert two[0].url_against(two[1].pk) in text_of(response)
    assert "0 better 0 worse of 1" in words_of(response)


@pytest.mark.parametrize("results", [2, 6])
def test_the_list_of_comparisons_costs_the_same_however_many_there_are(
    as_alice, project, two, results, django_assert_max_num_queries
):
    for number in range(results):
        against(as_alice, experiment_of(project, 6, f"more {number}"), two[0])
    with django_assert_max_num_queries(6):
        assert compare(as_alice, project).text.count("more ") >= results


def test_a_third_result_is_chosen_beside_the_two(as_alice, three):
    mine, theirs, third = three
    response = choice(as_alice, mine, **{"with": theirs.pk})
    assert f"{mine.url_against(theirs.pk)}?also={third.pk}" in text_of(response)
    assert "set beside those that you compare" in words_of(response)
