from django.urls import path

from evaluators.views import benching, drafting, editing, instructions, keeping, listing, picking, scales, showing

urlpatterns = [
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
