"""The leaderboards over REST: the same tables as the pages, by the same addresses."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evalstudio.web.foreign import id_in
from experiments.analysis.leaderboard import Board, Entrant, Wish, board_of, datasets_of
from experiments.analysis.leaderboard_columns import Judged, Place
from experiments.analysis.pairwise import Pairs, pairs_of
from experiments.api.serializers import EstimateSerializer, OutcomesSerializer

DATASET = OpenApiParameter("dataset", int, description="The data set; the one with the newest experiment unless told.")
WISHES = (
    DATASET,
    OpenApiParameter("result", int, many=True, description="Experiments; the newest of each system unless told."),
    OpenApiParameter("version", int, many=True, description="Evaluator versions to show, one of each evaluator."),
    OpenApiParameter("by", str, description="The column that places are by: its `key`."),
    OpenApiParameter("also", str, many=True, description="Measures as columns: `version id:name of the measure`."),
    OpenApiParameter("split", str, description="Only cases of this split."),
    OpenApiParameter("field", str, description="Only cases with `value` in this field of their metadata."),
    OpenApiParameter("value", str),
)


class PlaceSerializer(serializers.Serializer):
    """From which place to which a system may stand, 1 being the best; `untold` says why that is not known."""

    low = serializers.IntegerField(allow_null=True)
    high = serializers.IntegerField(allow_null=True)
    tied_with = serializers.ListField(child=serializers.IntegerField(), help_text="Experiments.")
    untold = serializers.CharField(allow_blank=True)


class LeaderColumnSerializer(serializers.Serializer):
    """One version of an evaluator, by its score or by a measure."""

    key = serializers.CharField()
    title = serializers.CharField()
    version_id = serializers.IntegerField(source="version.pk")
    version = serializers.IntegerField(source="version.number")
    direction = serializers.ChoiceField(choices=["higher", "lower"])
    threshold = serializers.FloatField(source="passing.threshold", allow_null=True)
    other_versions = serializers.DictField(
        child=serializers.ListField(child=serializers.IntegerField()),
        help_text="Experiments that only other versions judged, with the ids of these. They have no figure here.",
    )
    unjudged = serializers.ListField(child=serializers.IntegerField(), help_text="Experiments without any score.")


class LeaderFigureSerializer(serializers.Serializer):
    """`estimate` is null while that of a slice is being worked out, `passing` without a threshold."""

    column = serializers.CharField()
    run = serializers.IntegerField()
    estimate = EstimateSerializer(allow_null=True)
    passing = EstimateSerializer(allow_null=True, help_text="The share that passes.")
    counts = serializers.DictField(child=serializers.IntegerField())
    rehearsal = serializers.BooleanField()


class LeaderSerializer(serializers.Serializer):
    """One system. `place` is null while places are being worked out."""

    experiment = serializers.IntegerField()
    system = serializers.CharField()
    dataset_version = serializers.IntegerField()
    place = PlaceSerializer(allow_null=True)
    median_latency_ms = serializers.FloatField(allow_null=True)
    mean_cost_usd = serializers.FloatField(allow_null=True)
    figures = LeaderFigureSerializer(many=True)


class LeaderboardSerializer(serializers.Serializer):
    """Systems by evaluators. `is_waiting` while a part is being worked out: ask again."""

    dataset = serializers.IntegerField(allow_null=True)
    by = serializers.CharField(allow_null=True)
    correction = serializers.CharField()
    pairs = serializers.IntegerField(help_text="How many tests are corrected for.")
    is_waiting = serializers.BooleanField()
    columns = LeaderColumnSerializer(many=True)
    systems = LeaderSerializer(many=True)


class LeaderboardDetail(ProjectView):
    @extend_schema(
        operation_id="leaderboard",
        summary="Read the leaderboard of a data set",
        description="Places rest on paired differences over cases, after Holm's correction over all pairs.",
        parameters=list(WISHES),
        responses=LeaderboardSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        board = board_of(self.project, Wish.of(request.query_params), datasets_of(self.project))
        return Response(LeaderboardSerializer(_told(board)).data)


def _told(board: Board) -> dict[str, Any]:
    return {
        "dataset": board.dataset and board.dataset.pk,
        "by": board.ranked and board.ranked.key,
        "correction": "holm",
        "pairs": board.pairs,
        "is_waiting": board.is_waiting,
        "columns": [_column(column) for column in board.columns],
        "systems": [_system(board, entrant) for entrant in board.rows],
    }


def _column(column: Judged) -> dict[str, Any]:
    names = ("key", "title", "version", "direction", "passing", "unjudged")
    others = {str(pk): [version.pk for version in versions] for pk, versions in column.others.items()}
    return {name: getattr(column, name) for name in names} | {"other_versions": others}


def _system(board: Board, entrant: Entrant) -> dict[str, Any]:
    shown = [(column, cell) for column in board.columns if (cell := column.cells.get(entrant.pk))]
    return {
        "experiment": entrant.pk,
        "system": entrant.experiment.system.name,
        "dataset_version": entrant.experiment.dataset_version.number,
        "place": _place(board, board.place_of(entrant)),
        "median_latency_ms": entrant.latency_ms,
        "mean_cost_usd": entrant.cost_usd,
        "figures": [
            {
                "column": column.key,
                "run": cell.run.pk,
                "estimate": cell.figure,
                "passing": cell.passing,
                "counts": cell.counts,
                "rehearsal": cell.column.is_rehearsal,
            }
            for column, cell in shown
        ],
    }


def _place(board: Board, place: Place | None) -> dict[str, Any] | None:
    if place is None:
        return None
    runs = {str(cell.run.pk): pk for pk, cell in board.ranked.cells.items()} if board.ranked else {}
    tied = [runs[run] for run in place.tied_with]
    return {"low": place.low, "high": place.high, "tied_with": tied, "untold": place.untold}


class WinRateSerializer(serializers.Serializer):
    """What one result wins against the baseline. `is_mirrored` where the run had the baseline for the compared one."""

    experiment = serializers.IntegerField(source="one.pk")
    system = serializers.CharField(source="one.system.name")
    run = serializers.IntegerField(source="column.run.pk")
    is_mirrored = serializers.BooleanField()
    win_rate = EstimateSerializer(source="figure")
    outcomes = OutcomesSerializer()
    flips = serializers.IntegerField(help_text="Comparisons judged otherwise in the other order.")
    untold = serializers.CharField(allow_null=True, help_text="Why nothing may be concluded from it.")


class StrengthSerializer(serializers.Serializer):
    """A Bradley–Terry strength in log-odds over the baseline, and the share of wins that it stands for."""

    experiment = serializers.IntegerField(source="experiment.pk")
    system = serializers.CharField(source="experiment.system.name")
    strength = EstimateSerializer(source="figure")
    expected_wins = EstimateSerializer(source="share")
    place_low = serializers.IntegerField(source="low")
    place_high = serializers.IntegerField(source="high")


class PairsSerializer(serializers.Serializer):
    """Win rates against one baseline, and strengths from all pairs; null while they are being worked out."""

    dataset = serializers.IntegerField(source="dataset.pk", allow_null=True)
    version_id = serializers.IntegerField(source="version.pk", allow_null=True)
    baseline = serializers.IntegerField(source="baseline.pk", allow_null=True)
    is_waiting = serializers.BooleanField()
    rates = WinRateSerializer(many=True)
    strengths = StrengthSerializer(many=True, allow_null=True)
    refused = serializers.CharField(allow_blank=True, help_text="Why there are no strengths.")
    mirrors = serializers.ListField(child=serializers.IntegerField(), help_text="Runs not counted: their mirror is.")


class PairsDetail(ProjectView):
    @extend_schema(
        operation_id="leaderboard_pairs",
        summary="Read the leaderboard in pairs",
        description="Win rates against a baseline with standard errors, and Bradley–Terry strengths. Of a comparison"
        " and its mirror one counts: the one against the baseline, else the one with more scores, else the newer.",
        parameters=[
            DATASET,
            OpenApiParameter("version", int, description="A comparative evaluator version."),
            OpenApiParameter("baseline", int, description="The experiment that win rates are against."),
        ],
        responses=PairsSerializer,
    )
    def get(self, request: Request, project: str) -> Response:
        asked = [id_in(request.query_params.get(name, "")) for name in ("dataset", "version", "baseline")]
        pairs = pairs_of(self.project, datasets_of(self.project), *asked)
        return Response(PairsSerializer(_pairs(pairs)).data)


def _pairs(pairs: Pairs) -> dict[str, Any]:
    names = ("dataset", "version", "baseline", "is_waiting", "rates", "strengths", "refused")
    return {name: getattr(pairs, name) for name in names} | {"mirrors": [each.run.pk for each in pairs.mirrors]}
