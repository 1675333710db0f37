"""Judges against people: where they agree, and what people would say of everything that a judge has judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import F, Subquery
from django.utils import timezone

from annotations.beside import Beside, beside, people_beside, people_of
from evalstudio.projects.models import AuditEntry
from evaluators.models import Evaluator
from evaluators.stats.agreement import cohen
from evaluators.stats.budget import Stratum
from evaluators.stats.calibration import Judged, rogan_gladen
from evaluators.stats.confusion import Classes, Confusion, confusion
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.grades import Grades
from evaluators.stats.predicted import prediction_powered
from experiments.models import Calibration, Purpose, Run

PASS, FAIL = "passes", "fails"
NO_WORD = "the orders disagree"  # of a comparison: scored, and neither label
LEAST_CORRELATED = 3


@dataclass(frozen=True, slots=True)
class Against:
    """How a judge does against people on the outputs that both have scored. Figures without a meaning are None.

    `own` is the judge's mean over all it judged, `corrected` what people would say of the same.
    `correlation` is Pearson's, `ranks` Spearman's, both in [−1, 1].
    """

    beside: Beside
    n: int
    own: Estimate
    corrected: Estimate
    agreement: Estimate
    kappa: Estimate | None
    sensitivity: Estimate | None
    specificity: Estimate | None
    correlation: float | None
    ranks: float | None
    table: Confusion | None


def against(pair: Beside, own: Estimate) -> Against:
    """Every figure of a judge against people. `own` is the figure that its run shows."""
    said = _labels(pair)
    sides = pair.verdicts
    correlation, ranks = _correlations(pair)
    return Against(
        pair,
        int(pair.both.sum()),
        own,
        corrected(pair),
        estimate(Moments.of(closeness(pair).values()), int(pair.both.sum())),
        kappa_of(pair),
        _share(pair, sides, passes=1) if sides else None,
        _share(pair, sides, passes=0) if sides else None,
        correlation,
        ranks,
        _table(said) if said else None,
    )


def corrected(pair: Beside) -> Estimate:
    """What people would say on average: of pass and fail by Rogan and Gladen, of scores prediction-powered.

    Of a comparison it is the share of wins; where somebody may say that two are equal there are three scores. It is
    about outputs that people can judge, and that are no golden cases.
    """
    import numpy as np

    drawn = ~np.isnan(pair.likely)
    told, likely = np.where(drawn, pair.graded, np.nan), np.where(drawn, pair.likely, 1.0)
    judged = Judged.of(pair.judged, told, pair.cases, likely, pair.left_out & drawn)
    if pair.no_sample:
        return judged.refused(pair.no_sample)
    is_binary = (
        np.isin(pair.judged[~np.isnan(pair.judged)], (0.0, 1.0)).all()
        and np.isin(pair.graded[~np.isnan(pair.graded)], (0.0, 1.0)).all()
    )
    return rogan_gladen(judged).share if is_binary else prediction_powered(judged).mean


def _labels(pair: Beside) -> dict[int, tuple[str, str]]:
    """Judge's and people's word for what both have scored, by output: labels they share, or else pass and fail."""
    import numpy as np

    at = np.flatnonzero(pair.both)
    if pair.has_common_labels:
        return {int(pair.outputs[i]): (pair.judge_labels[i] or NO_WORD, pair.people_labels[i]) for i in at}
    if (sides := pair.verdicts) is None:
        return {}
    judge, people = ([PASS if passes[i] else FAIL for i in at] for passes in sides)
    return {int(pair.outputs[i]): both for i, *both in zip(at, judge, people, strict=True)}  # type: ignore[misc]


def closeness(pair: Beside) -> dict[int, tuple[int, float]]:
    """By output its case and how near the two are: 1 where they say the same; of numbers 1 minus their distance."""
    import numpy as np

    said = _labels(pair)
    near = {}
    for i in np.flatnonzero(pair.both):
        output = int(pair.outputs[i])
        same = float(said[output][0] == said[output][1]) if said else 1 - abs(float(pair.judged[i] - pair.graded[i]))
        near[output] = int(pair.cases[i]), same
    return near


def kappa_of(pair: Beside, outputs: Container[int] | None = None) -> Estimate | None:
    """Cohen's kappa of the two, on some outputs or on all; None where they do not speak of the same labels."""
    said = _labels(pair)
    rows = [
        (output, who, word)
        for output, words in said.items()
        if outputs is None or output in outputs
        for who, word in enumerate(words)
    ]
    return cohen(Grades.of(rows), resamples=0) if rows else None


def _share(pair: Beside, sides: tuple[Any, Any], passes: int) -> Estimate:
    """Of what people pass, the share that the judge passes; of what they fail, the share that it fails."""
    import numpy as np

    judge, people = sides
    at = np.flatnonzero(pair.both & (people == passes))
    return estimate(Moments.of((int(pair.cases[i]), float(judge[i] == passes)) for i in at), len(at))


def _correlations(pair: Beside) -> tuple[float | None, float | None]:
    import numpy as np

    judge, people = pair.judged[pair.both], pair.graded[pair.both]
    if len(judge) < LEAST_CORRELATED or np.ptp(judge) == 0 or np.ptp(people) == 0:
        return None, None
    ranks = [_ranks(each) for each in (judge, people)]
    return float(np.corrcoef(judge, people)[0, 1]), float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Any) -> Any:
    """Ranks from 1, ties share the mean of theirs."""
    import numpy as np

    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[places]


def _table(said: dict[int, tuple[str, str]]) -> Confusion:
    counts = Counter((people, judge) for judge, people in said.values())
    words = sorted({word for pair in counts for word in pair} - {NO_WORD}, key=lambda word: (word == FAIL, word))
    return confusion(counts, Classes(tuple(words)))


def strata_of(pair: Beside) -> dict[str, Stratum]:
    """The outputs by what the judge said of them, with what people said so far: what a plan of grading starts from."""
    import numpy as np

    words = ["" if is_out else word for word, is_out in zip(_verdict_words(pair), pair.left_out, strict=True)]
    found = {}
    for word in dict.fromkeys(each for each in words if each):
        here = np.array([each == word for each in words])
        grades = pair.graded[here & pair.both]
        found[word] = Stratum(int(here.sum()), len(grades), float(grades.sum()), float((grades**2).sum()))
    return found


def _verdict_words(pair: Beside) -> list[str]:
    """By output the judge's label, or whether it passes, or else in which third of the scale its score lies."""
    import numpy as np

    if any(pair.judge_labels):
        return pair.judge_labels
    if (sides := pair.verdicts) is not None:
        return ["" if np.isnan(one) else PASS if one else FAIL for one in sides[0]]
    thirds = ("up to 33 %", "33 to 67 %", "above 67 %")
    return ["" if np.isnan(score) else thirds[min(2, int(score * 3))] for score in pair.judged]


# --- What stands beside the judge's own figure ------------------------------------------------------------------------
def calibrate(judge: Run) -> Calibration | None:
    """Work out and keep what people would say of everything this run judged; None where nobody's word counts more."""
    people = people_of(judge)
    if people is None:
        Calibration.objects.filter(run=judge).delete()
        return None
    kept = Calibration.objects.filter(run=judge, people=people).first()
    if kept and kept.holds_for(judge) and kept.people_revision == people.revision:
        return kept
    told = {
        "format": Calibration.FORMAT,
        "people": people,
        "revision": judge.revision,
        "people_revision": people.revision,
        "figure": asdict(corrected(beside(judge, people))),
        "made_at": timezone.now(),
    }
    return Calibration.objects.update_or_create(run=judge, defaults=told)[0]


def refer(judge: Evaluator, people: Evaluator | None, by: Any) -> None:
    """Let the grades of these people correct a judge from now on, or nobody's."""
    judge.reference = people
    judge.save(update_fields=["reference"])
    AuditEntry.note(judge.project, by, "set who corrects", judge.name)
    for run in Run.objects.filter(version__evaluator=judge, purpose=Purpose.RESULTS, is_current=True):
        calibrate(run)


def calibrate_all() -> int:
    """Bring corrections up to date; how many there were to bring. One query where nothing has changed."""
    judges = Run.objects.filter(version__evaluator__reference__isnull=False, purpose=Purpose.RESULTS, is_current=True)
    known = judges.annotate(said=Subquery(people_beside().values("revision")[:1])).filter(said__isnull=False)
    stale = known.exclude(
        calibration__format=Calibration.FORMAT,
        calibration__revision=F("revision"),
        calibration__people_revision=F("said"),
    )
    runs = list(stale.select_related("version__evaluator"))
    for run in runs:
        calibrate(run)
    return len(runs)
