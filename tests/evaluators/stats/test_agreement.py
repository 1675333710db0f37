"""Agreement of graders against published tables, scikit-learn, statsmodels and by simulation."""

from itertools import combinations

import numpy
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from evaluators.stats.agreement import cohen, fleiss, gwet, krippendorff, percent
from evaluators.stats.grades import Grades


def table(*graders, categories=None):
    """A line a grader, a word an item; a dot where a grade is missing."""
    rows = [
        (item, grader, int(grade) if grade.isdigit() else grade)
        for grader, line in enumerate(graders)
        for item, grade in enumerate(line.split())
        if grade != "."
    ]
    return Grades.of(rows, categories)


def counted(rows):
    """From how often each item got each category."""
    return Grades.of(
        (item, grader, category)
        for item, row in enumerate(rows)
        for grader, category in enumerate(category for category, n in enumerate(row) for _ in range(n))
    )


# Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), examples A to C.
MEG_AND_OWEN = table("0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0")
BEN_AND_GERRY = table("a a b b d c c c e d d a", "b a b b b c c c e d d d")
FOUR_OBSERVERS = table(
    "1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."
)
# Fleiss (1971), psychiatric diagnoses of 30 patients by six psychiatrists each.
DIAGNOSES = (
    "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 "
    "333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555"
)


def test_the_examples_of_krippendorff():
    assert krippendorff(MEG_AND_OWEN).value == pytest.approx(0.095, abs=5e-4)
    assert krippendorff(BEN_AND_GERRY).value == pytest.approx(0.692, abs=5e-4)
    published = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849}
    for level, alpha in published.items():
        assert krippendorff(FOUR_OBSERVERS, level).value == pytest.approx(alpha, abs=5e-4)


def test_the_four_observers_by_the_coefficients_of_gwet():
    # As published with the same table in Gwet, Handbook of Inter-Rater Reliability (2014).
    assert gwet(FOUR_OBSERVERS).value == pytest.approx(0.77544, abs=5e-6)
    assert fleiss(FOUR_OBSERVERS).value == pytest.approx(0.76117, abs=5e-6)
    assert percent(FOUR_OBSERVERS).value == pytest.approx(0.81818, abs=5e-6)


def test_the_diagnoses_of_fleiss():
    rows = [
        (patient, place, int(each)) for patient, line in enumerate(DIAGNOSES.split()) for place, each in enumerate(line)
    ]
    found = fleiss(Grades.of(rows))
    assert found.value == pytest.approx(0.430, abs=5e-4)
    assert found.low < 0.430 < found.high
    assert found.n == 180


def test_where_nearly_all_say_yes_kappa_falls_apart_and_ac1_does_not():
    # Gwet (2008): 118 yes-yes, 5 yes-no, 2 no-yes. By hand pa = 0.944, pe of AC1 = 2 × 0.972 × 0.028.
    grades = Grades.of(
        (item, grader, verdict)
        for item, pair in enumerate(["yy"] * 118 + ["yn"] * 5 + ["ny"] * 2)
        for grader, verdict in enumerate(pair)
    )
    chance = 2 * 0.972 * 0.028
    assert gwet(grades).value == pytest.approx((0.944 - chance) / (1 - chance))
    assert gwet(grades).low > 0.85
    kappa = cohen(grades)
    assert kappa.value == pytest.approx(-0.0234, abs=1e-4)
    assert "AC1 can be told" in kappa.refused


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_cohen_is_that_of_scikit_learn(weights):
    draw = numpy.random.default_rng(1)
    first = draw.integers(0, 5, 200)
    second = numpy.clip(first + draw.integers(-1, 2, 200), 0, 4)
    grades = Grades(numpy.column_stack([first, second]), tuple(range(5)), numpy.arange(5.0))
    assert cohen(grades, weights).value == pytest.approx(cohen_kappa_score(first, second, weights=weights))


def test_fleiss_is_that_of_statsmodels():
    counts = numpy.random.default_rng(2).multinomial(6, [0.5, 0.3, 0.2], 40)
    assert fleiss(counted(counts)).value == pytest.approx(fleiss_kappa(counts))


def pairwise_ac2(grades, weights):
    """By the definition, pair by pair."""
    agree = grades.agreements(weights)
    each = [row[row >= 0] for row in grades.codes]
    observed = numpy.mean([numpy.mean([agree[a, b] for a, b in combinations(row, 2)]) for row in each if len(row) > 1])
    size = len(grades.categories)
    shares = numpy.mean([numpy.bincount(row, minlength=size) / len(row) for row in each], 0)
    chance = agree.sum() / (size * (size - 1)) * (shares * (1 - shares)).sum()
    return (observed - chance) / (1 - chance)


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_ac2_is_what_its_definition_says(weights):
    assert gwet(FOUR_OBSERVERS, weights).value == pytest.approx(pairwise_ac2(FOUR_OBSERVERS, weights))


def test_categories_that_nobody_used_count_for_ac1():
    lines = "a a a b b a a b a b", "a a b b b a a b a a"
    two, four = table(*lines), table(*lines, categories="abcd")
    assert gwet(four).value > gwet(two).value
    assert krippendorff(four).value == pytest.approx(krippendorff(two).value)


def test_continuous_scores_agree_on_an_interval_scale():
    draw = numpy.random.default_rng(3)
    scores = draw.random(300)
    rows = [(i, g, float(score + draw.normal(0, 0.1))) for g in range(3) for i, score in enumerate(scores)]
    # Between items 1/12, within them 0.01: alpha is the reliability.
    assert krippendorff(Grades.of(rows), "interval").value == pytest.approx(1 / 12 / (1 / 12 + 0.01), abs=0.02)
    assert "more than 100 different grades" in fleiss(Grades.of(rows)).refused


def test_the_closed_form_and_the_bootstrap_agree():
    grades = Grades(panel(numpy.random.default_rng(4), 300, 3, (0.5, 0.3, 0.2)), (0, 1, 2), numpy.arange(3.0))
    for of in (fleiss, gwet, krippendorff):
        drawn, left_out = of(grades), of(grades, resamples=0)
        assert drawn.standard_error == pytest.approx(left_out.standard_error, rel=0.1)
        assert "bootstrap" in drawn.method
        assert "jackknife" in left_out.method
        assert of(grades) == drawn


def test_the_last_of_two_grades_by_one_person_counts_and_none_is_missing():
    grades = Grades.of([("x", "Ada", 1), ("x", "Ada", 2), ("x", "Bob", None), ("x", "Cy", 2)])
    assert grades.codes.tolist() == [[0, 0]]
    assert grades.categories == (2,)


def test_a_grade_outside_the_scale_is_a_mistake():
    with pytest.raises(ValueError, match="categories"):
        Grades.of([("x", "Ada", "maybe")], ("yes", "no"))
    with pytest.raises(ValueError, match="two graders"):
        cohen(FOUR_OBSERVERS)


@pytest.mark.parametrize(
    ("grades", "value", "sentence"),
    [
        (table("1 2 . .", ". . 2 1"), None, "No item has grades from two people yet."),
        (table("1 1 1 1", "1 1 1 1"), None, "Everybody gave every item the same verdict"),
        (table("1 2 1 2", "1 2 1 1"), 0.5, "Fewer than 10 items"),
        (table("1 2 1 2 1 2 1 2 1 2 1 2", "1 2 1 2 1 2 1 2 1 2 1 2"), 1, "All grades agree"),
    ],
)
@pytest.mark.parametrize("of", [cohen, krippendorff, fleiss])
def test_it_refuses_with_a_sentence(of, grades, value, sentence):
    found = of(grades)
    assert found.low is None
    assert (found.value is None) == (value is None)
    assert sentence in found.refused


@pytest.mark.parametrize("of", [percent, fleiss, gwet, krippendorff])
def test_without_grades_there_is_nothing_to_tell(of):
    assert of(Grades.of([])).value is None
    assert of(Grades.of([])).refused


# --- By simulation ----------------------------------------------------------------------------------------------------
def panel(draw, items, graders, shares, missing=0.15):
    """Some items are harder than others; who does not see the truth guesses; a share of grades is missing."""
    truth = draw.choice(len(shares), items, p=shares)
    sees = draw.random((items, graders)) < numpy.where(draw.random(items) < 0.3, 0.6, 0.9)[:, None]
    codes = numpy.where(sees, truth[:, None], draw.choice(len(shares), (items, graders), p=shares))
    codes[draw.random(codes.shape) < missing] = -1
    return codes


@pytest.mark.parametrize(
    ("of", "graders", "shares", "items"),
    [
        (cohen, 2, (0.5, 0.5), 50),
        (cohen, 2, (0.8, 0.2), 150),
        (lambda grades, **how: cohen(grades, "quadratic", **how), 2, (0.4, 0.3, 0.2, 0.1), 80),
        (fleiss, 3, (0.5, 0.3, 0.2), 40),
        (gwet, 3, (0.9, 0.1), 60),
        (lambda grades, **how: gwet(grades, "linear", **how), 3, (0.4, 0.3, 0.2, 0.1), 40),
        (krippendorff, 4, (0.6, 0.4), 40),
        (lambda grades, **how: krippendorff(grades, "ordinal", **how), 3, (0.4, 0.3, 0.2, 0.1), 60),
        (lambda grades, **how: krippendorff(grades, "interval", **how), 3, (0.4, 0.3, 0.2, 0.1), 80),
    ],
    ids=["Cohen", "Cohen, skewed", "Cohen, weighted", "Fleiss", "AC1, skewed", "AC2", "alpha", "ordinal", "interval"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(of, graders, shares, items):
    draw, size = numpy.random.default_rng(items), len(shares)

    def figure(items, resamples=0):
        codes = panel(draw, items, graders, shares)
        return of(Grades(codes, tuple(range(size)), numpy.arange(float(size))), resamples=resamples)

    truth = figure(200_000).value
    found = [figure(items) for _ in range(2000)]
    told = [one for one in found if one.low is not None]
    assert len(told) > 1950
    assert 0.93 <= numpy.mean([one.low <= truth <= one.high for one in told]) <= 0.97
    drawn = [figure(items, 150) for _ in range(400)]
    told = [one for one in drawn if one.low is not None]
    assert 0.92 <= numpy.mean([one.low <= truth <= one.high for one in told]) <= 0.98
