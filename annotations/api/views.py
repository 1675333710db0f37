"""REST views of queues and grades: make a queue, take what is next, grade it, read what was said."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotations import making
from annotations.access import may_grade, queues_of
from annotations.answers import BadAnswer, read
from annotations.api.shapes import (
    GradeSerializer,
    ItemSerializer,
    NewQueueSerializer,
    QueueSerializer,
    SaidSerializer,
    faults_by_version,
    item_data,
)
from annotations.chosen import NAMES, chosen_in
from annotations.forms import NewQueueForm
from annotations.grading import Subject, skip, submit
from annotations.holding import at_hand
from annotations.models import Grade, Item, Queue, Reservation
from annotations.progress import progress_of
from annotations.screen import with_all
from annotations.stale import ask_anew, stale_grades
from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import Role, User
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Order
from evaluators.kinds import BadConfig
from experiments.ledger.start import CannotStart


class _Queues(ProjectView):
    reviewers = True

    def queues(self) -> Any:
        seen = queues_of(self.project, self.request.user, self.role)
        return seen.select_related("adjudicator", "project").prefetch_related("versions", "reviewers")

    def told(self, queues: list[Queue]) -> list[dict[str, Any]]:
        context = {"progress": progress_of(queues, self.request.user)}
        return QueueSerializer(queues, many=True, context=context).data

    def open_queue(self, pk: int) -> Queue:
        """A queue in which the caller grades."""
        queue = get_object_or_404(self.queues(), pk=pk)
        if not may_grade(queue, self.request.user, self.role):
            raise PermissionDenied("This queue was given to others.")
        return queue


class QueueList(_Queues):
    @listing("queues_list", "List queues", QueueSerializer)
    def get(self, request: Request, project: str) -> Response:
        return self.page(self.queues(), Order("pk", descending=True), self.told)

    @extend_schema(
        operation_id="queues_create",
        summary="Make a queue of an experiment's outputs, or of what a filter keeps of them",
        request=NewQueueSerializer,
        responses={201: QueueSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        asked = NewQueueSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        named = {name: str(said[name]) for name in NAMES if said.get(name) not in (None, "")}
        chosen = chosen_in(named, self.project)
        if chosen is None:
            raise serializers.ValidationError(
                {"experiment": ["Give ids of results of this project, over one data set."]}
            )
        decides = said["adjudicator"]
        people = {
            "reviewers": self._people(said["reviewers"], "reviewers"),
            "adjudicator": self._people([decides], "adjudicator")[0] if decides else None,
        }
        form = NewQueueForm(said | people, project=self.project, compares=chosen.baseline is not None)
        if not form.is_valid():
            raise serializers.ValidationError(dict(form.errors))
        queue = form.save(commit=False)
        queue.project = self.project
        told = form.cleaned_data
        try:
            repeated = (told["repeated"] or 0) / 100
            making.make(queue, told["versions"], told["reviewers"], request.user, chosen=chosen, repeated=repeated)
        except making.NameTaken:
            raise serializers.ValidationError({"name": [f"There is a queue “{queue.name}” already."]}) from None
        except (CannotStart, BadConfig) as error:
            raise serializers.ValidationError({"versions": [str(error)]}) from None
        return Response(self.told([queue])[0], status=status.HTTP_201_CREATED)

    def _people(self, names: list[str], field: str) -> list[int]:
        found = dict(User.objects.filter(projects=self.project, username__in=names).values_list("username", "pk"))
        if unknown := [name for name in names if name not in found]:
            raise serializers.ValidationError({field: [f"“{unknown[0]}” is no member."]})
        return [found[name] for name in names]


class QueueDetail(_Queues):
    @extend_schema(operation_id="queues_read", summary="Read a queue and how far it is", responses=QueueSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(self.told([get_object_or_404(self.queues(), pk=pk)])[0])


class AskedAnewSerializer(serializers.Serializer):
    """What came of asking again. Stale grades of people who grade there no more stay as they are."""

    opened = serializers.IntegerField(help_text="Seats that wait for the same people again.")
    stale = serializers.IntegerField(help_text="Grades that count although the instructions have changed.")


class QueueAskAnew(_Queues):
    reviewers = False

    @extend_schema(
        operation_id="queues_ask_anew",
        summary="Ask those who graded under older instructions again",
        description="Their items come back to the same people with what they said as a draft; until then it counts.",
        request=None,
        responses={200: AskedAnewSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        queue = get_object_or_404(self.queues().filter(closed_at=None), pk=pk)
        opened = ask_anew(queue, request.user)
        return Response({"opened": opened, "stale": stale_grades(queue).count()})


class QueueNext(_Queues):
    writes = Role.REVIEWER

    @extend_schema(
        operation_id="queues_next",
        summary="Take the next item of a queue",
        description="The caller holds it for a while and nobody else gets it meanwhile. Asked again before it is "
        "graded, it is the same one. 204 when there is nothing more for them.",
        request=None,
        responses={200: ItemSerializer, 204: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        queue = self.open_queue(pk)
        held = at_hand(queue, request.user, 1)
        if not held:
            return Response(status=status.HTTP_204_NO_CONTENT)
        item = with_all(Item.objects.filter(pk=held[0].item_id)).get()
        versions = list(queue.versions.select_related("evaluator").order_by("pk"))
        return Response(ItemSerializer(item_data(item, versions, request.user)).data)


class ItemGrade(_Queues):
    writes = Role.REVIEWER

    @extend_schema(
        operation_id="items_grade",
        summary="Grade an item, say that it cannot be judged, or skip it",
        description="Sent again, the same grade changes nothing, and another one replaces it; both are kept.",
        request=SaidSerializer,
        responses={204: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        item = get_object_or_404(with_all(Item.objects.filter(queue__project=self.project)), pk=pk)
        self.open_queue(item.queue_id)
        if not self._was_given(item):
            raise PermissionDenied("Take it from its queue first.")
        form = SaidSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = form.validated_data
        if said["do"] == "skip":
            skip(item, request.user, said["reason"])
            return Response(status=status.HTTP_204_NO_CONTENT)
        subject = Subject.of(item)
        try:
            cannot = said["do"] == "cannot"
            answers = read(form.fields_said(), subject.versions, is_flipped=item.is_flipped, cannot=cannot)
        except BadAnswer as error:
            raise serializers.ValidationError(faults_by_version(error.faults, subject.versions)) from None
        submit(subject, request.user, answers, seconds=said["seconds"])
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _was_given(self, item: Item) -> bool:
        mine = {"item": item, "person": self.request.user}
        return Reservation.objects.filter(**mine).exists() or Grade.objects.filter(**mine).exists()


class GradeList(ProjectView):
    """Not for reviewers: they would see what colleagues said."""

    @listing(
        "grades_list",
        "List grades",
        GradeSerializer,
        description="Of the whole project, the oldest first, with those that were replaced or taken back.",
        parameters=[
            OpenApiParameter("queue", int, description="Only grades given in this queue."),
            OpenApiParameter("experiment", int, description="Only grades of this experiment's outputs."),
            OpenApiParameter("version", int, description="Only grades by this evaluator version."),
            OpenApiParameter("current", bool, description="Only those that count."),
        ],
    )
    def get(self, request: Request, project: str) -> Response:
        grades = Grade.objects.filter(output__experiment__project=self.project)
        names = {"queue": "item__queue", "experiment": "output__experiment", "version": "version"}
        for name, field in names.items():
            if wanted := request.query_params.get(name, ""):
                grades = grades.filter(**{field: _id(name, wanted)})
        if request.query_params.get("current", "").lower() in ("true", "1"):
            grades = grades.filter(is_current=True)
        rows = grades.select_related("output__case", "person", "item__queue")
        return self.page(rows, Order("pk"), lambda found: GradeSerializer(found, many=True).data)


def _id(name: str, text: str) -> int:
    found = id_in(text)
    if found is None:
        raise serializers.ValidationError({name: ["Give an id."]})
    return found
