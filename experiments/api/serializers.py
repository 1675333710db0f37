from __future__ import annotations

from typing import Any

from rest_framework import serializers

from experiments.analysis.columns import Column
from experiments.api.options import OptionsSerializer
from experiments.models import Case, Dataset, Experiment, Import, Priority, Purpose, StopReason


class DatasetSerializer(serializers.ModelSerializer):
    class Meta:
        model = Dataset
        fields = ("id", "name", "latest_version", "created_at")
        read_only_fields = fields


class CaseSerializer(serializers.ModelSerializer):
    class Meta:
        model = Case
        fields = ("id", "key", "inputs", "expected_outputs", "metadata", "split")
        read_only_fields = fields


class ImportSerializer(serializers.ModelSerializer):
    """An import: `state` says how far it is, `counts` what it did, `row_errors` which rows were refused and why."""

    class Meta:
        model = Import
        fields = (
            "id", "file_name", "size", "state", "dataset", "experiment", "version_number", "counts", "row_errors",
            "failure", "created_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields


class NewImportSerializer(serializers.Serializer):
    """A file of cases or outputs, and what its columns are."""

    file = serializers.FileField()
    dataset = serializers.CharField(max_length=120, help_text="Name of an existing or a new data set.")
    system = serializers.CharField(
        max_length=120, required=False, default="", allow_blank=True, help_text="Needed when the file carries outputs."
    )
    targets = serializers.JSONField(
        required=False,
        help_text='Column to target where the guess would be wrong, e.g. {"outputs.value": "expectedOutputs.value"}.',
    )
    types = serializers.JSONField(required=False, help_text='Column to type where needed, e.g. {"zip": "text"}.')

    def validate(self, said: dict) -> dict:
        for name in ("targets", "types"):
            given = said.setdefault(name, {})
            if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
                raise serializers.ValidationError({name: ["Give a JSON object of texts."]})
        return said


class EstimateSerializer(serializers.Serializer):
    """A figure with its 95 % interval; `refused` says why there is none."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="Scored rows behind the figure.")
    clusters = serializers.IntegerField()
    asked = serializers.IntegerField(help_text="Rows that were asked for.")
    coverage = serializers.FloatField()
    method = serializers.CharField()
    standard_error = serializers.FloatField(allow_null=True, help_text="Of the value, over cases.")
    refused = serializers.CharField(allow_null=True)


class OutcomesSerializer(serializers.Serializer):
    """Of a comparison: how many cases the experiment won, tied and lost against its baseline."""

    wins = serializers.IntegerField()
    ties = serializers.IntegerField()
    losses = serializers.IntegerField()


class RunSerializer(serializers.Serializer):
    """A run with its counts and its figure so far."""

    id = serializers.IntegerField(source="run.pk")
    evaluator = serializers.CharField(
        source="run.version.evaluator.name", allow_null=True, help_text="Null where answers are got: nothing is judged."
    )
    version = serializers.IntegerField(source="run.version.number", allow_null=True)
    version_id = serializers.IntegerField(source="run.version_id", allow_null=True)
    experiment_id = serializers.IntegerField(source="run.experiment_id")
    baseline_id = serializers.IntegerField(
        source="run.baseline_id", allow_null=True, help_text="The experiment that a comparison measures against."
    )
    purpose = serializers.ChoiceField(
        source="run.purpose",
        choices=[*Purpose],
        help_text="Only runs for results count. `answers` asks a prompt about cases; in `counts` a case that was"
        " answered is scored.",
    )
    state = serializers.CharField(source="run.state")
    is_published = serializers.BooleanField(help_text="Whether its version was ever published.")
    rehearsal = serializers.BooleanField(
        source="is_rehearsal", help_text="Its scores come from the scripted rehearsal, which is no language model."
    )
    counts = serializers.DictField(source="summary.counts", child=serializers.IntegerField())
    below_threshold = serializers.IntegerField(source="summary.below")
    estimate = EstimateSerializer(
        source="figure",
        allow_null=True,
        help_text="Against a baseline the share of wins, ties as halves. Null where answers are got.",
    )
    outcomes = OutcomesSerializer(source="summary.outcomes", allow_null=True)
    measures = serializers.DictField(
        source="summary.measures", child=EstimateSerializer(), help_text="Means of what else was measured, by name."
    )
    left_out = serializers.ListField(source="run.left_out", child=serializers.CharField())
    is_current = serializers.BooleanField(
        source="run.is_current", help_text="Whether its results are shown; false once a later run took its place."
    )
    selection = serializers.JSONField(
        source="run.selection", allow_null=True, help_text="Which outputs it judges; null for all."
    )
    repeats = serializers.IntegerField(source="run.repeats")
    priority = serializers.SerializerMethodField()
    processor = serializers.IntegerField(
        source="run.processor",
        allow_null=True,
        help_text="The version of the processor that it reads; 0 where there was none, null where it reads none.",
    )
    limit_usd = serializers.FloatField(source="run.limit_usd", allow_null=True)
    limit_s = serializers.IntegerField(source="run.limit_s", allow_null=True)
    spent_usd = serializers.FloatField(source="run.spent_usd", allow_null=True)
    stop_reason = serializers.ChoiceField(
        source="run.stop_reason", choices=["", *StopReason], help_text="The limit that stopped it, if one did."
    )
    created_at = serializers.DateTimeField(source="run.created_at")
    finished_at = serializers.DateTimeField(source="run.finished_at", allow_null=True)

    def get_priority(self, column: Column) -> str:
        return Priority(column.run.priority).name.lower()

    def to_representation(self, column: Column) -> dict[str, Any]:
        told = super().to_representation(column)
        return told | {"estimate": None} if column.run.purpose == Purpose.ANSWERS else told


class WaitingSerializer(serializers.Serializer):
    """Rows that have not run, with the reason they share."""

    rows = serializers.IntegerField()
    why = serializers.CharField()
    until = serializers.DateTimeField(allow_null=True)


class NewRunSerializer(OptionsSerializer):
    version = serializers.IntegerField(help_text="Id of an evaluator version of this project.")
    experiment = serializers.IntegerField()
    baseline = serializers.IntegerField(
        required=False, allow_null=True, help_text="Another experiment of the data set, for a comparative evaluator."
    )


class ExperimentSerializer(serializers.ModelSerializer):
    system = serializers.CharField(source="system.name")
    dataset = serializers.CharField(source="dataset_version.dataset.name")
    dataset_version = serializers.IntegerField(source="dataset_version.number")

    class Meta:
        model = Experiment
        fields = ("id", "system", "dataset", "dataset_version", "source", "is_open", "created_at")
        read_only_fields = fields


class EvaluationSerializer(serializers.Serializer):
    evaluator = serializers.CharField()
    version = serializers.IntegerField()
    rehearsal = serializers.BooleanField()
    state = serializers.ChoiceField(choices=["pending", "awaiting", "scored", "unscored", "failed"])
    score = serializers.FloatField(allow_null=True)
    label = serializers.CharField(allow_null=True)
    passed = serializers.BooleanField(allow_null=True)
    why = serializers.CharField(allow_null=True)
    reason = serializers.CharField(required=False, allow_null=True)
    latency_ms = serializers.FloatField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True)
    flipped = serializers.BooleanField(
        required=False, allow_null=True, help_text="Against a baseline: whether the other order gave another verdict."
    )
    repeat = serializers.IntegerField(
        required=False, help_text="Which judgement it is, from 1, where the run judges each output several times."
    )


class ResultSerializer(serializers.Serializer):
    """One output with its case and its evaluations, as far as `fields` asks for them."""

    id = serializers.IntegerField()
    key = serializers.CharField()
    attempt = serializers.IntegerField()
    inputs = serializers.JSONField(required=False)
    expected_outputs = serializers.JSONField(required=False, allow_null=True)
    metadata = serializers.JSONField(required=False, allow_null=True)
    outputs = serializers.JSONField(required=False, allow_null=True)
    steps = serializers.JSONField(required=False, allow_null=True)
    error = serializers.CharField(required=False, allow_null=True)
    latency_ms = serializers.FloatField(required=False, allow_null=True)
    cost_usd = serializers.FloatField(required=False, allow_null=True)
    tokens_in = serializers.IntegerField(required=False, allow_null=True)
    tokens_out = serializers.IntegerField(required=False, allow_null=True)
    baseline_outputs = serializers.JSONField(required=False, help_text="What the baseline answered, if one is given.")
    evaluations = EvaluationSerializer(many=True, required=False)
