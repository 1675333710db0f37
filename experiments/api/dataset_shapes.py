"""What the API takes and tells about data sets."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError as FormError
from rest_framework import serializers

from evalstudio.web.foreign import is_storable
from experiments.forms.datasets import sound_schema
from experiments.models import DatasetVersion

MOST_ROWS = 1_000  # of one kind of edit in one batch


class NewDatasetSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)

    def validate_name(self, name: str) -> str:
        line = " ".join(name.split())
        if not line.isprintable() or not is_storable(line):
            raise serializers.ValidationError("Leave out the control characters.")
        return line


class DatasetVersionSerializer(serializers.ModelSerializer):
    author = serializers.CharField(source="author.username", allow_null=True, default=None)

    class Meta:
        model = DatasetVersion
        fields = ("number", "note", "author", "n_cases", "created_at")
        read_only_fields = fields


class BatchSerializer(serializers.Serializer):
    """Edits of cases, each key at most once.

    `add` and `change`: objects with `key`, `inputs`, `expected_outputs`, `metadata`, `split`. A new case without a key
    gets one from its inputs; a changed one keeps what is not named. `remove`: keys.
    """

    base_version = serializers.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)
    add = serializers.ListField(child=serializers.JSONField(), required=False, default=list, max_length=MOST_ROWS)
    change = serializers.ListField(child=serializers.JSONField(), required=False, default=list, max_length=MOST_ROWS)
    remove = serializers.ListField(
        child=serializers.CharField(max_length=200), required=False, default=list, max_length=MOST_ROWS
    )


class CommittedSerializer(serializers.Serializer):
    """What a commit did; `version` is the latest one afterwards."""

    version = serializers.IntegerField()
    added = serializers.IntegerField()
    changed = serializers.IntegerField()
    removed = serializers.IntegerField()
    unchanged = serializers.IntegerField()


class RestoreSerializer(serializers.Serializer):
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class SchemaSerializer(serializers.Serializer):
    """JSON Schemas of the parts of a case; null or left out for none."""

    inputs = serializers.JSONField(required=False, allow_null=True)
    expected_outputs = serializers.JSONField(required=False, allow_null=True)

    def validate_inputs(self, schema: Any) -> Any:
        return _sound("inputs", schema)

    def validate_expected_outputs(self, schema: Any) -> Any:
        return _sound("expected_outputs", schema)


class WrittenSchemaSerializer(SchemaSerializer):
    breaking = serializers.IntegerField(help_text="Cases of the latest version that do not fit.")


def _sound(part: str, schema: Any) -> Any:
    if schema is None:
        return None
    try:
        return sound_schema(part, schema)
    except FormError as error:
        raise serializers.ValidationError(error.messages) from None
