from __future__ import annotations

from rest_framework import serializers

from evaluators.models import Evaluator, EvaluatorVersion


class VersionSerializer(serializers.ModelSerializer):
    """One frozen configuration of an evaluator."""

    author = serializers.CharField(source="author.username", default=None, read_only=True, allow_null=True)

    class Meta:
        model = EvaluatorVersion
        fields = ("id", "number", "config", "config_schema", "note", "author", "created_at")
        read_only_fields = fields


class EvaluatorSerializer(serializers.ModelSerializer):
    """An evaluator; what it does is in its versions."""

    published_version = serializers.IntegerField(
        source="published_version.number", default=None, read_only=True, allow_null=True
    )
    published_version_id = serializers.IntegerField(read_only=True, allow_null=True)

    class Meta:
        model = Evaluator
        fields = (
            *("id", "name", "kind", "compares", "published_version", "published_version_id"),
            *("created_at", "updated_at", "archived_at"),
        )
        read_only_fields = fields


class NewVersionSerializer(serializers.Serializer):
    """A configuration to save: the shape depends on the kind, and errors name its fields."""

    config = serializers.DictField()
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class NewEvaluatorSerializer(NewVersionSerializer):
    """A new evaluator with its first version."""

    name = serializers.CharField(max_length=120)
    kind = serializers.CharField(max_length=20)
