"""What the REST API says of queues, items and grades."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from annotations.answers import field_of
from annotations.models import Grade, GradeState, Item, Order, Queue, Rule
from annotations.progress import Progress
from annotations.queueing import config_of
from annotations.unblinded import shown_with
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring

MOST_ID = 2**63 - 1
SAID = {GradeState.GRADED: "graded", GradeState.CANNOT_JUDGE: "cannot judge", GradeState.SKIPPED: "skipped"}


class ProgressSerializer(serializers.Serializer):
    """How far a queue is. A turn is one person's grading of one item."""

    items = serializers.IntegerField()
    settled = serializers.IntegerField()
    disputed = serializers.IntegerField(help_text="Items that wait for a decision.")
    turns = serializers.IntegerField(help_text="Items times people per item.")
    done = serializers.IntegerField()
    mine = serializers.IntegerField(help_text="Done by whoever asks.")
    seconds = serializers.FloatField(allow_null=True, help_text="The mean time of a turn.")


class QueueSerializer(serializers.ModelSerializer):
    """What people are to grade."""

    class Meta:
        model = Queue
        fields = (
            *("id", "name", "instructions", "instructions_version", "versions", "graders", "reviewers", "is_blind"),
            *("order", "rule", "adjudicator", "intake", "created_at", "closed_at", "progress"),
        )
        read_only_fields = fields

    versions = serializers.PrimaryKeyRelatedField(many=True, read_only=True, help_text="Ids of evaluator versions.")
    reviewers = serializers.SlugRelatedField(
        "username", many=True, read_only=True, help_text="Who grades; nobody here means everybody who may."
    )
    adjudicator = serializers.SlugRelatedField("username", read_only=True, allow_null=True)
    progress = serializers.SerializerMethodField()

    def get_progress(self, queue: Queue) -> ProgressSerializer:
        return ProgressSerializer(self.context["progress"].get(queue.pk, Progress())).data


class NewQueueSerializer(serializers.Serializer):
    """A queue over the outputs of an experiment, or over its pairs with a baseline."""

    name = serializers.CharField(max_length=120)
    experiment = serializers.IntegerField()
    baseline = serializers.IntegerField(required=False, allow_null=True)
    versions = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=MOST_ID),
        allow_empty=False,
        help_text="Ids of versions of human evaluators.",
    )
    by = serializers.IntegerField(required=False, allow_null=True, help_text="A run, for `show`.")
    show = serializers.CharField(required=False, default="", help_text="As in the address of a results page: `below`.")
    q = serializers.CharField(required=False, default="", allow_blank=True, help_text="Words in the keys of cases.")
    instructions = serializers.CharField(required=False, default="", allow_blank=True)
    graders = serializers.IntegerField(required=False, default=1)
    order = serializers.ChoiceField([*Order], required=False, default=Order.RANDOM)
    rule = serializers.ChoiceField([*Rule], required=False, default=Rule.MAJORITY)
    reviewers = serializers.ListField(
        child=serializers.CharField(), required=False, default=list, help_text="Names of members; empty for all."
    )
    adjudicator = serializers.CharField(required=False, allow_null=True, default=None)
    is_blind = serializers.BooleanField(required=False, default=True)
    repeated = serializers.IntegerField(required=False, default=0, help_text="Per cent of items asked again, hidden.")


class QuestionSerializer(serializers.Serializer):
    """What one human evaluator asks: one of its options, or a number from `low` to `high`."""

    version = serializers.IntegerField()
    evaluator = serializers.CharField()
    instructions = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class VerdictSerializer(serializers.Serializer):
    """What a judge said of an answer, or which of two it prefers; empty where it is a tie or there is one answer."""

    evaluator = serializers.CharField(source="version.evaluator.name")
    version = serializers.IntegerField(source="version.pk")
    score = serializers.FloatField(source="cell.score")
    label = serializers.CharField(source="cell.label", allow_null=True)
    reason = serializers.CharField()
    of = serializers.CharField(help_text="A system.")


class ColleagueSerializer(serializers.Serializer):
    """What somebody else said, as the caller would say it."""

    name = serializers.CharField()
    version = serializers.IntegerField(source="grade.version_id")
    answer = serializers.CharField()
    comment = serializers.CharField(source="grade.comment")


class ShownSerializer(serializers.Serializer):
    """Whose the answers are, in their order, and what was said of them."""

    systems = serializers.ListField(child=serializers.CharField())
    verdicts = VerdictSerializer(many=True)
    colleagues = ColleagueSerializer(many=True)


class ItemSerializer(serializers.Serializer):
    """An item in hand. Of a pair `answers` has two, A and B; which system gave which is told by `shown` alone."""

    id = serializers.IntegerField()
    queue = serializers.IntegerField()
    inputs = serializers.JSONField()
    expected_outputs = serializers.JSONField(allow_null=True)
    answers = serializers.ListField(child=serializers.JSONField())
    questions = QuestionSerializer(many=True)
    shown = ShownSerializer(allow_null=True, help_text="What a queue that is not blind shows; null of a blind one.")


class SaidSerializer(serializers.Serializer):
    """A grade for each evaluator of the item, or that it cannot be judged, or that it is skipped."""

    do = serializers.ChoiceField(["submit", "cannot", "skip"], required=False, default="submit")
    grades = serializers.DictField(
        child=serializers.JSONField(), required=False, default=dict, help_text="A label or number by id of version."
    )
    comment = serializers.CharField(required=False, default="", allow_blank=True)
    reason = serializers.CharField(required=False, default="", allow_blank=True, max_length=500, help_text="Of a skip.")
    seconds = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=86_400)

    def fields_said(self) -> dict[str, Any]:
        """As a form would say it."""
        said = self.validated_data
        return {"comment": said["comment"]} | {f"grade-{pk}": value for pk, value in said["grades"].items()}


class GradeSerializer(serializers.ModelSerializer):
    """What a person said. One that is not current was replaced or taken back; a stale one saw other instructions."""

    class Meta:
        model = Grade
        fields = (
            *("id", "item", "output", "baseline_output", "case", "version", "person", "said", "label", "value"),
            *("comment", "seconds", "content_hash", "is_current", "is_stale", "is_decision", "is_repeat", "created_at"),
        )
        read_only_fields = fields

    case = serializers.CharField(source="output.case.key")
    person = serializers.CharField(source="person.username")
    said = serializers.SerializerMethodField()
    is_stale = serializers.BooleanField()

    def get_said(self, grade: Grade) -> str:
        return SAID[GradeState(grade.state)]


def item_data(item: Item, versions: list[EvaluatorVersion], person: Any) -> dict[str, Any]:
    """An item, which comes with its case and bodies, as the serializer takes it for a person."""
    sides = [item.output] if item.baseline_output is None else [item.baseline_output, item.output]
    if item.is_flipped:
        sides.reverse()
    return {
        "id": item.pk,
        "queue": item.queue_id,
        "inputs": item.output.case.inputs,
        "expected_outputs": item.output.case.expected_outputs,
        "answers": [{"outputs": side.body.outputs, "steps": side.body.steps} for side in sides],
        "questions": [_question(version) for version in versions],
        "shown": shown_with(item, person),
    }


def _question(version: EvaluatorVersion) -> dict[str, Any]:
    config = config_of(version)
    scoring = config.scoring
    return {
        "version": version.pk,
        "evaluator": version.evaluator.name,
        "instructions": config.instructions,
        "options": list(scoring.labels) if isinstance(scoring, EnumScoring) else [],
        "low": None if isinstance(scoring, EnumScoring) else scoring.low,
        "high": None if isinstance(scoring, EnumScoring) else scoring.high,
    }


def faults_by_version(faults: dict[str, str], versions: list[EvaluatorVersion]) -> dict[str, Any]:
    """What is wrong, by the names of the request."""
    named = {field_of(version): str(version.pk) for version in versions}
    grades = {named[field]: [said] for field, said in faults.items() if field in named}
    others = {field: [said] for field, said in faults.items() if field not in named}
    return others | ({"grades": grades} if grades else {})
