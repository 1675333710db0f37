"""REST view for scores that another program made."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.models import AuditEntry
from evalstudio.web.problems import problem
from evalstudio.web.sound_json import Unchecked
from evaluators.outside import MOST_NAME, NotOutside, version_named
from experiments.api.views import _OneExperiment
from experiments.ledger.asked import Asked
from experiments.ledger.outside import Taken, finds_place, take
from experiments.ledger.start import CannotStart, start

MOST_SCORES = 10_000  # of one request


class NewScoresSerializer(serializers.Serializer):
    """A batch. Each: `case` (its key), `score` from 0 to 1 or `label`, and if known `attempt`, `passed`, `reason`."""

    evaluator = serializers.CharField(max_length=MOST_NAME, help_text="Its name; made where there is none yet.")
    again = serializers.BooleanField(
        required=False, default=False, help_text="Begin a new round, with the first batch of it; earlier scores stay."
    )
    scores = serializers.ListField(child=Unchecked(), min_length=1, max_length=MOST_SCORES)


class ScoresTakenSerializer(serializers.Serializer):
    """What became of a batch."""

    run = serializers.IntegerField(help_text="The run that the scores went into.")
    accepted = serializers.IntegerField()
    unchanged = serializers.IntegerField(help_text="They were there already, word for word.")
    ignored = serializers.ListField(child=serializers.CharField(), help_text="Fields that say nothing here.")


class ScoreIntake(_OneExperiment):
    @extend_schema(
        operation_id="scores_send",
        summary="Send scores that another program made",
        description="They become a run of an evaluator. Scores that are there already change nothing, so a batch can be"
        " sent again. Where some are wrong the answer is 422 and names each with its field; the others are kept. Where"
        " all are wrong no run begins, and `run` is null.",
        request=NewScoresSerializer,
        responses={200: ScoresTakenSerializer, 422: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        experiment = self.experiment(pk)
        said = NewScoresSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given = said.validated_data
        run, taken = None, Taken()
        try:
            version = version_named(self.project, given["evaluator"], request.user)
            if finds_place(version, experiment, enumerate(given["scores"]), taken):
                run = start(version, experiment, request.user, asked=Asked(again=given["again"]))
        except (NotOutside, CannotStart) as error:
            raise serializers.ValidationError({"evaluator": [str(error)]}) from None
        if run is not None:
            taken = take(run, enumerate(given["scores"]))
            AuditEntry.note(self.project, request.user, "sent scores of", f"{version.evaluator.name} on {run.subject}")
        figures: dict[str, Any] = {"run": run and run.pk, "accepted": taken.accepted, "unchanged": taken.unchanged}
        figures["ignored"] = sorted(taken.ignored)
        if not taken.wrong:
            return Response(figures)
        errors = [
            {"field": f"scores[{fault.place}].{fault.field}".rstrip("."), "case": fault.case, "message": fault.reason}
            for fault in taken.faults
        ]
        detail = f"{taken.wrong} of {len(given['scores'])} scores were not accepted; the others are stored."
        return problem(422, detail, errors=errors, **figures)
