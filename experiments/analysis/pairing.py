"""Two results side by side: which outputs answer the same case, and which only one of the two has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from django.core.cache import cache
from django.db.models import Count, Exists, OuterRef, QuerySet

from evalstudio.web.numbers import moment
from experiments.models import Experiment, Output, Source


def names_of(experiment: Experiment, baseline: Experiment) -> tuple[str, str]:
    """What to call the two."""
    names = names_of_each([experiment, baseline])
    return names[experiment.pk], names[baseline.pk]


def names_of_each(experiments: Iterable[Experiment]) -> dict[int, str]:
    """What to call results, by id: their systems, with the moment they were made where one system has several.

    With their number, too, where several of those were made within a minute.
    """
    experiments = list({each.pk: each for each in experiments}.values())
    systems = Counter(each.system_id for each in experiments)
    names = {
        each.pk: each.system.name
        if systems[each.system_id] == 1
        else f"{each.system.name} of {moment(each.created_at)}"
        for each in experiments
    }
    return dict(zip(names, numbered(list(names.items())), strict=True))


def numbered(names: Sequence[tuple[int, str]]) -> list[str]:
    """Names that stand with the ids of what they name; the id is added where several are the same."""
    counted = Counter(name for _, name in names)
    return [f"{name} #{pk}" if counted[name] > 1 else name for pk, name in names]


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
    """How many cases each of the others answered that this one did, too, by the other's id.

    One query; none for those that are complete and were counted before.
    """
    keys = {each.pk: _key_of_common(experiment, each) for each in others}
    known = cache.get_many([key for key in keys.values() if key])
    unknown = [pk for pk, key in keys.items() if key not in known]
    counted: dict[int, int] = {}
    if unknown:
        outputs = Output.objects.filter(_has_partner(experiment), experiment__in=unknown).order_by()
        found = outputs.values("experiment").annotate(n=Count("case", distinct=True))
        counted = dict(found.values_list("experiment", "n"))
        cache.set_many({key: counted.get(pk, 0) for pk in unknown if (key := keys[pk])}, timeout=None)
    return {pk: counted[pk] if pk in counted else known.get(key, 0) for pk, key in keys.items()}


def _key_of_common(one: Experiment, other: Experiment) -> str:
    """Under which the count is kept; empty where either may still get outputs."""
    if any(each.is_open or each.source == Source.PROMPT for each in (one, other)):
        return ""
    first, second = sorted((one, other), key=lambda each: each.pk)
    return "cases-in-common:" + ":".join(f"{each.pk}:{each.created_at.timestamp()}" for each in (first, second))


def _has_partner(other: Experiment) -> Exists:
    """Whether another experiment answered the case of an output in the same attempt."""
    return Exists(Output.objects.filter(experiment=other, case=OuterRef("case"), attempt=OuterRef("attempt")))
