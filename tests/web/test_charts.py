"""Charts: figures that plotly accepts, data that cannot leave its block, tables that say the same; drawn for real."""

import json
from html import unescape

import numpy
import pytest
from django.template import Context, Template
from playwright.sync_api import expect
from plotly.graph_objects import Figure, Scatter

from evalstudio.web import kit_charts
from evalstudio.web.charts import ACCENT, SHOWN_ROWS, Chart, ChartTable, Link
from tests.browser_fixtures import sign_in


def chart_of(trace, rows=(("a", "1"),)):
    return Chart("Title", {"data": [trace], "layout": {}}, ChartTable(["Head", "Value"], list(rows)))


@pytest.mark.parametrize("chart", kit_charts.made_up(), ids=lambda chart: chart.title)
def test_plotly_accepts_every_figure_of_the_kit(chart):
    Figure(chart.figure)


def test_a_figure_of_plotly_is_taken_without_its_template():
    figure = Figure([Scatter(x=[1, 2], y=[3, 4], marker={"color": ACCENT})])
    drawn = json.loads(Chart("Title", figure, ChartTable([], []), height=240).json)
    assert drawn["data"][0]["marker"]["color"] == "var(--accent)"
    assert drawn["layout"] == {"height": 240}


def test_arrays_are_written_and_no_number_becomes_null():
    drawn = json.loads(chart_of({"type": "bar", "y": numpy.array([0.5, float("nan")])}).json)
    assert drawn["data"][0]["y"] == [0.5, None]


def test_no_text_of_people_can_end_the_data_block():
    evil = "</script><img src=x onerror=alert(1)>"
    html = Template("{% chart chart %}").render(
        Context({"chart": chart_of({"type": "bar", "x": [evil]}, [(evil, Link(evil, "/x"))])})
    )
    assert evil not in html
    assert "<img" not in html
    assert html.count("</script>") == 1


def test_no_text_of_people_is_markup_of_a_chart():
    """Plotly would make a link of the first and lose a part of the others."""
    said = ['<a href="https://evil.example">sign in</a>', "a<br>b", "R&amp;D"]
    trace = {"type": "bar", "name": said[0], "x": said, "y": [1, 2, None], "customdata": ["/?a=1&b=2"] * 3}
    (drawn,) = json.loads(chart_of({**trace, "hovertemplate": "%{y}<extra></extra>"}).json)["data"]
    assert [unescape(each) for each in drawn["x"]] == said
    assert not [each for each in (*drawn["x"], drawn["name"]) if "<" in each]
    assert (drawn["y"], drawn["customdata"][0]) == ([1, 2, None], "/?a=1&b=2")
    assert drawn["hovertemplate"] == "%{y}<extra></extra>"


def test_a_long_table_says_how_many_rows_it_leaves_out():
    rows = [(str(number), "x") for number in range(SHOWN_ROWS + 1200)]
    html = Template("{% chart chart %}").render(Context({"chart": chart_of({"type": "bar"}, rows)}))
    assert html.count('<th scope="row">') == SHOWN_ROWS
    assert "1,200 more rows" in html


@pytest.fixture
def kit(page, live_server, alice):
    """The kit with its charts drawn; the page's own fixture fails on any complaint of the browser."""
    sign_in(page, live_server, alice)
    page.goto(f"{live_server.url}/kit/?theme=light")
    page.locator("[data-chart]").last.scroll_into_view_if_needed()
    expect(page.locator("[data-chart][data-drawn]")).to_have_count(4)
    return page


@pytest.mark.browser
def test_charts_are_drawn_without_a_complaint_and_follow_the_theme(kit):
    bar = kit.locator(".barlayer .point path").first
    before = bar.evaluate("bar => getComputedStyle(bar).fill")
    kit.click("[data-toggle-theme]")
    expect(kit.locator(".barlayer .point path").first).not_to_have_css("fill", before)


@pytest.mark.browser
def test_a_click_on_a_point_opens_its_address(kit):
    point = kit.locator(".scatterlayer .point").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    kit.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    kit.mouse.down()
    kit.mouse.up()
    kit.wait_for_url("**by=Factual*")


@pytest.mark.browser
def test_the_keyboard_reaches_the_same_address_in_the_table(kit):
    kit.locator("[data-chart] summary").first.focus()
    for key in ("Enter", "Tab", "Tab"):
        kit.keyboard.press(key)
    assert kit.evaluate("document.activeElement.getAttribute('href')") == "?by=Factual consistency"
