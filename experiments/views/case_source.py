"""Where the cases of the test bench come from: a data set, an experiment with it, and in a comparison a second one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from django.http import QueryDict

from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in
from evaluators.core import COMPARISON
from experiments.models import Dataset, Experiment

PASTED = "pasted"  # instead of an experiment: the outputs are typed beside the case
MOST_LISTED = 200  # data sets, and experiments of one


@dataclass(frozen=True, slots=True)
class CaseSource:
    """What there is to choose from and what is chosen; None where there is nothing, or outputs are pasted."""

    datasets: list[Dataset]
    experiments: list[Experiment]  # of the chosen data set, the newest first
    compares: bool
    dataset: Dataset | None
    experiment: Experiment | None  # in a comparison the baseline
    compared: Experiment | None

    @classmethod
    def chosen(cls, project: Project, asked: QueryDict) -> Self:
        """What is asked for; else the newest experiment, in a comparison the newest with the one before as baseline."""
        rows = Dataset.objects.filter(project=project, latest_version__gt=0).order_by("name")
        datasets, experiments = list(rows[:MOST_LISTED]), _experiments(project, asked)
        dataset = _dataset(asked, datasets, experiments)
        of_dataset = [each for each in experiments if dataset and each.dataset_version.dataset_id == dataset.pk]
        compares = asked.get("runs_on") == COMPARISON
        choose = _pair if compares else _single
        experiment, compared = choose(asked, of_dataset)
        return cls(datasets, of_dataset, compares, dataset, experiment, compared)


def _experiments(project: Project, asked: QueryDict) -> list[Experiment]:
    rows = Experiment.objects.filter(project=project).select_related("system", "dataset_version")
    newest = list(rows.order_by("-pk")[:MOST_LISTED])
    named = [id_in(asked.get(name, "")) for name in ("experiment", "compared")]
    if older := {wanted for wanted in named if wanted is not None} - {experiment.pk for experiment in newest}:
        newest += rows.filter(pk__in=older)
    return newest


def _dataset(asked: QueryDict, datasets: list[Dataset], experiments: list[Experiment]) -> Dataset | None:
    """The one that is asked for, else that of the experiment that is asked for or of the newest, else the first."""
    by_id = {str(dataset.pk): dataset for dataset in datasets}
    named = [each for each in experiments if str(each.pk) == asked.get("experiment", "")]
    of_experiment = [str(each.dataset_version.dataset_id) for each in (*named, *experiments[:1])]
    for wanted in (asked.get("dataset", ""), *of_experiment):
        if wanted in by_id:
            return by_id[wanted]
    return datasets[0] if datasets else None


def _single(asked: QueryDict, experiments: list[Experiment]) -> tuple[Experiment | None, None]:
    return _experiment(asked.get("experiment", ""), experiments), None


def _pair(asked: QueryDict, experiments: list[Experiment]) -> tuple[Experiment | None, Experiment | None]:
    """(baseline, compared). One that is asked for alone is the compared one, and the one before it the baseline."""
    if "compared" in asked:
        baseline = _experiment(asked.get("experiment", ""), experiments[1:] + experiments[:1])
        return baseline, _experiment(asked.get("compared", ""), [each for each in experiments if each != baseline])
    compared = _experiment(asked.get("experiment", ""), experiments)
    place = experiments.index(compared) if compared else len(experiments)
    others = experiments[place + 1 :] + experiments[:place]
    return next(iter(others), None), compared


def _experiment(wanted: str, experiments: list[Experiment]) -> Experiment | None:
    """The one that is asked for, else the first; None where outputs are to be pasted."""
    if wanted == PASTED or not experiments:
        return None
    return next((each for each in experiments if str(each.pk) == wanted), experiments[0])
