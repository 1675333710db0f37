"""Classified experiments whose outputs score every label: the catalogue's two sets, and larger ones that are drawn."""

from __future__ import annotations

import random

from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.starters import STARTERS
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Experiment, OutputBody, Run
from tests.experiments.judged import add_case, add_output, experiment_of

ANIMALS = [
    ("bird", {"bird": 0.6, "dog": 0.2, "cat": 0.2}),
    ("dog", {"cat": 0.9, "dog": 0.1, "bird": 0}),
    ("bird", {"cat": 0.8, "dog": 0.05, "bird": 0.15}),
    ("bird", {"dog": 0.75, "cat": 0.1, "bird": 0.15}),
    ("cat", {"cat": 1, "dog": 0, "bird": 0}),
    ("dog", {"cat": 0.4, "dog": 0.35, "bird": 0.25}),
]
ANSWERS = [
    ("yes", {"yes": 0.9, "no": 0.1}),
    ("yes", {"yes": 0.4, "no": 0.6}),
    ("no", {"yes": 0.35, "no": 0.65}),
    ("no", {"yes": 0.6, "no": 0.4}),
    ("yes", {"yes": 0.8, "no": 0.2}),
    ("no", {"yes": 0.1, "no": 0.9}),
]


def drawn(count: int, labels: tuple[str, ...] = ("billing", "contract", "other"), seed: int = 1, skill: float = 1.0):
    """Expected labels with scores that sum to 1 and favour the right one."""
    draw = random.Random(seed)
    rows = []
    for number in range(count):
        right = labels[number % len(labels)]
        raw = {label: draw.random() + skill * (label == right) for label in labels}
        rows.append((right, {label: round(score / sum(raw.values()), 3) for label, score in raw.items()}))
    return rows


def scored_experiment(project, rows, system: str = "assistant 1") -> Experiment:
    """An experiment with these outputs. All of a project share one data set: later ones have the cases of the first."""
    experiment = experiment_of(project, 0, system)
    for number, (expected, scores) in enumerate(rows):
        key, body = f"case-{number:03}", {"outputs": {"scores": scores}}
        if not OutputBody.objects.filter(output__experiment=experiment, output__case__key=key).update(**body):
            case = add_case(experiment.dataset_version.dataset, key, number, expected_outputs={"value": expected})
            add_output(experiment, case, body)
    return experiment


def classifier(project, entry: str = "classification_roc_auc", **config) -> EvaluatorVersion:
    """A version that begins as an entry of the catalogue does."""
    evaluator = Evaluator.objects.get_or_create(project=project, name="Intent", kind="classification")[0]
    return evaluator.revise(STARTERS[entry].config | config, schema=2, author=None)


def scored(project, rows, entry: str = "classification_roc_auc", system: str = "assistant 1", **config) -> Run:
    """A run of such a version over such rows, done by a worker."""
    run = start(classifier(project, entry, **config), scored_experiment(project, rows, system))
    work("cpu")
    run.refresh_from_db()
    return run
