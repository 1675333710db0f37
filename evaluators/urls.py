from django.urls import path

from evaluators.views import benching, drafting, editing, instructions, listing, picking, showing

urlpatterns = [
    path("evaluators/", listing.evaluator_list, name="evaluator-list"),
    path("evaluators/new/", picking.evaluator_pick, name="evaluator-new"),
    path("evaluators/new/<slug:kind>/", editing.evaluator_begin, name="evaluator-new"),
    path("evaluators/bench/", benching.evaluator_bench, name="evaluator-bench"),
    path("evaluators/draft/", drafting.evaluator_draft, name="evaluator-draft"),
    path("evaluators/instructions/", instructions.evaluator_instructions, name="evaluator-instructions"),
    path("evaluators/paths/", benching.evaluator_paths, name="evaluator-paths"),
    path("evaluators/<int:pk>/", showing.evaluator_page, name="evaluator-page"),
    path("evaluators/<int:pk>/edit/", editing.evaluator_edit, name="evaluator-edit"),
]
