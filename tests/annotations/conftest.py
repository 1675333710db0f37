"""The stage of human review: a result of some outputs, human evaluators, a queue over it, and people who grade."""

import pytest

from annotations.models import Queue
from annotations.queueing import fill
from evalstudio.projects.models import Membership, Role, User
from evaluators.core import Score, Status
from evaluators.models import Evaluator
from experiments.ledger.settle import Book, settle
from experiments.ledger.start import start
from experiments.models import Evaluation, Output, Run
from tests.experiments.conftest import make_experiment  # noqa: F401

YES_NO = {
    "type": "enum",
    "options": [
        {"label": "Good", "percentage": 100, "description": "It helps."},
        {"label": "Bad", "percentage": 0, "description": "It does not."},
    ],
}
LABELS = {1: "Good", 0: "Bad"}
SIDES = {
    "type": "enum",
    "options": [
        {"label": "First", "percentage": 0, "description": ""},
        {"label": "Equal", "percentage": 50, "description": ""},
        {"label": "Second", "percentage": 100, "description": ""},
    ],
}


@pytest.fixture
def people(project):
    """Three reviewers of the project."""
    made = [User.objects.create_user(name) for name in ("rita", "ravi", "rosa")]
    for person in made:
        Membership.objects.create(project=project, user=person, role=Role.REVIEWER)
    return made


@pytest.fixture
def make_human(project, alice):
    def make(name="Helpful", scoring=YES_NO, runs_on="result", threshold=None):
        evaluator = Evaluator.objects.create(project=project, name=name, kind="human")
        config = {
            "instructions": "Does it **help**?",
            "scoring": scoring,
            "scale": None,
            "threshold": threshold,
            "direction": "higher",
            "runs_on": runs_on,
        }
        return evaluator.revise(config, schema=1, author=alice)

    return make


@pytest.fixture
def make_queue(project, alice, make_experiment, make_human):  # noqa: F811
    def make(n=3, versions=None, baseline=None, experiment=None, **settings):
        experiment = experiment or make_experiment(n)
        queue = Queue.objects.create(project=project, name=settings.pop("name", "Week 47"), author=alice, **settings)
        queue.versions.set(versions or [make_human()])
        fill(queue, experiment, baseline, Output.objects.filter(experiment=experiment), alice)
        return queue

    return make


@pytest.fixture
def judged(project, alice):
    """A judge's run over a result, or a pair, with these verdicts or scores in the order of its outputs."""

    def make(experiment, said, name="Judge", cost=None, baseline=None, reason=""):
        evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
        code = "function evaluate() { return 1; }"
        config = {"code": code, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}
        config |= {"runs_on": "comparison"} if baseline else {}
        version = evaluator.revise(config, schema=2 if baseline else 1, author=alice)
        run = start(version, experiment, alice, baseline=baseline)
        rows = Evaluation.objects.filter(run=run).order_by("output").values_list("pk", flat=True)
        scores = [
            Score(
                Status.SCORED,
                value=float(one),
                label=None if baseline else LABELS.get(one),
                reason=reason,
                latency_ms=20,
            )
            for one in said
        ]
        settle(Book(run.pk, True), list(zip(rows, scores, strict=True)))
        Evaluation.objects.filter(run=run).update(cost_usd=cost)
        return Run.objects.select_related("version__evaluator").get(pk=run.pk)

    return make
