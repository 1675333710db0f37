from django.urls import path

from annotations.api import agreement, exchange, judging, views

urlpatterns = [
    path("queues/", views.QueueList.as_view(), name="api-queues"),
    path("queues/<int:pk>/", views.QueueDetail.as_view(), name="api-queue"),
    path("queues/<int:pk>/next/", views.QueueNext.as_view(), name="api-queue-next"),
    path("queues/<int:pk>/ask-anew/", views.QueueAskAnew.as_view(), name="api-queue-ask-anew"),
    path("queues/<int:pk>/grades/", exchange.QueueGrades.as_view(), name="api-queue-grades"),
    path("items/<int:pk>/grade/", views.ItemGrade.as_view(), name="api-item-grade"),
    path("evaluators/<int:pk>/grades/", exchange.EvaluatorGrades.as_view(), name="api-evaluator-grades"),
    path("evaluators/<int:pk>/people/", judging.AgainstPeople.as_view(), name="api-evaluator-people"),
    path("evaluators/<int:pk>/judges/", judging.AgainstJudges.as_view(), name="api-evaluator-judges"),
    path("evaluators/<int:pk>/agreement/", agreement.AgreementOfPeople.as_view(), name="api-evaluator-agreement"),
    path("grades/", views.GradeList.as_view(), name="api-grades"),
]
