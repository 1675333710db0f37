"""Human review: queues of items, who holds which item for a while, and every grade that was ever given."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property

from evalstudio.projects.models import Project
from evaluators.models import EvaluatorVersion
from experiments.models import Experiment, Output


class Order(StrEnum):
    """In which order people get the items of a queue."""

    RANDOM = "random"
    INFORMATIVE = "informative"  # at random, those likelier whose grade tells more
    WORST = "worst"
    OLDEST = "oldest"


class Rule(StrEnum):
    """How several grades of one item become one score."""

    MAJORITY = "majority"
    MEAN = "mean"
    ADJUDICATION = "adjudication"  # one person decides where grades differ


class Queue(models.Model):
    """What people are to grade, by which human evaluators, and how several grades settle."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="queues")
    name = models.CharField(max_length=120)
    instructions = models.TextField(blank=True)  # markdown, beside those of the evaluators
    instructions_version = models.PositiveIntegerField(default=1)
    versions = models.ManyToManyField(EvaluatorVersion, related_name="+")  # of human evaluators
    graders = models.PositiveSmallIntegerField(default=1)  # different people who grade each item
    reviewers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")  # nobody: open to all who may grade
    is_blind = models.BooleanField(default=True)
    order = models.CharField(max_length=12, default=Order.RANDOM)
    rule = models.CharField(max_length=12, default=Rule.MAJORITY)
    adjudicator = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    intake = models.JSONField(null=True)  # by which rule new outputs come in; None for those of the start alone
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="queue_name_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("queue-page", args=[self.project.slug, self.pk])

    @cached_property
    def asked(self) -> list[EvaluatorVersion]:
        """Its human evaluators, with what they belong to; read once."""
        return list(self.versions.select_related("evaluator").order_by("pk"))


class Pulled(models.Model):
    """How far the rule of a queue has read an experiment: a mark that changes when there may be more to read."""

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="+")
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="+")
    mark = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["queue", "experiment"], name="pulled_once")]


class ItemState(IntEnum):
    OPEN = 0
    DONE = 1
    DISPUTED = 2  # graded, and somebody has to decide between the grades


class Item(models.Model):
    """One output, or one pair, of a queue.

    `place` orders the queue. Drawn at random it is -ln(u) / `weight` of a uniform u, so that the m items graded first
    are a sample whose inclusion probabilities are known (`queueing.inclusion`); without a weight the order says nothing
    about what was left out. `repeats` marks a hidden second asking, `known` the label that must come.
    """

    queue = models.ForeignKey(Queue, models.CASCADE, related_name="items")
    output = models.ForeignKey(Output, models.CASCADE, related_name="+")
    baseline_output = models.ForeignKey(Output, models.CASCADE, null=True, related_name="+")
    is_flipped = models.BooleanField(default=False)  # of a pair: the compared output stands first
    content_hash = models.CharField(max_length=64)  # of everything a grader sees of it
    place = models.FloatField()
    weight = models.FloatField(null=True)
    state = models.PositiveSmallIntegerField(default=ItemState.OPEN)
    repeats = models.ForeignKey("self", models.CASCADE, null=True, related_name="repeated_by")
    known = models.JSONField(null=True)  # version id → label or value

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["queue", "output"], condition=Q(baseline_output=None, repeats=None), name="item_once"
            ),
            models.UniqueConstraint(
                fields=["queue", "output", "baseline_output"],
                condition=Q(baseline_output__isnull=False, repeats=None),
                name="item_of_pair_once",
            ),
        ]
        indexes = [models.Index(fields=["queue", "state", "place", "id"])]


class Reservation(models.Model):
    """One of an item's seats, as many as it wants graders: free, held by a person until a time, or done.

    One that is opened again for whoever graded there, because the instructions have changed, is held without an end.
    """

    item = models.ForeignKey(Item, models.CASCADE, related_name="reservations")
    queue = models.ForeignKey(Queue, models.CASCADE, related_name="+")
    place = models.FloatField()  # of the item, so that one index walks the queue
    number = models.PositiveSmallIntegerField()
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    held_until = models.DateTimeField(null=True)
    is_done = models.SmallIntegerField(default=0)  # 0 or 1: a number, for an index that both databases walk
    draft = models.JSONField(null=True)
    started_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="reservation_seat_once"),
            models.UniqueConstraint(fields=["item", "person"], name="reservation_person_once"),
        ]
        indexes = [
            models.Index(fields=["queue", "is_done", "place", "id"]),
            models.Index(fields=["person", "queue", "is_done"]),
        ]

    @property
    def is_asked_again(self) -> bool:
        return self.person_id is not None and not self.is_done and self.held_until is None


class GradeState(IntEnum):
    GRADED = 0
    CANNOT_JUDGE = 1
    SKIPPED = 2


class Grade(models.Model):
    """What one person said of one output by one human evaluator. A change makes a new grade; the old one stays."""

    version = models.ForeignKey(EvaluatorVersion, models.RESTRICT, related_name="grades")
    output = models.ForeignKey(Output, models.CASCADE, related_name="grades")
    baseline_output = models.ForeignKey(Output, models.CASCADE, null=True, related_name="+")
    item = models.ForeignKey(Item, models.SET_NULL, null=True, related_name="grades")  # None where it came without one
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.RESTRICT, related_name="grades")
    state = models.PositiveSmallIntegerField(default=GradeState.GRADED)
    label = models.CharField(max_length=200, blank=True)
    value = models.FloatField(null=True)  # in [0, 1]; None unless graded
    comment = models.TextField(blank=True)  # or the reason of a skip
    content_hash = models.CharField(max_length=64)
    instructions_version = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True)
    is_current = models.BooleanField(default=True)
    is_decision = models.BooleanField(default=False)  # an adjudicator's, which stands above the others
    is_repeat = models.BooleanField(default=False)  # of a hidden second asking: about the person, not the output
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "output", "person", "is_decision", "is_repeat"],
                condition=Q(is_current=True, baseline_output=None),
                name="grade_current_once",
            ),
            models.UniqueConstraint(
                fields=["version", "output", "baseline_output", "person", "is_decision", "is_repeat"],
                condition=Q(is_current=True, baseline_output__isnull=False),
                name="grade_of_pair_current_once",
            ),
            models.CheckConstraint(
                condition=Q(state=GradeState.GRADED, value__isnull=False)
                | (~Q(state=GradeState.GRADED) & Q(value=None)),
                name="grade_value_iff_graded",
            ),
        ]
        indexes = [
            models.Index(fields=["person", "content_hash"]),
            models.Index(fields=["item", "person"]),
        ]

    @property
    def is_stale(self) -> bool:
        """Whether its queue, which comes with it, has other instructions by now."""
        return self.item is not None and self.instructions_version < self.item.queue.instructions_version
