"""Starting a prompt: an experiment for every recipe, all or none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.db import transaction

from evalstudio.projects.models import AuditEntry, Project, User
from experiments.ledger.answers import begin, open_experiment
from experiments.ledger.asked import Asked
from experiments.models import DatasetVersion, Experiment, Run, Source
from experiments.outputs.judging import Judge, always_in
from experiments.outputs.keys import KeyInUse
from experiments.outputs.prompt_versions import prompt_version
from experiments.outputs.prompting import Recipe

MOST_KEY = 110  # characters of a client's key; each experiment adds its number


def run_prompt(
    project: Project,
    author: User,
    *,
    title: str,
    recipes: Iterable[Recipe],
    version: DatasetVersion,
    asked: Asked,
    judges: Sequence[Judge] | None = None,
    client_key: str | None = None,
    is_pinned: bool = False,
) -> list[Experiment]:
    """One experiment for each recipe, begun; those that the client's key stands for, where it has been used.

    `judges` judge the answers as they come; None leaves that to those that the project always runs. Unless the version
    `is_pinned`, a key may stand for experiments over an earlier one. Raises CannotStart and KeyInUse, and then leaves
    nothing.
    """
    recipes = list(recipes)
    with transaction.atomic():
        Project.objects.select_for_update().get(pk=project.pk)  # one start with a key at a time
        if client_key and (known := _known(project, client_key, len(recipes))):
            if not _are_of(known, title, recipes, version, is_pinned):
                raise KeyInUse(known[0])
            return known
        runs: list[Run] = []
        judges = always_in(project) if judges is None else judges
        for number, recipe in enumerate(recipes):
            prompt = prompt_version(project, author, title, recipe)
            key = _key(client_key, number) if client_key else None
            runs.append(open_experiment(prompt, version, author, asked=asked, judges=judges, client_key=key))
            AuditEntry.note(project, author, "ran", f"{prompt} over {version}")
    for run in runs:
        begin(run)
    return [run.experiment for run in runs]


def _key(client_key: str, number: int) -> str:
    """Keys of the experiments that came of one request; `#` keeps them apart from other keys of the client's."""
    return f"{client_key}#{number + 1}" if number else client_key


def _known(project: Project, client_key: str, n: int) -> list[Experiment]:
    """The experiments of a key that stands for n of them, and the next one where it stands for more."""
    keys = [_key(client_key, number) for number in range(n + 1)]
    found = Experiment.objects.filter(project=project, client_key__in=keys)
    return list(found.select_related("system__prompt", "dataset_version__dataset").order_by("pk"))


def _are_of(
    known: Sequence[Experiment], title: str, recipes: Sequence[Recipe], version: DatasetVersion, is_pinned: bool
) -> bool:
    if any(each.source != Source.PROMPT for each in known):
        return False
    over = {each.dataset_version if is_pinned else each.dataset_version.dataset for each in known}
    asked = [(each.system.prompt.title, each.system.prompt.config_hash) for each in known]
    is_over = over == {version if is_pinned else version.dataset}
    return is_over and asked == [(title, recipe.digest) for recipe in recipes]
