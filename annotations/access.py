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
    """Whether this person decides in the queue where grades differ."""
    return Queue.objects.filter(decided_by(queue.project, person, role), pk=queue.pk).exists()


def decided_by(project: Project, person: Any, role: Role) -> Q:
    """The queues in which this person decides: chosen for it, or as an editor where nobody is who was and may."""
    if role < Role.REVIEWER:
        return Q(pk__in=[])
    if role < Role.EDITOR:
        return Q(adjudicator=person)
    return Q(adjudicator=person) | Q(adjudicator=None) | ~Q(adjudicator__in=graders_of(project).values("pk"))


def graders_of(project: Project) -> QuerySet[User]:
    """The members who may grade, by name."""
    grading = Membership.objects.filter(project=project, role__gte=Role.REVIEWER)
    return User.objects.filter(pk__in=grading.values("user")).order_by("username")


def _is_for(person: Any) -> Q:
    """Queues given to this person or to nobody in particular; the condition brings no row twice."""
    given = Queue.reviewers.through.objects
    return Q(pk__in=given.filter(user=person).values("queue")) | ~Q(pk__in=given.values("queue"))
