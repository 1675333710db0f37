"""Who sees which queues, and who may grade in them."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from annotations.models import Queue
from evalstudio.projects.models import Membership, Project, Role, User


def queues_of(project: Project, person: Any, role: Role) -> QuerySet[Queue]:
    """The queues of a project that this person sees: reviewers those in which they grade, everybody else all."""
    found = Queue.objects.filter(project=project)
    return found if role.looks_around else found.filter(_is_for(person))


def open_to(project: Project, person: Any) -> QuerySet[Queue]:
    """The queues that are not closed and in which this person grades, if their role allows it."""
    return Queue.objects.filter(_is_for(person), project=project, closed_at=None)


def may_grade(queue: Queue, person: Any, role: Role) -> bool:
    """Whether this person grades in the queue: one of those it was given to, or anybody where that is nobody."""
    if role < Role.REVIEWER:
        return False
    given = set(Queue.reviewers.through.objects.filter(queue=queue).values_list("user", flat=True))
    return not given or person.pk in given


def may_decide(queue: Queue, person: Any, role: Role) -> bool:
    """Whether this person decides where grades differ: whoever was chosen for it, or an editor where nobody was."""
    if queue.adjudicator_id is not None:
        return queue.adjudicator_id == person.pk and role >= Role.REVIEWER
    return role >= Role.EDITOR


def graders_of(project: Project) -> QuerySet[User]:
    """The members who may grade, by name."""
    grading = Membership.objects.filter(project=project, role__gte=Role.REVIEWER)
    return User.objects.filter(pk__in=grading.values("user")).order_by("username")


def _is_for(person: Any) -> Q:
    """Queues given to this person or to nobody in particular; the condition brings no row twice."""
    given = Queue.reviewers.through.objects
    return Q(pk__in=given.filter(user=person).values("queue")) | ~Q(pk__in=given.values("queue"))
