"""The pairs whose outputs differ, whatever evaluators say of them: it takes reading both, so it is asked for apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import connection

from experiments.analysis.comparing.kept import digest, outputs_stamp
from experiments.analysis.comparing.names import CHANGED
from experiments.models import Experiment, PairColumn

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

FEW = 2000  # pairs that are read at once; of more it takes a request of its own


def changed(experiment: Experiment, baseline: Experiment) -> NDArray[int64]:
    """Read which of the compared result's outputs differ from their partners, and keep it. Three queries."""
    import numpy

    stamp = digest(outputs_stamp(experiment, baseline))
    found = numpy.array(_read(experiment, baseline), dtype="<i8")
    PairColumn.objects.update_or_create(
        experiment=experiment,
        baseline=baseline,
        name=CHANGED,
        defaults={"made_from": stamp, "data": found.tobytes()},
    )
    return found


def _read(experiment: Experiment, baseline: Experiment) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT mine.id
               FROM experiments_output AS mine
               JOIN experiments_output AS theirs
                 ON theirs.experiment_id = %s AND theirs.case_id = mine.case_id AND theirs.attempt = mine.attempt
               JOIN experiments_outputbody AS own ON own.output_id = mine.id
               JOIN experiments_outputbody AS other ON other.output_id = theirs.id
               WHERE mine.experiment_id = %s AND own.outputs IS DISTINCT FROM other.outputs""",
            [baseline.pk, experiment.pk],
        )
        return [pk for (pk,) in cursor.fetchall()]
