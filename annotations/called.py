"""What people are called where their grades are shown."""

from __future__ import annotations

from collections.abc import Callable

from annotations.models import Grade
from evalstudio.projects.models import Role, User
from evaluators.models import EvaluatorVersion


def names_for(version: EvaluatorVersion, role: Role) -> Callable[[int], str]:
    """Names of who graded by this version, by id; numbers where a blind queue asked them. Up to two queries.

    Editors see names in any case.
    """
    grades = Grade.objects.filter(version=version)
    people = list(User.objects.filter(pk__in=grades.values("person")).order_by("pk"))
    if role < Role.EDITOR and grades.filter(item__queue__is_blind=True).exists():
        return {person.pk: f"Person {number}" for number, person in enumerate(people, 1)}.__getitem__
    return {person.pk: called(person) for person in people}.__getitem__


def called(person: User) -> str:
    return person.get_full_name() or person.username
