"""The leaderboard as people see it: places, slices, versions that are never mixed, shares that open their cases."""

import csv
import re
from html import unescape
from urllib.parse import urlencode

import pytest
from django.urls import reverse
from django.utils.html import escape
from django_q.models import OrmQ

from evalstudio.web.numbers import moment
from evaluators.core import Status
from experiments.analysis import working_out
from experiments.models import Case, Derived, Evaluation, Experiment, Output, Run, RunState
from tests.experiments.compared import wavering
from tests.experiments.judged import add_output, experiment_of, judged, shuffled, version_of

pytestmark = pytest.mark.django_db
GOOD, FAIR, BAD = [0.9, 0.8] * 10, [0.6, 0.5] * 10, [0.1, 0.2] * 10


@pytest.fixture
def tone(project):
    return version_of(project, "Tone")


@pytest.fixture
def three(project, tone):
    """Three systems that the cases tell apart; the best is the dearest."""
    told = {"best": (GOOD, 0.004), "fair": (FAIR, 0.001), "worst": (BAD, 0.0005)}
    found = {}
    for name, (scores, cost) in told.items():
        found[name] = experiment_of(project, 20, name)
        Output.objects.filter(experiment=found[name]).update(cost_usd=cost, latency_ms=800)
        judged(found[name], tone, scores)
    return found


def open_page(client, project, query="", name="leaderboard"):
    response = client.get(f"{reverse(name, args=[project.slug])}{query}")
    assert response.status_code == 200
    return response


def text_of(response):
    plain = re.sub(r"<[^>]+>", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))
    return re.sub(r"\s+", " ", plain)


def systems_of(response):
    """The systems of the first table, from top to bottom."""
    table = re.search(r'<table class="table lb">(.*?)</table>', response.content.decode(), re.DOTALL).group(1)
    return re.findall(r'<span class="cell-t"><a href="[^"]+">([^<]+)</a>', table)


def places_of(response):
    return re.findall(r'<td class="rank num">.*?<(?:b|small)[^>]*>([^<]+)<', response.content.decode())


def test_systems_stand_in_the_order_that_the_cases_prove(as_alice, project, three):
    page = open_page(as_alice, project)
    assert systems_of(page) == ["best", "fair", "worst"]
    assert places_of(page) == ["1", "2", "3"]
    text = text_of(page)
    assert "best is ahead of all 2 others on Tone." in text
    assert "Holm's correction over 3 pairs" in text
    assert "$4.00" in text


def test_systems_that_cannot_be_told_apart_are_tied_and_the_dearer_is_named(as_alice, project, three, tone):
    like = experiment_of(project, 20, "like best")
    Output.objects.filter(experiment=like).update(cost_usd=0.04)
    judged(like, tone, [*GOOD[:-2], 0.8, 0.9])
    page = open_page(as_alice, project)
    assert places_of(page) == ["1–2", "1–2", "3", "4"]
    text = text_of(page)
    assert "best and like best cannot be told apart on Tone, but like best costs 10 times as much per answer" in text
    assert "tied with like best" in text


def test_the_newest_result_of_a_system_stands_unless_others_are_chosen(as_alice, project, three, tone):
    again = experiment_of(project, 20, "worst")
    judged(again, tone, GOOD)
    Experiment.objects.filter(system__name="worst").update(created_at=again.created_at)  # within a minute
    assert systems_of(open_page(as_alice, project))[-1] == "fair"
    chosen = open_page(as_alice, project, f"?result={three['worst'].pk}&result={again.pk}")
    assert systems_of(chosen) == ["worst", "worst"]
    worse = f"worst of {moment(three['worst'].created_at)} #{three['worst'].pk}"
    better = f"worst of {moment(again.created_at)} #{again.pk}"
    assert f"{better} is ahead of {worse} on Tone." in unescape(text_of(chosen))
    assert "Results to compare" in text_of(open_page(as_alice, project, "?choose=1"))


def test_a_result_without_scores_does_not_hide_an_older_one_with_some(as_alice, project, three):
    experiment_of(project, 20, "best")
    experiment_of(project, 20, "unheard of")
    page = open_page(as_alice, project)
    assert "best" in systems_of(page)
    assert "1 more system answered these cases and is not judged yet" in text_of(page)


def test_columns_rank_and_turn(as_alice, project, three):
    length = version_of(project, "Length", direction="lower", threshold=None)
    for name, scores in (("best", BAD), ("fair", GOOD), ("worst", FAIR)):
        judged(three[name], length, scores)
    page = open_page(as_alice, project, f"?by={length.pk}")
    assert systems_of(page) == ["best", "worst", "fair"]
    assert "lower is better" in text_of(page)
    assert systems_of(open_page(as_alice, project, f"?by={length.pk}&turned=1")) == ["fair", "worst", "best"]
    assert systems_of(open_page(as_alice, project, "?sort=cost")) == ["worst", "fair", "best"]
    assert systems_of(open_page(as_alice, project, "?sort=system&turned=1")) == ["worst", "fair", "best"]


def test_versions_are_never_mixed(as_alice, project, three, tone):
    newer = tone.evaluator.revise({**tone.config, "seed": 1}, schema=1, author=None)
    other = experiment_of(project, 20, "only newer")
    judged(other, newer, GOOD)
    page = open_page(as_alice, project)
    assert places_of(page) == ["1", "2", "3", "cannot tell"]
    text = text_of(page)
    assert "only by v2" in text
    assert "only newer was judged by v2 alone" in text
    shown = open_page(as_alice, project, f"?version={newer.pk}")
    assert systems_of(shown)[0] == "only newer"
    assert "Not judged:" not in text_of(shown)
    assert "was judged by v1 alone" in text_of(shown)


def test_what_a_column_lacks_can_be_run_from_here(as_alice, project, three, tone, small_kinds):
    version = version_of(project, "Length of answers")
    version.evaluator.kind = "length"
    version.evaluator.save()
    judged(three["best"], version, GOOD)
    page = open_page(as_alice, project)
    assert "Run v1 on these 2" in text_of(page)
    lacking = [three["fair"].pk, three["worst"].pk]
    answer = as_alice.post(
        reverse("leaderboard-run", args=[project.slug]),
        {"version": version.pk, "result": lacking, "back": f"by={tone.pk}"},
    )
    assert answer["Location"] == f"{reverse('leaderboard', args=[project.slug])}?by={tone.pk}"
    assert set(Run.objects.filter(version=version).values_list("experiment", flat=True)) == {
        three["best"].pk,
        *lacking,
    }


def test_few_scores_get_no_place_and_say_why(as_alice, project, three, tone):
    thin = experiment_of(project, 20, "thin")
    judged(thin, tone, [1.0] * 10 + ["failed: time limit"] * 10)
    page = open_page(as_alice, project)
    assert systems_of(page)[-1] == "thin"
    assert "cannot tell : Only 10 of 20 have a score" in text_of(page)


def test_what_would_split_a_tie_comes_with_the_noise_floor_of_who_ranks(as_alice, project, three, tone):
    runs = list(Run.objects.filter(version=tone))
    Evaluation.objects.filter(run__in=runs[:2], state=Status.SCORED).update(score=0.5)
    row = Evaluation.objects.filter(run=runs[0]).first()
    Evaluation.objects.filter(pk=row.pk).update(score=0.6)
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(revision=9)
    assert "To split places" in text_of(open_page(as_alice, project))
    assert "noise floor" not in text_of(open_page(as_alice, project))
    wavering(runs[0].experiment, tone, 0.4, 0.6)
    said = unescape(text_of(open_page(as_alice, project)))
    assert re.search(r"if the difference is real; the evaluator's own noise floor is 8\.8 pts\.", said)


def test_a_slice_keeps_its_cases(as_alice, project, three):
    for number, case in enumerate(Case.objects.order_by("pk")):
        topic = "billing" if number < 12 else "contract"
        Case.objects.filter(pk=case.pk).update(metadata={"topic": topic}, split="test" if number < 6 else "")
    page = open_page(as_alice, project, "?split=test")
    text = text_of(page)
    assert "6 of 6" in text
    assert "split test 6" in text
    sliced = open_page(as_alice, project, "?field=topic&value=contract")
    assert "8 of 8" in text_of(sliced)
    assert "topic contract only" in text_of(sliced)


@pytest.mark.parametrize("field", ["2024", "-1", 'in "quotes"', "99999999999999999999", "größe", "a.b", "[0]"])
def test_a_field_of_any_name_slices(as_alice, project, three, field):
    for number, case in enumerate(Case.objects.order_by("pk")):
        Case.objects.filter(pk=case.pk).update(metadata={field: "few" if number < 8 else "many"})
    page = open_page(as_alice, project, f"?{urlencode({'field': field, 'value': 'few'})}")
    assert f"{field} few only" in unescape(text_of(page))
    assert "8 of 8" in text_of(page)


def test_a_field_that_no_case_has_keeps_none(as_alice, project, three):
    page = text_of(open_page(as_alice, project, "?field=-1&value=few"))
    assert "no figure yet" not in page
    assert page.count("no such case judged") == 2 * 3  # figures and shares that pass
    assert "cannot tell : No such case was judged." in page
    assert "No judged case is in -1 few." in page
    assert "median, all cases" in page
    nothing = open_page(as_alice, project, "?split=nowhere")
    assert "No judged case is in split nowhere." in text_of(nothing)
    assert re.search(r'aria-current="true">split nowhere<', nothing.content.decode())
    assert "Nothing to draw" in text_of(open_page(as_alice, project, "?split=nowhere", name="leaderboard-charts"))


def test_who_is_first_is_ahead_only_of_those_that_the_cases_put_below(as_alice, project):
    """The first and the last share but the cases on which nobody differs, so those two cannot be told apart."""
    tone, nothing, half = version_of(project, "Tone"), ["unscored: unparsed"] * 10, [0.5] * 30
    told = {"high": [*nothing, *half, *[1.0] * 10], "middle": [0.5] * 50, "low": [*[0.0] * 10, *half, *nothing]}
    for name, scores in told.items():
        judged(experiment_of(project, 50, name), tone, scores)
    page = open_page(as_alice, project)
    assert places_of(page) == ["1–2", "2", "2–3"]
    assert "high is ahead of" not in text_of(page)
    assert "None is ahead of high on Tone, which cannot be told apart from low." in text_of(page)


def test_what_is_counted_in_a_slice_opens_those_cases_alone(as_alice, project, three, tone):
    cases = list(Case.objects.order_by("pk"))
    Case.objects.filter(pk__in=[case.pk for case in cases[:3]]).update(metadata={"topic": "A & B"})
    Case.objects.filter(pk__in=[case.pk for case in cases[3:]]).update(metadata={"topic": "other"})
    page = open_page(as_alice, project, "?field=topic&value=A+%26+B").content.decode()
    run = Run.objects.get(experiment=three["worst"])
    address = f"{three['worst'].get_absolute_url()}?by={run.pk}&field=topic&value=A+%26+B&show=below"
    assert f'href="{escape(address)}">3 fail' in page
    opened = text_of(as_alice.get(address))
    assert [case.key in opened for case in cases[:4]] == [True, True, True, False]


def test_shares_that_pass_open_their_cases(as_alice, project, three, tone):
    run = Run.objects.get(experiment=three["worst"])
    page = open_page(as_alice, project)
    assert f'href="{three["worst"].get_absolute_url()}?by={run.pk}&amp;show=below">20 fail' in page.content.decode()
    assert "passes from 50 %" in text_of(page)


def test_a_threshold_stands_as_it_was_typed(as_alice, project, three):
    judged(three["best"], version_of(project, "Strict", threshold=0.995), [0.996] * 20)
    assert "passes from 99.5 %" in text_of(open_page(as_alice, project))


def test_what_has_no_score_at_all_is_not_being_worked_out_for_ever(as_alice, project, three, tone):
    run = judged(three["best"], version_of(project, "Style"), ["unscored: unparsed"] * 20)
    page = open_page(as_alice, project, f"?by={tone.pk}")
    assert "being worked out" not in text_of(page)
    address = f"{three['best'].get_absolute_url()}?by={run.pk}&show=unscored"
    assert f'href="{escape(address)}">20 unscored' in page.content.decode()


def test_several_answers_to_a_case_do_not_hide_cases_without_any(as_alice, project, three):
    some = Output.objects.filter(experiment=three["best"]).order_by("pk")
    some.filter(pk__in=list(some.values_list("pk", flat=True)[12:])).delete()
    for output in list(some):
        add_output(three["best"], output.case, attempt=1)
    assert "8 cases not answered" in text_of(open_page(as_alice, project))


def test_nothing_is_said_of_pairs_where_there_are_none(as_alice, project, tone):
    judged(experiment_of(project, 20, "single"), tone, GOOD)
    said = text_of(open_page(as_alice, project))
    assert "single" in said
    assert "Holm's correction" not in said


def test_a_run_under_way_has_no_place_yet(as_alice, project, three, tone):
    going = experiment_of(project, 20, "going")
    judged(going, tone, [0.5, "pending"], state=RunState.ACTIVE)
    page = open_page(as_alice, project)
    assert "Places come when the runs of this column are over" in text_of(page)
    assert 'hx-trigger="every 2s"' in page.content.decode()


def test_large_boards_are_worked_out_by_a_worker(as_alice, project, three, monkeypatch):
    monkeypatch.setattr(working_out, "AT_ONCE", 10)
    page = open_page(as_alice, project)
    assert "Places are being worked out" in text_of(page)
    assert 'hx-trigger="every 2s"' in page.content.decode()
    for row in OrmQ.objects.all():
        working_out.work_out(*row.task["args"])
    done = open_page(as_alice, project)
    assert places_of(done) == ["1", "2", "3"]
    assert 'hx-trigger="every 2s"' not in done.content.decode()


def test_the_file_has_what_the_page_has(as_alice, project, three):
    experiment_of(project, 20, "=cmd()")
    judged(Experiment.objects.latest("pk"), Run.objects.first().version, ["unscored: unparsed"] * 20)
    response = as_alice.get(reverse("leaderboard-export", args=[project.slug]))
    rows = list(csv.DictReader(response.content.decode().splitlines()))
    assert [row["system"] for row in rows] == ["best", "fair", "worst", "'=cmd()"]
    assert (rows[0]["place from"], rows[0]["place to"], rows[0]["Tone v1 value"][:4]) == ("1", "1", "0.85")
    assert rows[3]["no place because"] == "Nothing is scored yet."


def test_charts_show_costs_cases_and_lines(as_alice, project, three, tone):
    judged(experiment_of(project, 20, "fair"), tone, GOOD)
    text = text_of(open_page(as_alice, project, name="leaderboard-charts"))
    assert "Quality against cost" in text
    assert "Where systems differ" in text
    assert "How systems came along" in text


def test_systems_of_one_name_have_a_row_each_in_the_map_of_cases(as_alice, project, three, tone):
    """Of a long name the chart shows the beginning."""
    long = [experiment_of(project, 20, f"an assistant with a very long name, prompt {number}") for number in (1, 2)]
    again = experiment_of(project, 20, "worst")
    for each in (*long, again):
        judged(each, tone, FAIR)
    chosen = [*long, again, three["worst"], three["best"]]
    query = "&".join(f"result={each.pk}" for each in chosen)
    charts = open_page(as_alice, project, f"?{query}", name="leaderboard-charts").context["charts"]
    trace = next(chart for chart in charts if chart.title == "Where systems differ").figure["data"][0]
    assert len(set(trace["y"])) == len(trace["z"]) == 5
    assert {f"worst #{again.pk}", f"worst #{three['worst'].pk}", "best"} < set(trace["y"])


def test_nothing_to_show_says_what_to_do(as_alice, project):
    assert "No results yet" in text_of(open_page(as_alice, project))
    experiment_of(project, 3)
    assert "Nothing judged on this data set yet" in text_of(open_page(as_alice, project))
    assert open_page(as_alice, project, name="leaderboard-charts")
    assert open_page(as_alice, project, name="leaderboard-export")


@pytest.mark.parametrize("systems", [3, 12])
def test_it_takes_few_queries_however_many_systems_there_are(
    as_alice, project, tone, systems, django_assert_max_num_queries
):
    versions = [tone, version_of(project, "Other")]
    for number in range(systems):
        experiment = experiment_of(project, 5, f"system {number}")
        for version in versions:
            judged(experiment, version, shuffled(5, f"{number}"))
    for name in ("leaderboard", "leaderboard-charts"):
        open_page(as_alice, project, name=name)
        with django_assert_max_num_queries(15):
            open_page(as_alice, project, name=name)


@pytest.mark.parametrize("results", [2, 6])
def test_lines_over_time_take_few_queries_however_long_they_are(
    as_alice, project, tone, results, django_assert_max_num_queries
):
    for number in range(results):
        for name in ("one", "two"):
            judged(experiment_of(project, 5, name), tone, shuffled(5, f"{name}{number}"))
    page = open_page(as_alice, project, name="leaderboard-charts")
    assert [len(line["x"]) for line in page.context["charts"][-1].figure["data"]] == [results] * 2
    with django_assert_max_num_queries(15):
        open_page(as_alice, project, name="leaderboard-charts")


def test_another_projects_data_set_is_not_shown(as_alice, project, three, charlie):
    from evalstudio.projects.models import Project

    other = Project.start("Other", charlie)
    foreign = experiment_of(other, 4, "foreign")
    judged(foreign, version_of(other, "Tone"), [1.0] * 4)
    dataset = foreign.dataset_version.dataset_id
    assert "foreign" not in text_of(open_page(as_alice, project, f"?dataset={dataset}&result={foreign.pk}"))
    answer = as_alice.post(
        reverse("leaderboard-run", args=[project.slug]),
        {"version": Run.objects.get(experiment=foreign).version_id, "result": foreign.pk},
    )
    assert answer.status_code == 404
    assert Derived.objects.filter(project=other).count() == 0
