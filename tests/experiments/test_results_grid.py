"""The grid of a result: which rows it shows, in which order, and what the head of the page says."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest
from django.urls import reverse

from evaluators.core import Status
from experiments.models import Case, Evaluation, RunLabel, RunState
from tests.experiments.judged import (
    add_case,
    add_output,
    experiment_of,
    judged,
    rehearsal_of,
    shuffled,
    version_of,
)

pytestmark = pytest.mark.django_db
KEYS = re.compile(r'<span class="mono clip">([^<]+)</span>')


def page_of(client, experiment, **query):
    return client.get(reverse("experiment-page", args=[experiment.project.slug, experiment.pk]), query)


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def keys_on(response) -> list[str]:
    return KEYS.findall(response.content.decode())


@pytest.fixture
def experiment(project):
    return experiment_of(project, 6)


@pytest.fixture
def two_runs(project, experiment):
    facts = judged(
        experiment, version_of(project, "Facts"), [0.4, 1.0, "failed: time limit", 0.2, "unscored", "pending"]
    )
    tone = judged(experiment, version_of(project, "Tone"), [0.9, 0.8, 0.7, 0.6, 0.5, 0.1])
    return facts, tone


def test_the_worst_case_comes_first_and_cases_without_a_score_last(as_alice, experiment, two_runs):
    assert keys_on(page_of(as_alice, experiment)) == [f"case-00{n}" for n in (3, 0, 1, 2, 4, 5)]


def test_the_best_case_comes_first_when_asked_for(as_alice, experiment, two_runs):
    assert keys_on(page_of(as_alice, experiment, sort="high")) == [f"case-00{n}" for n in (1, 0, 3, 2, 4, 5)]


def test_any_column_can_give_the_order(as_alice, experiment, two_runs):
    _, tone = two_runs
    assert keys_on(page_of(as_alice, experiment, by=tone.pk)) == [f"case-00{n}" for n in (5, 4, 3, 2, 1, 0)]


def test_the_order_in_which_outputs_came_is_one_click_away(as_alice, experiment, two_runs):
    assert keys_on(page_of(as_alice, experiment, sort="case")) == [f"case-00{n}" for n in range(6)]


@pytest.mark.parametrize(
    ("show", "cases"),
    [("below", [3, 0]), ("failed", [2]), ("unscored", [4]), ("pending", [5]), ("awaiting", [])],
)
def test_a_filter_keeps_what_it_says(as_alice, experiment, two_runs, show, cases):
    assert keys_on(page_of(as_alice, experiment, show=show)) == [f"case-00{n}" for n in cases]


def test_filters_say_how_many_cases_they_keep_and_empty_ones_are_left_out(as_alice, experiment, two_runs):
    said = text_of(page_of(as_alice, experiment))
    for chip in (
        "All <b>6</b>",
        "Below threshold <b>2</b>",
        "Failed <b>1</b>",
        "Unscored <b>1</b>",
        "Pending <b>1</b>",
    ):
        assert chip in said
    assert "Awaiting <b>" not in said


def test_where_lower_is_better_the_filter_says_above(as_alice, project, experiment):
    judged(experiment, version_of(project, "Length", direction="lower"), [0.9, 0.1])
    assert "Above threshold <b>1</b>" in text_of(page_of(as_alice, experiment))


def test_a_search_finds_cases_by_their_key(as_alice, experiment, two_runs):
    assert keys_on(page_of(as_alice, experiment, q="004")) == ["case-004"]
    assert "No case fits" in text_of(page_of(as_alice, experiment, q="nowhere"))


def test_a_search_that_finds_very_many_keeps_the_order(as_alice, experiment, two_runs, monkeypatch):
    monkeypatch.setattr("experiments.analysis.grid.FEW", 2)
    assert keys_on(page_of(as_alice, experiment, q="case")) == [f"case-00{n}" for n in (3, 0, 1, 2, 4, 5)]
    assert keys_on(page_of(as_alice, experiment, q="case", sort="case")) == [f"case-00{n}" for n in range(6)]


@pytest.fixture
def sliced(experiment, two_runs):
    """Cases 0, 1 and 5 are a split, and 1 and 3 about one topic."""
    for number, case in enumerate(Case.objects.order_by("pk")):
        split, topic = "test" if number in (0, 1, 5) else "", "billing" if number in (1, 3) else "other"
        Case.objects.filter(pk=case.pk).update(split=split, metadata={"topic": topic, "turns": number})
    return experiment


@pytest.mark.parametrize(
    ("query", "cases"),
    [
        ({"split": "test"}, [0, 1, 5]),
        ({"split": "test", "sort": "high"}, [1, 0, 5]),
        ({"split": "test", "sort": "case"}, [0, 1, 5]),
        ({"split": "test", "show": "pending"}, [5]),
        ({"field": "topic", "value": "billing"}, [3, 1]),
        ({"field": "turns", "value": "4"}, [4]),
        ({"field": "topic", "value": "billing", "q": "003"}, [3]),
        ({"field": "topic", "value": "billing", "split": "test"}, [1]),
        ({"field": "no such field", "value": "x"}, []),
        ({"value": "billing"}, [3, 0, 1, 2, 4, 5]),  # of no field
    ],
)
def test_a_slice_keeps_its_cases_in_their_order(as_alice, sliced, query, cases):
    assert keys_on(page_of(as_alice, sliced, **query)) == [f"case-00{number}" for number in cases]


@pytest.mark.parametrize("query", [{"split": "test"}, {"field": "topic", "value": "other"}])
def test_a_large_slice_keeps_the_order(as_alice, project, query):
    experiment = experiment_of(project, 600)
    judged(experiment, version_of(project, "Facts"), shuffled(600, "facts"))
    every = [row.output.case.key for row, _ in page_of(as_alice, experiment, **query).context["rows"]]
    assert every == []
    Case.objects.exclude(key="case-000").update(split="test", metadata={"topic": "other"})
    first = [key for key in keys_on(page_of(as_alice, experiment)) if key != "case-000"]
    assert keys_on(page_of(as_alice, experiment, **query))[: len(first)] == first


def test_a_slice_is_named_and_can_be_taken_off(as_alice, sliced):
    page = page_of(as_alice, sliced, split="test", show="below", by=sliced.runs.first().pk)
    assert "split test" in text_of(page)
    assert page.context["slice"]["url"].endswith(f"?show=below&by={sliced.runs.first().pk}")
    assert all("split=test" in chip["url"] and chip["count"] is None for chip in page.context["chips"])
    assert 'type="hidden" name="split" value="test"' in text_of(page)
    assert page_of(as_alice, sliced).context["slice"] is None


def test_the_neighbours_of_an_open_case_are_those_of_its_slice(as_alice, sliced):
    output = sliced.output_set.get(case__key="case-001")
    place = page_of(as_alice, sliced, split="test", peek=output.pk).context["place"]
    shown = dict(sliced.output_set.values_list("pk", "case__key"))
    assert (place.number, shown[place.previous], shown[place.next]) == (2, "case-000", "case-005")


@pytest.mark.parametrize(
    "query", [{"by": "999"}, {"by": "x"}, {"show": "nothing"}, {"sort": "sideways"}, {"after": "!"}, {"peek": "x"}]
)
def test_an_address_that_asks_for_what_is_not_there_shows_the_default(as_alice, experiment, two_runs, query):
    response = page_of(as_alice, experiment, **query)
    assert (response.status_code, len(keys_on(response))) == (200, 6)


@pytest.mark.parametrize("sort", ["low", "high", "case"])
def test_pages_meet_every_case_once_and_lead_back(as_alice, project, sort):
    experiment = experiment_of(project, 60)
    told = [*shuffled(50), *["failed: endpoint"] * 3, *["unscored"] * 3, *["pending"] * 2, None, None]
    judged(experiment, version_of(project, "Facts"), told)
    first = page_of(as_alice, experiment, sort=sort)
    second = follow(as_alice, first, "next")
    third = follow(as_alice, second, "next")
    met = [*keys_on(first), *keys_on(second), *keys_on(third)]
    assert len(met) == 60
    assert len(set(met)) == 60
    assert keys_on(follow(as_alice, third, "prev")) == keys_on(second)


def follow(client, response, rel: str):
    """The page behind the link to the next or the previous one."""
    return client.get(unescape(re.search(rf'rel="{rel}" href="([^"#]+)', response.content.decode()).group(1)))


def test_outputs_that_came_after_a_run_stand_last_and_can_be_judged_too(as_alice, project):
    experiment = experiment_of(project, 3, is_open=True)
    run = judged(experiment, version_of(project, "Facts"), [0.5, 0.4, 0.3])
    add_output(experiment, add_case(experiment.dataset_version.dataset, "late", 3))
    response = page_of(as_alice, experiment)
    assert keys_on(response) == ["case-002", "case-001", "case-000", "late"]
    assert "Judge them too" in text_of(response)
    assert f'name="version" value="{run.version_id}"' in text_of(response)


def test_a_figure_has_its_interval_and_its_coverage(as_alice, project):
    experiment = experiment_of(project, 10)
    judged(experiment, version_of(project, "Facts"), [1.0] * 6 + [0.0] * 2 + ["unscored"] * 2)
    said = text_of(page_of(as_alice, experiment))
    assert "75.0 %" in said
    assert "40.9–92.9" in said  # Wilson (1927) for 6 of 8
    assert "8 of 10" in said


def test_a_single_score_gives_no_interval_but_the_sentence_that_says_why(as_alice, project):
    experiment = experiment_of(project, 3)
    judged(experiment, version_of(project, "Facts"), [1.0, "unscored", "unscored"])
    said = text_of(page_of(as_alice, experiment))
    assert "One case alone says nothing" in said
    assert "100.0 %" not in said


def test_the_scores_of_the_rehearsal_are_marked(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.5], connection=rehearsal_of(project))
    judged(experiment, version_of(project, "Tone"), [0.5])
    assert text_of(page_of(as_alice, experiment)).count(">rehearsal</span>") == 1


def test_a_run_of_an_older_version_is_marked(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.5])
    assert ">older</span>" not in text_of(page_of(as_alice, experiment))
    version_of(project, "Facts", threshold=0.9)
    assert ">older</span>" in text_of(page_of(as_alice, experiment))


def test_the_newest_of_two_versions_gives_the_order_unless_the_other_is_asked_for(as_alice, project, experiment):
    first = judged(experiment, version_of(project, "Facts"), [0.1, 0.9])
    judged(experiment, version_of(project, "Facts", threshold=0.9), [0.9, 0.1])
    newest, asked = keys_on(page_of(as_alice, experiment)), keys_on(page_of(as_alice, experiment, by=first.pk))
    assert newest[:2] == ["case-001", "case-000"]
    assert asked[:2] == ["case-000", "case-001"]


def test_columns_of_two_versions_name_them(as_alice, project, experiment):
    first = judged(experiment, version_of(project, "Facts"), [0.5])
    judged(experiment, version_of(project, "Tone"), [0.5])
    assert "Facts</span>" in text_of(page_of(as_alice, experiment))
    judged(experiment, version_of(project, "Facts", threshold=0.9), [0.5])
    text = text_of(page_of(as_alice, experiment, by=first.pk))
    assert all(f'Facts <span class="ver">{number}</span></span>' in text for number in ("v1", "v2"))
    assert "Tone</span>" in text


def test_request_parameters_that_the_endpoint_refused_are_named(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.5])
    run.left_out = ["temperature", "seed"]
    run.save()
    assert "Asked without temperature, seed" in text_of(page_of(as_alice, experiment))


def test_a_label_is_told_with_its_score(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.5])
    RunLabel.objects.create(run=run, label_id=1, label="Small <slip>")
    Evaluation.objects.filter(run=run).update(label_id=1)
    assert 'title="Small &lt;slip&gt;"' in text_of(page_of(as_alice, experiment))


def test_what_people_and_models_wrote_is_shown_and_not_run(as_alice, project):
    experiment = experiment_of(project, 1)
    Case.objects.update(key='"><script>alert(1)</script>', inputs={"question": "<img src=x onerror=alert(1)>"})
    response = page_of(as_alice, experiment, peek=experiment.output_set.get().pk, q="<svg onload=alert(1)>")
    assert not Inventory.of(response) & {"onerror", "onload", "inline script"}


class Inventory(HTMLParser):
    """The names of all attributes of a page, and "inline script" where there is one."""

    def __init__(self):
        super().__init__()
        self.found = set()

    def handle_starttag(self, tag, attrs):
        self.found |= {name for name, _ in attrs}
        if tag == "script" and not dict(attrs).get("src"):
            self.found.add("inline script")

    @classmethod
    def of(cls, response) -> set[str]:
        inventory = cls()
        inventory.feed(response.content.decode())
        return inventory.found


def test_an_experiment_without_runs_says_what_to_do(as_alice, experiment):
    response = page_of(as_alice, experiment)
    assert "Not judged yet" in text_of(response)
    assert keys_on(response) == [f"case-00{n}" for n in range(6)]


def test_an_experiment_without_outputs_says_so(as_alice, project):
    experiment = experiment_of(project, 0)
    said = text_of(page_of(as_alice, experiment))
    assert "No output yet" in said
    assert "None has come, and none is due." in said
    type(experiment).objects.update(is_open=True)
    assert "Outputs appear here as they arrive." in text_of(page_of(as_alice, experiment))


def test_only_evaluators_that_have_not_run_are_offered(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.5])
    version_of(project, "Tone")
    said = text_of(page_of(as_alice, experiment))
    assert "Tone v1</option>" in said
    assert "Facts v1</option>" not in said


def test_a_run_under_way_shows_its_counts_and_asks_again(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.5, 0.4, "pending"], state=RunState.ACTIVE)
    said = text_of(page_of(as_alice, experiment))
    assert "Why is 1 pending?" in said
    assert 'hx-trigger="every 2s"' in said
    assert "2 scored" in said


def test_a_settled_result_no_longer_asks(as_alice, experiment, two_runs):
    assert "every 2s" not in text_of(page_of(as_alice, experiment))


def test_the_poll_after_the_last_score_brings_the_grid_up_to_date(as_alice, experiment, two_runs):
    url = reverse("experiment-columns", args=[experiment.project.slug, experiment.pk])
    said = text_of(as_alice.get(url, headers={"HX-Request": "true"}))
    assert "every 2s" not in said
    assert 'hx-target="#results"' in said


def test_htmx_gets_the_grid_alone(as_alice, experiment, two_runs):
    url = reverse("experiment-page", args=[experiment.project.slug, experiment.pk])
    said = text_of(as_alice.get(url, headers={"HX-Request": "true"}))
    assert "<html" not in said
    assert said.lstrip().startswith('<div id="results"')


@pytest.mark.parametrize("n", [3, 30])
def test_the_page_needs_the_same_few_queries_however_many_rows(as_alice, project, n, django_assert_max_num_queries):
    experiment = experiment_of(project, n)
    for name in ("Facts", "Tone", "Length"):
        judged(experiment, version_of(project, name), shuffled(n, name))
    page_of(as_alice, experiment)  # stores the summaries
    with django_assert_max_num_queries(13):
        page_of(as_alice, experiment)
    with django_assert_max_num_queries(15):
        page_of(as_alice, experiment, split="test", q="00")
    opened = experiment.output_set.first().pk
    with django_assert_max_num_queries(15):
        page_of(as_alice, experiment, peek=opened, sort="case")


@pytest.mark.parametrize("n", [3, 30])
def test_the_list_needs_the_same_few_queries_however_many_rows(as_alice, project, n, django_assert_max_num_queries):
    for number in range(n // 3):
        experiment = experiment_of(project, 2, f"system {number}")
        for name in ("Facts", "Tone", "Length"):
            judged(experiment, version_of(project, name), [0.5, 0.6])
    url = reverse("experiment-list", args=[project.slug])
    as_alice.get(url)
    with django_assert_max_num_queries(12):
        said = text_of(as_alice.get(url))
    assert said.count("<tr data-row>") == n // 3


def test_the_list_can_be_searched_by_system(as_alice, project):
    experiment_of(project, 1, "assistant 1")
    experiment_of(project, 1, "rival")
    said = text_of(as_alice.get(reverse("experiment-list", args=[project.slug]), {"q": "riv"}))
    assert "rival" in said
    assert "assistant 1" not in said


def test_of_several_versions_the_list_shows_the_newest(as_alice, project, experiment):
    judged(experiment, version_of(project, "Facts"), [0.25] * 6)
    judged(experiment, version_of(project, "Facts", threshold=0.9), [0.75] * 6)
    said = text_of(as_alice.get(reverse("experiment-list", args=[project.slug])))
    assert "75.0 %" in said
    assert "25.0 %" not in said


def test_every_state_has_its_word(as_alice, project, experiment):
    told = ["pending", "awaiting", 0.7, "unscored: unparsed", "failed: time limit", None]
    judged(experiment, version_of(project, "Facts"), told)
    said = text_of(page_of(as_alice, experiment))
    for word in ("pending", "awaiting", "unparsed", "time limit", "not evaluated"):
        assert word in said
    assert len(told) == len(Status) + 1
