from django.urls import path

from experiments.api import confusion, datasets, defaults, gains, intake, prompts, scores, trials, views

urlpatterns = [
    path("evaluators/<int:pk>/noise/", trials.NoiseList.as_view(), name="api-noise"),
    path("evaluators/<int:pk>/change/", trials.ChangeDetail.as_view(), name="api-change"),
    path("imports/", views.ImportStart.as_view(), name="api-imports"),
    path("imports/<int:pk>/", views.ImportDetail.as_view(), name="api-import"),
    path("datasets/", datasets.DatasetCollection.as_view(), name="api-datasets"),
    path("datasets/<int:pk>/", datasets.DatasetDetail.as_view(), name="api-dataset"),
    path("datasets/<int:pk>/cases/", datasets.CaseList.as_view(), name="api-cases"),
    path("datasets/<int:pk>/versions/", datasets.VersionList.as_view(), name="api-dataset-versions"),
    path("datasets/<int:pk>/restore/", datasets.DatasetRestore.as_view(), name="api-dataset-restore"),
    path("datasets/<int:pk>/schema/", datasets.DatasetSchema.as_view(), name="api-dataset-schema"),
    path("experiments/", intake.ExperimentCollection.as_view(), name="api-experiments"),
    path("experiments/prompt/", prompts.PromptStart.as_view(), name="api-prompt"),
    path("experiments/<int:pk>/", views.ExperimentDetail.as_view(), name="api-experiment"),
    path("experiments/<int:pk>/outputs/", intake.OutputIntake.as_view(), name="api-outputs"),
    path("experiments/<int:pk>/close/", intake.ExperimentClose.as_view(), name="api-experiment-close"),
    path("experiments/<int:pk>/scores/", scores.ScoreIntake.as_view(), name="api-scores-intake"),
    path("experiments/<int:pk>/results/", views.ResultList.as_view(), name="api-results"),
    path("experiments/<int:pk>/compare/", gains.ExperimentGains.as_view(), name="api-experiment-compare"),
    path("run-defaults/", defaults.RunDefaultsDetail.as_view(), name="api-run-defaults"),
    path("runs/", views.RunList.as_view(), name="api-runs"),
    path("runs/<int:pk>/", views.RunDetail.as_view(), name="api-run"),
    path("runs/<int:pk>/confusion/", confusion.RunConfusion.as_view(), name="api-run-confusion"),
    path("runs/<int:pk>/passing/", gains.RunPassing.as_view(), name="api-run-passing"),
    path("runs/<int:pk>/waiting/", views.RunWaiting.as_view(), name="api-run-waiting"),
    path("runs/<int:pk>/stop/", views.RunStop.as_view(), name="api-run-stop"),
    path("runs/<int:pk>/resume/", views.RunResume.as_view(), name="api-run-resume"),
    path("runs/<int:pk>/retry/", views.RunRetry.as_view(), name="api-run-retry"),
]
