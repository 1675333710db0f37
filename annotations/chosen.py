"""What a queue is made of: the outputs of a result that an address names, all of them or those that a filter keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in
from experiments.analysis.columns import columns, current_runs
from experiments.analysis.comparing import asking
from experiments.analysis.comparing.changed import changed
from experiments.analysis.comparing.judges import judges_of
from experiments.analysis.comparing.kept import comparison
from experiments.analysis.grid import View, walk
from experiments.analysis.pairing import comparable, names_of, outputs_of
from experiments.analysis.slicing import SLICED_BY
from experiments.models import Experiment, Output

# What the address of a results page narrows rows with.
FILTER = ("by", "show", "q", "expected", "label", "from", "to", *SLICED_BY)
NAMES = ("experiment", "baseline", *FILTER)
SHOWN = {
    "below": "not on the good side of the threshold",
    "regressed": "where the compared result is worse",
    "improved": "where the compared result is better",
    "same": "where neither is better",
    "changed": "whose text changed",
    "disagree": "on which evaluators disagree",
    "flips": "judged otherwise in the other order",
    "errors": "that failed",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Outputs of an experiment, or its pairs with a baseline. `narrowed` says in words what a filter keeps."""

    experiment: Experiment
    baseline: Experiment | None
    outputs: QuerySet[Output]
    narrowed: str = ""

    @property
    def subject(self) -> str:
        if self.baseline is None:
            return f"{self.experiment} on {self.experiment.dataset_version}"
        one, other = names_of(self.experiment, self.baseline)
        return f"{one} against {other}"


def chosen_in(said: Mapping[str, str], project: Project) -> Chosen | None:
    """What an address chooses; None where it names no result of this project."""
    experiments = Experiment.objects.select_related("system", "dataset_version__dataset", "project")
    experiment = experiments.filter(project=project, pk=id_in(said.get("experiment", "")) or 0).first()
    if experiment is None:
        return None
    baseline = None
    if wanted := said.get("baseline", ""):
        baseline = comparable(experiment).select_related("system").filter(pk=id_in(wanted) or 0).first()
        if baseline is None:
            return None
    return _narrowed(said, experiment, baseline)


def _narrowed(said: Mapping[str, str], experiment: Experiment, baseline: Experiment | None) -> Chosen:
    whole = outputs_of(experiment, baseline)
    if not any(said.get(name, "") for name in FILTER if name != "by"):
        return Chosen(experiment, baseline, whole)
    if baseline is not None:
        return _pairs(said, experiment, baseline, whole)
    runs = current_runs(experiment, by=said.get("by", ""))
    view = View.of(said, runs)
    if view.show == "all" and not view.words and not view.slice and not view.is_by_labels:
        return Chosen(experiment, None, whole)
    column = next((one for one in columns(runs) if view.run and one.run.pk == view.run.pk), None)
    kept = Q()
    for rows, _ in walk(experiment, view, column.summary if column else None).parts:
        kept |= Q(pk__in=rows.order_by().values("shown"))
    return Chosen(experiment, None, whole.filter(kept), _words(view))


def _pairs(said: Mapping[str, str], experiment: Experiment, baseline: Experiment, whole: QuerySet[Output]) -> Chosen:
    """Those of the pairs that the page of the two shows."""
    subjects = judges_of(experiment, baseline, said.get("by", "")).subjects
    view = asking.View.of(said, subjects)
    if view.show == "all" and not view.words and view.between is None:
        return Chosen(experiment, baseline, whole)
    found = comparison(experiment, baseline, subjects, view.columns)
    texts = changed(experiment, baseline) if view.show == "changed" and found.changed is None else found.changed
    ids = asking.listing(view, found, texts).outputs.tolist()
    by = next((f"by {each.evaluator.name} {each.version}" for each in subjects if str(each.run.pk) == view.by), "")
    words = [SHOWN.get(view.show, view.show if view.show != "all" else ""), by]
    words += ["with a difference in the chosen range"] if view.between else []
    words += [_with(view.words)] if view.words else []
    return Chosen(experiment, baseline, whole.filter(pk__in=ids), " ".join(filter(None, words)))


def _words(view: View) -> str:
    """What the filter keeps: "below the threshold by Helpful v2"."""
    words = [SHOWN.get(view.show, view.show)] if view.show != "all" else []
    if view.expected:
        words.append(f"of which {view.expected} is expected")
    if view.given:
        words.append(f"called {view.given}")
    if words and view.run:
        words.append(f"by {view.run.version.evaluator.name} {view.run.version}")
    if view.words:
        words.append(_with(view.words))
    if view.slice:
        words.append(f"in {view.slice}")
    return " ".join(words)


def _with(words: str) -> str:
    return f"with “{words}” in the key"
