"""A list made of parts, each in its own order, is walked like one: every row once, both ways."""

import pytest

from evalstudio.projects.models import Project
from evalstudio.web.pagination import Order, Walk


@pytest.fixture
def walk(db):
    """b3 b1 b0 (names down), nothing, then a0 to a3 by id."""
    for name in ("b0", "b1", "a0", "a1", "b3", "a2", "a3"):
        Project.objects.create(name=name, slug=name)
    parts = (
        (Project.objects.filter(name__startswith="b"), Order("name", descending=True)),
        (Project.objects.none(), Order("pk")),
        (Project.objects.filter(name__startswith="a"), Order("pk")),
    )
    return Walk(parts)


NAMES = ["b3", "b1", "b0", "a0", "a1", "a2", "a3"]


def names(rows):
    return [row.name for row in rows]


@pytest.mark.parametrize("size", range(1, 9))
def test_pages_meet_every_row_once_in_the_order_of_the_parts(walk, size):
    met, query = [], {}
    while True:
        page = walk.page(query, size)
        met += names(page.rows)
        if not page.next:
            break
        query = {"after": page.next}
    assert met == NAMES


@pytest.mark.parametrize("size", range(1, 9))
def test_pages_lead_back_the_same_way(walk, size):
    page = walk.page({}, size)
    while page.next:
        page = walk.page({"after": page.next}, size)
    met = names(page.rows)
    while page.previous:
        page = walk.page({"before": page.previous}, size)
        met = names(page.rows) + met
    assert met == NAMES


@pytest.mark.parametrize("at", range(len(NAMES)))
def test_every_row_knows_its_number_and_its_neighbours(walk, at):
    place = walk.place_of(slug=NAMES[at])
    assert walk.count_before(place) == at
    assert names(walk.beyond(place, 2)) == NAMES[at + 1 : at + 3]
    assert names(walk.beyond(place, 2, backwards=True)) == NAMES[:at][::-1][:2]


def test_a_row_outside_has_no_place(walk):
    assert walk.place_of(slug="c") is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "W10", "WzEsMl0", "Wzk5LCJhIiwxXQ", "WzAsInoiLDk5OTk5OTk5OTk5OTk5OTk5OTk5OTldICAg"]
)
def test_a_cursor_that_leads_nowhere_leads_to_the_first_page(walk, cursor):
    assert names(walk.page({"after": cursor}, 3).rows) == NAMES[:3]
