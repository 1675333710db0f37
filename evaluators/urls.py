from django.urls import path

from evaluators.views import (
    benching,
    drafting,
    editing,
    exchange,
    golden,
    golden_bench,
    instructions,
    keeping,
    listing,
    picking,
    publishing,
    scales,
    showing,
)

standing_urls = [
    path("evaluators/golden/try/", golden_bench.golden_try, name="golden-try"),
    path("evaluators/golden/keep/", golden_bench.golden_keep_sample, name="golden-keep-sample"),
    path("evaluators/<int:pk>/golden/", golden.golden_list, name="evaluator-golden"),
    path("evaluators/<int:pk>/golden/new/", golden.golden_new, name="golden-new"),
    path("evaluators/<int:pk>/golden/judge/", golden.golden_judge, name="golden-judge"),
    path("golden-cases/<int:pk>/", golden.golden_case, name="golden-case"),
    path("golden-cases/<int:pk>/delete/", golden.golden_delete, name="golden-delete"),
    path("evaluators/<int:pk>/publish/", publishing.evaluator_publish, name="evaluator-publish"),
    path("settings/publishing/", publishing.publishing_rule, name="publishing-rule"),
    path("evaluators/import/", exchange.evaluator_import, name="evaluator-import"),
    path("evaluators/<int:pk>/export/", exchange.evaluator_export, name="evaluator-export"),
]

urlpatterns = [
    *standing_urls,
    path("evaluators/", listing.evaluator_list, name="evaluator-list"),
    path("evaluators/new/", picking.evaluator_pick, name="evaluator-new"),
    path("evaluators/new/preview/<slug:key>/", picking.evaluator_preview, name="evaluator-preview"),
    path("evaluators/new/<slug:kind>/", editing.evaluator_begin, name="evaluator-new"),
    path("evaluators/bench/", benching.evaluator_bench, name="evaluator-bench"),
    path("evaluators/draft/", drafting.evaluator_draft, name="evaluator-draft"),
    path("evaluators/instructions/", instructions.evaluator_instructions, name="evaluator-instructions"),
    path("evaluators/paths/", benching.evaluator_paths, name="evaluator-paths"),
    path("evaluators/<int:pk>/", showing.evaluator_page, name="evaluator-page"),
    path("evaluators/<int:pk>/edit/", editing.evaluator_edit, name="evaluator-edit"),
    path("evaluators/<int:pk>/archive/", keeping.evaluator_archive, name="evaluator-archive"),
    path("evaluators/<int:pk>/restore/", keeping.evaluator_restore, name="evaluator-restore"),
    path("evaluators/<int:pk>/duplicate/", keeping.evaluator_duplicate, name="evaluator-duplicate"),
    path("scales/", scales.scale_list, name="scale-list"),
    path("scales/new/", scales.scale_new, name="scale-new"),
    path("scales/<int:pk>/", scales.scale_edit, name="scale-edit"),
    path("scales/<int:pk>/archive/", scales.scale_archive, name="scale-archive"),
    path("scales/<int:pk>/restore/", scales.scale_restore, name="scale-restore"),
]
