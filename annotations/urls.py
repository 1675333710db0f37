from django.urls import path

from annotations.views import agreement, deciding, exchanging, grading, here, judging, making, queues

queue_urls = [
    path("review/", queues.queue_list, name="queue-list"),
    path("review/home/", queues.home_review, name="home-review"),
    path("review/new/", making.queue_new, name="queue-new"),
    path("review/queues/<int:pk>/", queues.queue_page, name="queue-page"),
    path("review/queues/<int:pk>/edit/", making.queue_edit, name="queue-edit"),
    path("review/queues/<int:pk>/close/", making.queue_close, name="queue-close"),
    path("review/queues/<int:pk>/reopen/", making.queue_reopen, name="queue-reopen"),
]

grading_urls = [
    path("review/queues/<int:pk>/grade/", grading.queue_grade, name="queue-grade"),
    path("review/queues/<int:pk>/undo/", grading.queue_undo, name="queue-undo"),
    path("review/items/<int:pk>/grade/", grading.item_grade, name="item-grade"),
    path("review/items/<int:pk>/draft/", grading.item_draft, name="item-draft"),
]

deciding_urls = [
    path("review/queues/<int:pk>/decide/", deciding.queue_decide, name="queue-decide"),
    path("review/items/<int:pk>/decide/", deciding.item_decide, name="item-decide"),
    path("review/queues/<int:pk>/grades/import/", exchanging.grades_import, name="grades-import"),
    path("review/queues/<int:pk>/grades.<str:form>", exchanging.grades_export, name="grades-export"),
    path("review/outputs/<int:pk>/grade/", here.grade_here, name="grade-here"),
]

judging_urls = [
    path("evaluators/<int:pk>/people/", judging.evaluator_people, name="evaluator-people"),
    path("evaluators/<int:pk>/judges/", judging.evaluator_judges, name="evaluator-judges"),
]

agreement_urls = [
    path("evaluators/<int:pk>/grades.<str:form>", exchanging.evaluator_grades, name="evaluator-grades"),
    path("evaluators/<int:pk>/grades/import/", exchanging.evaluator_grades_import, name="evaluator-grades-import"),
    path("evaluators/<int:pk>/agreement/", agreement.evaluator_agreement, name="evaluator-agreement"),
    path("review/grades/<int:pk>/", agreement.grades_beside, name="grades-beside"),
    path("review/queues/<int:pk>/ask-again/", agreement.queue_ask_again, name="queue-ask-again"),
    path("review/queues/<int:pk>/ask-anew/", making.queue_ask_anew, name="queue-ask-anew"),
]

urlpatterns = [*queue_urls, *grading_urls, *judging_urls, *deciding_urls, *agreement_urls]
