"""REST views for grades that were given elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.forms import versions_for
from annotations.importing import take, take_by
from annotations.models import Queue
from evalstudio.projects.api_access import ProjectView
from evalstudio.projects.models import AuditEntry
from evalstudio.web.problems import problem
from evaluators.kinds.human import Human
from evaluators.models import Evaluator
from experiments.ledger.outside import Taken
from experiments.ledger.start import CannotStart

MOST_GRADES = 10_000  # of one request


class NewGradesSerializer(serializers.Serializer):
    """A batch. Each: `case` and `label`, `number` or `score`; if there is a choice `evaluator`, `person`, `attempt`,
    `experiment`, `baseline`; and if known `comment`, `seconds`, `created_at`. A task of Label Studio is one, too."""

    grades = serializers.ListField(child=serializers.JSONField(), min_length=1, max_length=MOST_GRADES)


class GradesTakenSerializer(serializers.Serializer):
    """What became of a batch."""

    accepted = serializers.IntegerField()
    unchanged = serializers.IntegerField(help_text="They were there already.")


DESCRIPTION = (
    "Grades that are there already change nothing, so a batch can be sent again. Where some are wrong the answer is"
    " 422 and names each with its field; the others are kept."
)
BODIES: dict[str, Any] = {
    "description": DESCRIPTION,
    "request": NewGradesSerializer,
    "responses": {200: GradesTakenSerializer, 422: None},
}


class _Grades(ProjectView):
    def stored(
        self, request: Request, into: str, store: Callable[[Iterable[tuple[int, Any]], Taken], None]
    ) -> Response:
        said = NewGradesSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        taken = Taken()
        try:
            store(enumerate(said.validated_data["grades"]), taken)
        except CannotStart as error:
            raise serializers.ValidationError({"grades": [str(error)]}) from None
        AuditEntry.note(self.project, request.user, "imported grades into", into)
        figures = {"accepted": taken.accepted, "unchanged": taken.unchanged}
        if not taken.wrong:
            return Response(figures)
        errors = [
            {"field": f"grades[{fault.place}].{fault.field}".rstrip("."), "case": fault.case, "message": fault.reason}
            for fault in taken.faults
        ]
        return problem(422, f"{taken.wrong} grades were not accepted; the others are stored.", errors=errors, **figures)


class QueueGrades(_Grades):
    @extend_schema(
        operation_id="queues_take_grades", summary="Send grades that people gave elsewhere into a queue", **BODIES
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        queue = get_object_or_404(Queue.objects.select_related("project"), project=self.project, pk=pk)
        return self.stored(request, f"queue {queue.name}", lambda rows, taken: take(queue, rows, request.user, taken))


class EvaluatorGrades(_Grades):
    @extend_schema(
        operation_id="evaluators_take_grades",
        summary="Send grades that people gave elsewhere by a human evaluator, whether a queue asks for them or not",
        **BODIES,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = get_object_or_404(Evaluator, project=self.project, pk=pk, kind=Human.key)
        version = versions_for(self.project, compares=evaluator.compares).filter(evaluator=evaluator).first()
        if version is None:
            raise serializers.ValidationError({"grades": ["Publish a version of it first."]})
        return self.stored(request, evaluator.name, lambda rows, taken: take_by(version, rows, request.user, taken))
