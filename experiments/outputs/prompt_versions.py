"""Systems that are prompts: the same texts, model and parameters under one title are one system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import transaction

from evalstudio.calls.models import Connection
from evalstudio.projects.models import Project, User
from experiments.models import PromptVersion, System
from experiments.outputs.prompting import Recipe

LONGEST_NAME: int = System._meta.get_field("name").max_length or 0


@transaction.atomic
def prompt_version(project: Project, author: User | None, title: str, recipe: Recipe) -> PromptVersion:
    """The system that a recipe is, made where there is none yet."""
    Project.objects.select_for_update().get(pk=project.pk)  # one at a time, so that numbers are given once
    of_title = PromptVersion.objects.filter(project=project, title=title)
    found = of_title.filter(config_hash=recipe.digest).select_related("system", "connection").first()
    if found:
        return found
    connection = Connection.objects.get(project=project, pk=recipe.model.connection_id)
    number = _number(of_title.order_by("pk").values_list("number", "config"), recipe)
    taken = set(System.objects.filter(project=project, name__startswith=title).values_list("name", flat=True))
    names = _names(f"{title} v{number} · {recipe.model.said}", connection.name)
    system = System.objects.create(project=project, name=next(name for name in names if name not in taken))
    return PromptVersion.objects.create(
        system=system,
        project=project,
        title=title,
        number=number,
        connection=connection,
        config=recipe.stored,
        config_hash=recipe.digest,
        author=author,
    )


def _number(known: Iterable[tuple[int, dict[str, Any]]], recipe: Recipe) -> int:
    """The number of these texts under their title, or the next one."""
    last = 0
    for number, config in known:
        if Recipe.of(config).texts == recipe.texts:
            return number
        last = max(last, number)
    return last + 1


def _names(plain: str, connection: str) -> Iterator[str]:
    """Names from the plainest on, each as long as a name may be."""
    yield plain[:LONGEST_NAME]
    further = f" · {connection}"[:40]
    yield plain[: LONGEST_NAME - len(further)] + further
    for count in range(2, 10_000):
        yield f"{plain[: LONGEST_NAME - 7]} ({count})"
