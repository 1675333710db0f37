from django.urls import path

from experiments.views import (
    bench_picker,
    case_editing,
    change,
    choosing,
    classes,
    committing,
    dataset_schema,
    dataset_upkeep,
    dataset_versions,
    datasets,
    defaults,
    exports,
    golden,
    home,
    imports,
    keeping_cases,
    leaderboard_pairs,
    leaderboards,
    mapping_coverage,
    noise,
    pairs,
    peeks,
    processor_runs,
    prompts,
    results,
    runs,
    scores,
    starting,
)

dataset_urls = [
    path("datasets/", datasets.dataset_list, name="dataset-list"),
    path("datasets/import/", imports.import_new, name="import-new"),
    path("datasets/<int:pk>/", datasets.dataset_page, name="dataset-page"),
    path("datasets/<int:pk>/cases/<int:case>/", datasets.dataset_case, name="dataset-case"),
    path("datasets/new/", dataset_upkeep.dataset_new, name="dataset-new"),
    path("datasets/<int:pk>/cases/new/", case_editing.case_new, name="case-new"),
    path("datasets/<int:pk>/cases/<int:case>/edit/", case_editing.case_edit, name="case-edit"),
    path("datasets/<int:pk>/cases/selected/", case_editing.cases_selected, name="cases-selected"),
    path("datasets/<int:pk>/changes/", committing.dataset_changes, name="dataset-changes"),
    path("datasets/<int:pk>/changes/discard/", committing.changes_discard, name="changes-discard"),
    path("datasets/<int:pk>/changes/keep/", committing.changes_keep, name="changes-keep"),
    path("datasets/<int:pk>/versions/", dataset_versions.dataset_versions, name="dataset-versions"),
    path("datasets/<int:pk>/difference/", dataset_versions.dataset_difference, name="dataset-difference"),
    path("datasets/<int:pk>/restore/", dataset_versions.dataset_restore, name="dataset-restore"),
    path("datasets/<int:pk>/schema/", dataset_schema.dataset_schema, name="dataset-schema"),
    path("datasets/<int:pk>/schema/breaking/", dataset_schema.dataset_breaking, name="dataset-breaking"),
    path("datasets/<int:pk>/splits/", dataset_upkeep.dataset_splits, name="dataset-splits"),
    path("datasets/<int:pk>/duplicates/", dataset_upkeep.dataset_duplicates, name="dataset-duplicates"),
    path("outputs/<int:pk>/dataset/", keeping_cases.dataset_add_from_output, name="dataset-add-from-output"),
    path("imports/<int:pk>/", imports.import_page, name="import-page"),
    path("imports/<int:pk>/forecast/", imports.import_forecast, name="import-forecast"),
    path("imports/<int:pk>/discard/", imports.import_discard, name="import-discard"),
]

bench_urls = [
    path("bench/picker/", bench_picker.bench_picker, name="bench-picker"),
    path("bench/sample/", bench_picker.bench_sample, name="bench-sample"),
    path("bench/coverage/", mapping_coverage.mapping_coverage, name="mapping-coverage"),
]

result_urls = [
    path("home/", home.home_results, name="home-results"),
    path("experiments/", results.experiment_list, name="experiment-list"),
    path("experiments/<int:pk>/", results.experiment_page, name="experiment-page"),
    path("experiments/<int:pk>/columns/", results.experiment_columns, name="experiment-columns"),
    path("experiments/<int:pk>/peek/<int:output>/", peeks.experiment_peek, name="experiment-peek"),
    path("experiments/<int:pk>/export.<str:form>", exports.experiment_export, name="experiment-export"),
    path("evaluations/<int:pk>/exchange/", peeks.evaluation_exchange, name="evaluation-exchange"),
    path("evaluations/<int:pk>/golden/", golden.golden_keep, name="golden-keep"),
]

pair_urls = [
    path("compare/", pairs.compare, name="compare"),
    path("experiments/<int:pk>/against/", pairs.comparison_choice, name="comparison-choice"),
    path("experiments/<int:pk>/against/<int:baseline>/", pairs.experiment_against, name="experiment-against"),
    path("experiments/<int:pk>/against/<int:baseline>/columns/", pairs.against_columns, name="against-columns"),
    path("experiments/<int:pk>/against/<int:baseline>/changed/", pairs.against_changed, name="against-changed"),
    path("experiments/<int:pk>/against/<int:baseline>/peek/<int:output>/", pairs.against_peek, name="against-peek"),
    path(
        "experiments/<int:pk>/against/<int:baseline>/export.<str:form>", exports.against_export, name="against-export"
    ),
]

leaderboard_urls = [
    path("leaderboard/", leaderboards.leaderboard, name="leaderboard"),
    path("leaderboard/charts/", leaderboards.leaderboard_charts, name="leaderboard-charts"),
    path("leaderboard/export.csv", leaderboards.leaderboard_export, name="leaderboard-export"),
    path("leaderboard/run/", leaderboards.leaderboard_run, name="leaderboard-run"),
    path("leaderboard/pairs/", leaderboard_pairs.leaderboard_pairs, name="leaderboard-pairs"),
]

prompt_urls = [
    path("experiments/prompt/", prompts.prompt_new, name="prompt-new"),
    path("experiments/prompt/preview/", prompts.prompt_preview, name="prompt-preview"),
]

defaults_urls = [path("settings/runs/", defaults.run_defaults, name="run-defaults")]

processor_urls = [
    path("processor/runs/", processor_runs.processor_runs, name="processor-runs"),
    path("outputs/<int:pk>/processed/", processor_runs.output_processed, name="output-processed"),
]

run_urls = [
    path("experiments/<int:pk>/run/", starting.run_start, name="run-start"),
    path("experiments/<int:pk>/scores/", scores.scores_upload, name="scores-upload"),
    path("evaluators/<int:pk>/run/", choosing.evaluator_run, name="evaluator-run"),
    path("evaluators/<int:pk>/runs/", runs.evaluator_runs, name="evaluator-runs"),
    path("runs/", runs.run_list, name="run-list"),
    path("runs/running/", runs.running_badge, name="running-badge"),
    path("runs/<int:pk>/", runs.run_page, name="run-page"),
    path("runs/<int:pk>/stop/", runs.run_stop, name="run-stop"),
    path("runs/<int:pk>/resume/", runs.run_resume, name="run-resume"),
    path("runs/<int:pk>/retry/", runs.run_retry, name="run-retry"),
    path("runs/<int:pk>/bounds/", runs.run_bound, name="run-bound"),
]

classification_urls = [
    path("runs/<int:pk>/classes/", classes.run_classes, name="run-classes"),
    path("runs/<int:pk>/classes.<str:form>", classes.run_classes_export, name="run-classes-export"),
]

trial_urls = [
    path("evaluators/<int:pk>/noise/", noise.evaluator_noise, name="evaluator-noise"),
    path("evaluators/<int:pk>/noise/start/", noise.noise_start, name="noise-start"),
    path("evaluators/<int:pk>/change/", change.evaluator_change, name="evaluator-change"),
    path("evaluators/<int:pk>/change/start/", change.change_start, name="change-start"),
    path("evaluations/<int:pk>/beside/<int:other>/", change.evaluations_beside, name="evaluations-beside"),
]

urlpatterns = [
    *trial_urls,
    *dataset_urls,
    *bench_urls,
    *result_urls,
    *pair_urls,
    *leaderboard_urls,
    *prompt_urls,
    *processor_urls,
    *defaults_urls,
    *run_urls,
    *classification_urls,
]
