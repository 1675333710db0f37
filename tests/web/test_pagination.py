"""Walking a list by key: every row once, both ways, whatever the order."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F, FloatField, Value
from django.db.models.functions import Cast, NullIf

from evalstudio.projects.models import Project
from evalstudio.web.pagination import Order, page_of

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def projects(db):
    """Ten projects: names repeat, so that the id has to break ties; two have an unknown score."""
    for number in range(10):
        name = ["ant", "bee", "cat"][number % 3]
        Project.objects.create(name=name, slug=f"p{number}", created_at=START + timedelta(minutes=number // 2))
    score = NullIf(Cast(F("id") % 5, FloatField()), Value(0.0))
    return Project.objects.annotate(score=score)


ORDERS = [
    Order("name"),
    Order("name", descending=True),
    Order("created_at", descending=True),
    Order("id"),
    Order("score", nullable=True),
    Order("score", descending=True, nullable=True),
]


def forwards(queryset, order, size):
    pages, query = [], {}
    while True:
        page = page_of(queryset, order, query, size)
        pages.append(page)
        if not page.next:
            return pages
        query = {"after": page.next}


@pytest.mark.parametrize("order", ORDERS, ids=repr)
@pytest.mark.parametrize("size", [1, 3, 5, 10, 11])
def test_every_row_comes_once_in_order(projects, order, size):
    seen = [row.pk for page in forwards(projects, order, size) for row in page.rows]
    whole = [row.pk for row in page_of(projects, order, {}, 100).rows]
    assert seen == whole
    assert sorted(seen) == sorted(projects.values_list("pk", flat=True))


@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_the_way_back_shows_the_same_pages(projects, order):
    pages = forwards(projects, order, 3)
    back = [pages[-1]]
    while back[-1].previous:
        back.append(page_of(projects, order, {"before": back[-1].previous}, 3))
    assert [[row.pk for row in page.rows] for page in reversed(back)] == [
        [row.pk for row in page.rows] for page in pages
    ]
    assert back[-1].previous is None


@pytest.mark.parametrize("descending", [False, True])
def test_unknown_values_come_last_in_both_directions(projects, descending):
    rows = page_of(projects, Order("score", descending=descending, nullable=True), {}, 100).rows
    assert [row.score is None for row in rows] == [False] * 8 + [True] * 2


def test_a_row_that_arrives_on_an_earlier_page_shifts_nothing(projects):
    first = page_of(projects, Order("name"), {}, 3)
    expected = [row.pk for row in page_of(projects, Order("name"), {"after": first.next}, 3).rows]
    Project.objects.create(name="aardvark", slug="new")
    assert [row.pk for row in page_of(projects, Order("name"), {"after": first.next}, 3).rows] == expected


@pytest.mark.parametrize("cursor", ["", "x", "bm90IGpzb24", "W10", "eyJhIjoxfQ", "W3siYXQiOiJ4In0sMV0", "WzEsIm9uZSJd"])
def test_a_cursor_that_cannot_be_read_leads_to_the_first_page(projects, cursor):
    assert page_of(projects, Order("name"), {"after": cursor}, 3) == page_of(projects, Order("name"), {}, 3)


def test_a_cursor_of_another_order_leads_to_the_first_page(projects):
    by_name = page_of(projects, Order("name"), {}, 3).next
    first = page_of(projects, Order("created_at"), {}, 3)
    assert page_of(projects, Order("created_at"), {"after": by_name}, 3) == first


def test_a_place_behind_the_last_row_leads_to_the_first_page(projects):
    last = page_of(projects, Order("id"), {}, 9)
    Project.objects.filter(pk__gt=last.rows[-1].pk).delete()
    assert page_of(projects, Order("id"), {"after": last.next}, 9).rows == last.rows


def test_rows_may_be_dictionaries(projects):
    page = page_of(projects.values("name"), Order("name"), {}, 3)
    following = page_of(projects.values("name"), Order("name"), {"after": page.next}, 3)
    assert [row["name"] for row in page.rows + following.rows] == ["ant"] * 4 + ["bee"] * 2


def test_a_page_costs_one_query(projects, django_assert_num_queries):
    cursor = page_of(projects, Order("name"), {}, 3).next
    with django_assert_num_queries(1):
        page_of(projects, Order("name"), {"after": cursor}, 3)
