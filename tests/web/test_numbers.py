"""Every unit has one spelling."""

from datetime import UTC, datetime, timedelta

import pytest

from evalstudio.web import numbers


@pytest.mark.parametrize(("share", "words"), [(0.842, "84.2 %"), (0, "0.0 %"), (1, "100.0 %"), (0.0004, "0.0 %")])
def test_a_share_reads_as_per_cent(share, words):
    assert numbers.percent(share).replace(numbers.NBSP, " ") == words


@pytest.mark.parametrize(
    ("difference", "words"),
    [
        (0.065, "+6.5 pts"),
        (-0.15, "−15.0 pts"),
        (0, "0.0 pts"),
        (0.0004, "+0.04 pts"),
        (-0.00001, "−0.001 pts"),
        (-1e-17, "0.0 pts"),
    ],
)
def test_a_difference_reads_as_signed_points(difference, words):
    assert numbers.points(difference).replace(numbers.NBSP, " ") == words


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0"), (5.0, "5"), (-0.5, "-0.5"), (1234.5678, "1,234.568"), (2.14e-5, "2.14e-05"), (0.0214, "0.0214")],
)
def test_a_number_of_any_size_keeps_what_it_says(number, words):
    assert numbers.quantity(number) == words


@pytest.mark.parametrize(("share", "words"), [(0.6, "60 %"), (0.605, "60.5 %"), (0.995, "99.5 %"), (0.07, "7 %")])
def test_a_threshold_is_not_rounded_to_another_one(share, words):
    assert numbers.limit(share).replace(numbers.NBSP, " ") == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0"),
        (0.00021, "$0.00021"),
        (0.000319, "$0.00032"),
        (0.0996, "$0.10"),
        (1.2, "$1.20"),
        (1234.5, "$1,234.50"),
    ],
)
def test_money_keeps_two_digits_that_matter(amount, words):
    assert numbers.usd(amount) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [
        (0, "0 ms"),
        (310, "310 ms"),
        (999.6, "1.00 s"),
        (1240, "1.24 s"),
        (12_400, "12.4 s"),
        (59_999, "1 min"),
        (72_000, "1 min 12 s"),
        (11_100_000, "3 h 5 min"),
    ],
)
def test_a_span_of_time_takes_the_unit_that_fits(milliseconds, words):
    assert numbers.duration(milliseconds).replace(numbers.NBSP, " ") == words


NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=12), "12 min ago"),
        (timedelta(hours=3, minutes=59), "3 h ago"),
        (timedelta(hours=30), "yesterday"),
    ],
)
def test_ago_takes_the_largest_unit(passed, words):
    assert numbers.ago(NOON, NOON + passed).replace(numbers.NBSP, " ") == words


def test_a_moment_names_its_zone_and_leaves_out_this_year():
    this_year = datetime.now(UTC).year
    assert numbers.moment(NOON.replace(year=this_year)) == "Nov 20, 12:00 UTC"
    assert numbers.moment(NOON.replace(year=2019)) == "Nov 20 2019, 12:00 UTC"


def test_clipped_text_ends_at_a_word_and_stays_on_one_line():
    assert numbers.clip("When do I get\n my money back?", 20) == "When do I get my…"
    assert numbers.clip("short", 20) == "short"
    assert len(numbers.clip("x" * 100, 20)) == 20
