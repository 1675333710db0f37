"""The options of a run over the API: which outputs, how often, what is kept, how far it may go."""

from __future__ import annotations

from typing import Any

from django.db.models import Q
from rest_framework import serializers

from evalstudio.projects.models import Project
from evaluators.models import Evaluator
from evaluators.models.evaluators import MOST_NAME
from experiments.datasets.browsing import facets_of
from experiments.forms.starting import LIMITS, MOST_MINUTES, MOST_SEED, MOST_USD
from experiments.ledger.asked import MOST_OUTPUTS, MOST_REPEATS, Asked, Take
from experiments.models import DatasetVersion, Experiment, Priority
from experiments.outputs.judging import Judge

ALL = "all"
PRIORITIES = {each.name.lower(): each for each in Priority}


class BoundsSerializer(serializers.Serializer):
    """How far a run may go, and who comes first. What is left out stays as it is, or for a new run is the project's;
    null lifts a limit."""

    priority = serializers.ChoiceField(choices=list(PRIORITIES), required=False)
    limit_usd = serializers.FloatField(
        required=False, allow_null=True, min_value=0.000001, max_value=MOST_USD, help_text="What its calls may cost."
    )
    limit_minutes = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=1 / 60,
        max_value=MOST_MINUTES,
        help_text="How long it may go on, from each start.",
    )

    def bounds(self) -> dict[str, Any]:
        """What was said, as `Asked.bounds`."""
        said = self.validated_data
        bounds: dict[str, Any] = {}
        if "priority" in said:
            bounds["priority"] = PRIORITIES[said["priority"]]
        if "limit_usd" in said:
            bounds["limit_usd"] = said["limit_usd"]
        if "limit_minutes" in said:
            minutes = said["limit_minutes"]
            bounds["limit_s"] = None if minutes is None else max(1, round(minutes * 60))
        return bounds


def check_split(version: DatasetVersion, asked: Asked) -> None:
    """Raises ValidationError where a split is asked for that the version does not have."""
    if asked.take == Take.SPLIT and asked.split not in facets_of(version).splits:
        raise serializers.ValidationError({"split": [f"{version} has no split “{asked.split}”."]})


class TakeSerializer(BoundsSerializer):
    """What is taken, and how often. What is left out is as in a plain run: all, once."""

    take = serializers.ChoiceField(
        choices=[ALL, *(take for take in Take if take)], required=False, default=ALL, help_text="Which to take."
    )
    n = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST_OUTPUTS, help_text="How many, of the first or at random."
    )
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=MOST_SEED)
    split = serializers.CharField(required=False, max_length=40)
    repeats = serializers.IntegerField(
        required=False, default=1, min_value=1, max_value=MOST_REPEATS, help_text="How often each is judged, or asked."
    )

    def validate(self, said: dict[str, Any]) -> dict[str, Any]:
        needed = {Take.FIRST: "n", Take.RANDOM: "n", Take.SPLIT: "split"}.get(said["take"])
        if needed and needed not in said:
            raise serializers.ValidationError({needed: [f"Needed to take “{said['take']}”."]})
        return said

    def asked(self, **more: Any) -> Asked:
        """What was asked for. Limits that are left out are the project's; null lifts them."""
        said, bounds = self.validated_data, self.bounds()
        return Asked(
            take=Take.ALL if said["take"] == ALL else Take(said["take"]),
            n=said.get("n", 0),
            seed=said["seed"],
            split=said.get("split", ""),
            repeats=said["repeats"],
            **bounds,
            lifted=frozenset(name for name in LIMITS if name in bounds and bounds[name] is None),
            **more,
        )


class OptionsSerializer(TakeSerializer):
    """Of a run that judges: outputs, with all details unless scores are enough."""

    scores_only = serializers.BooleanField(required=False, default=False, help_text="Keep no reasons and no replies.")
    again = serializers.BooleanField(
        required=False, default=False, help_text="A new run from no reply that is kept; the earlier one stays."
    )

    def asked(self, **more: Any) -> Asked:
        said = self.validated_data
        return super().asked(keeps_details=not said["scores_only"], again=said["again"], **more)


class JudgeSerializer(OptionsSerializer):
    """An evaluator that judges from the beginning, by its `name` or `id`, with the options of its run.

    While outputs are still to come, all of them or a split can be taken. A comparative one needs a `baseline`, and
    judges each pair as soon as both sides are there.
    """

    name = serializers.CharField(required=False, max_length=MOST_NAME, help_text="Of the evaluator.")
    id = serializers.IntegerField(required=False, min_value=1, max_value=2**62, help_text="Of the evaluator.")
    version = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Its number; the published one unless told."
    )
    baseline = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=2**62,
        help_text="Another experiment of the data set, for a comparative evaluator.",
    )

    def validate(self, said: dict[str, Any]) -> dict[str, Any]:
        if ("name" in said) == ("id" in said):
            raise serializers.ValidationError({"name": ["Name an evaluator by its name or by its id."]})
        return super().validate(said)

    def judge(self, project: Project) -> Judge:
        """Who was named. Raises ValidationError where the project has no such evaluator or version."""
        said = self.validated_data
        named = Q(pk=said["id"]) if "id" in said else Q(name=said["name"])
        evaluator = Evaluator.objects.filter(named, project=project).select_related("published_version").first()
        if evaluator is None:
            who = said.get("name") or said.get("id")
            raise serializers.ValidationError({"evaluators": [f"There is no evaluator “{who}” in this project."]})
        version = evaluator.published_version
        if "version" in said:
            version = evaluator.versions.filter(number=said["version"]).first()
        if version is None:
            lacks = f"no version {said['version']}" if "version" in said else "no published version; say which"
            raise serializers.ValidationError({"evaluators": [f"“{evaluator.name}” has {lacks}."]})
        version.evaluator = evaluator
        return Judge(version, self.asked(), self._baseline(project))

    def _baseline(self, project: Project) -> Experiment | None:
        if "baseline" not in self.validated_data:
            return None
        pk = self.validated_data["baseline"]
        found = Experiment.objects.filter(project=project, pk=pk).select_related("dataset_version").first()
        if found is None:
            raise serializers.ValidationError({"evaluators": [f"This project has no experiment {pk}."]})
        return found


class RetrySerializer(serializers.Serializer):
    only_failed = serializers.BooleanField(
        required=False, default=False, help_text="Leave out rows that are unscored for a reason of their own."
    )
