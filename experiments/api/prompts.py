"""REST views of prompts that are run here: start one over a data set. Its runs are followed and stopped as all runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.calls.models import connections_for
from evalstudio.web.foreign import is_storable
from evalstudio.web.problems import problem
from evaluators.kinds.judge_form import MOST_TOKENS
from experiments.api.intake import KEY, JudgesSerializer, Named
from experiments.api.options import TakeSerializer, check_split
from experiments.api.serializers import ExperimentSerializer
from experiments.forms.prompts import MOST_SYSTEMS
from experiments.forms.starting import MOST_SEED
from experiments.ledger.start import CannotStart
from experiments.models import DatasetVersion, Purpose, Run
from experiments.outputs.keys import KeyInUse
from experiments.outputs.prompting import MOST_TOKENS as USUAL_TOKENS
from experiments.outputs.prompting import Model, Recipe, Texts
from experiments.outputs.running import MOST_KEY, run_prompt


class PromptModelSerializer(serializers.Serializer):
    """Whom to ask, and how. What is left out is left to the endpoint."""

    connection = serializers.IntegerField(min_value=1, max_value=2**62, help_text="Id of a connection of the project.")
    model = serializers.CharField(max_length=200)
    temperature = serializers.FloatField(required=False, allow_null=True, default=None, min_value=0, max_value=2)
    max_tokens = serializers.IntegerField(required=False, default=USUAL_TOKENS, min_value=1, max_value=MOST_TOKENS)
    seed = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=MOST_SEED)


class NewPromptSerializer(JudgesSerializer, TakeSerializer):
    """A prompt, whom to ask about which cases, and who judges. `repeats` is how often each case is asked."""

    title = serializers.CharField(
        max_length=60, help_text="The same title, texts, model and parameters are one system."
    )
    dataset = serializers.CharField(max_length=120, help_text="Name of the data set.")
    dataset_version = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Its latest version unless told."
    )
    system_message = serializers.CharField(
        required=False, default="", allow_blank=True, trim_whitespace=False, help_text="A template, as below."
    )
    user_message = serializers.CharField(
        trim_whitespace=False, help_text="A template over `inputs` and `metadata`, such as `{{ inputs.question }}`."
    )
    reads_json = serializers.BooleanField(required=False, default=False, help_text="Read the answer as JSON.")
    models = serializers.ListField(child=PromptModelSerializer(), min_length=1, max_length=MOST_SYSTEMS)
    client_key = serializers.CharField(
        required=False, max_length=MOST_KEY, help_text="Your own name for it: asked again, the same experiments."
    )

    def validate(self, said: dict[str, Any]) -> dict[str, Any]:
        faults = Texts(said["system_message"], said["user_message"], said["reads_json"]).check()
        if faults:
            told = [(each.field, f"Line {each.line}: {each.message}" if each.line else each.message) for each in faults]
            raise serializers.ValidationError(
                {name: [text for field, text in told if field == name] for name, _ in told}
            )
        texts = (said["system_message"], said["user_message"], *(each["model"] for each in said["models"]))
        if not all(map(is_storable, texts)):
            raise serializers.ValidationError({"user_message": ["It holds characters that cannot be stored."]})
        return super().validate(said)

    def recipes(self, connections: set[int]) -> list[Recipe]:
        """A system for each model that was named. Raises ValidationError for a connection that there is not."""
        said = self.validated_data
        texts = Texts(said["system_message"], said["user_message"], said["reads_json"])
        models = [Model(each.pop("connection"), each.pop("model"), **each) for each in map(dict, said["models"])]
        if unknown := [str(each.connection_id) for each in models if each.connection_id not in connections]:
            message = f"This project has no connection {', '.join(unknown)} that may be used."
            raise serializers.ValidationError({"models": [message]})
        return [Recipe(texts, model) for model in dict.fromkeys(models)]


class PromptedSerializer(serializers.Serializer):
    """An experiment that is being answered, and the run that asks."""

    experiment = ExperimentSerializer(source="run.experiment")
    run = serializers.IntegerField(source="run.pk", help_text="To be read, stopped and resumed like any run.")


class PromptStart(Named):
    @extend_schema(
        operation_id="prompts_run",
        summary="Run a prompt over a data set",
        description="Asks each model about every case in the background; each becomes an experiment. Answers are seen "
        "and judged as they come. The run tells how far it is and why rows wait; it is stopped, resumed, retried and "
        "limited like any other.",
        parameters=[KEY],
        request=NewPromptSerializer,
        responses={201: PromptedSerializer(many=True), 409: None},
    )
    def post(self, request: Request, project: str) -> Response:
        said = NewPromptSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given = said.validated_data
        key = given.get("client_key") or request.headers.get("Idempotency-Key") or None
        if key is not None and len(key) > MOST_KEY:
            raise serializers.ValidationError({"client_key": [f"A key has at most {MOST_KEY} characters."]})
        version, asked, judges = self._cases(given), said.asked(), self.judges(given)
        check_split(version, asked)
        recipes = said.recipes(set(connections_for(self.project).values_list("pk", flat=True)))
        try:
            experiments = run_prompt(
                self.project,
                request.user,
                title=given["title"],
                recipes=recipes,
                version=version,
                asked=asked,
                judges=judges,
                client_key=key,
                is_pinned="dataset_version" in given,
            )
        except KeyInUse as error:
            return problem(409, str(error))
        except CannotStart as error:
            raise serializers.ValidationError({"models": [str(error)]}) from None
        runs = Run.objects.filter(experiment__in=experiments, purpose=Purpose.ANSWERS).select_related(
            "experiment__system", "experiment__dataset_version__dataset"
        )
        told = [{"run": run} for run in runs.order_by("pk")]
        return Response(PromptedSerializer(told, many=True).data, status=status.HTTP_201_CREATED)

    def _cases(self, given: Mapping[str, Any]) -> DatasetVersion:
        version = self.dataset_version(given["dataset"], given.get("dataset_version"))
        if not version.n_cases:
            raise serializers.ValidationError({"dataset_version": [f"{version} has no cases to ask about."]})
        return version
