"""Two results side by side: which outputs answer the same case, and which only one of the two has."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, Exists, OuterRef, QuerySet

from evalstudio.web.numbers import moment
from experiments.models import Experiment, Output


def names_of(experiment: Experiment, baseline: Experiment) -> tuple[str, str]:
    """What to call the two: their systems, with the moment they were made where that is one and the same system."""
    systems = experiment.system.name, baseline.system.name
    if systems[0] != systems[1]:
        return systems
    one, other = (f"{each.system.name} of {moment(each.created_at)}" for each in (experiment, baseline))
    return one, other


def outputs_of(experiment: Experiment, baseline: Experiment | None = None) -> QuerySet[Output]:
    """The outputs of an experiment; against a baseline those whose case and attempt it answered as well."""
    outputs = Output.objects.filter(experiment=experiment)
    return outputs.filter(_has_partner(baseline)) if baseline else outputs


def partner_of(output: Output, baseline: Experiment) -> Output:
    """The baseline's output for the same case and attempt, with its body."""
    partners = Output.objects.select_related("body")
    return partners.get(experiment=baseline, case=output.case_id, attempt=output.attempt)


def comparable(experiment: Experiment) -> QuerySet[Experiment]:
    """The other experiments over the same data set, whatever its version."""
    dataset = experiment.dataset_version.dataset_id
    return Experiment.objects.filter(project=experiment.project_id, dataset_version__dataset=dataset).exclude(
        pk=experiment.pk
    )


def in_common(experiment: Experiment, others: Iterable[Experiment]) -> dict[int, int]:
    """How many cases each of the others answered that this one did, too, by the other's id. One query."""
    outputs = Output.objects.filter(_has_partner(experiment), experiment__in=others).order_by()
    counted = outputs.values("experiment").annotate(n=Count("case", distinct=True))
    return dict(counted.values_list("experiment", "n"))


def _has_partner(other: Experiment) -> Exists:
    """Whether another experiment answered the case of an output in the same attempt."""
    return Exists(Output.objects.filter(experiment=other, case=OuterRef("case"), attempt=OuterRef("attempt")))
