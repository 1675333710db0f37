"""What people are called where their grades are shown."""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import QuerySet

from annotations.models import Grade
from evalstudio.projects.models import Role, User
from evaluators.models import EvaluatorVersion


def names_for(version: EvaluatorVersion, role: Role) -> Callable[[int], str]:
    """Names of who graded by this version, by id; numbers where a blind queue asked them. Up to three queries."""
    grades = Grade.objects.filter(version=version)
    hidden = hidden_names(grades, role)
    people = User.objects.filter(pk__in=grades.values("person"))
    return {person.pk: hidden.get(person.username) or called(person) for person in people}.__getitem__


def hidden_names(grades: QuerySet[Grade], role: Role) -> dict[str, str]:
    """By user name, what people are called instead where a blind queue asked them. Editors see names in any case."""
    if role >= Role.EDITOR or not grades.filter(item__queue__is_blind=True).exists():
        return {}
    people = User.objects.filter(pk__in=grades.order_by().values("person")).order_by("pk")
    return {name: f"Person {number}" for number, name in enumerate(people.values_list("username", flat=True), 1)}


def called(person: User) -> str:
    return person.get_full_name() or person.username
