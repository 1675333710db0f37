"""Which outputs stand for an experiment: as many as asked for, spread over it, and the same ones every time."""

from __future__ import annotations

import random
from itertools import pairwise

from django.db.models import Window
from django.db.models.functions import RowNumber

from experiments.analysis.pairing import outputs_of
from experiments.models import Experiment

MOST = 200  # outputs that a sample may have


def sample_ids(experiment: Experiment, n: int, baseline: Experiment | None = None) -> list[int]:
    """The ids of n outputs, or of all where there are no more; against a baseline, of those it answered as well.

    One at random from each of n stretches of equal length, by a seed of the experiment's own: asked again, the same
    outputs come as long as none is added. Two queries.
    """
    outputs = outputs_of(experiment, baseline)
    total = outputs.count()
    if total <= n:
        return list(outputs.order_by("pk").values_list("pk", flat=True))
    random_ = random.Random(f"{experiment.pk}:{n}")  # noqa: S311 - a sample, not a secret
    edges = [total * number // n for number in range(n + 1)]
    places = [random_.randrange(first, end) + 1 for first, end in pairwise(edges)]
    numbered = outputs.annotate(place=Window(RowNumber(), order_by="pk"))
    return list(numbered.filter(place__in=places).order_by("pk").values_list("pk", flat=True))
