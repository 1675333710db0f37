from django.urls import path

from evaluators.api import views

urlpatterns = [
    path("evaluators/", views.EvaluatorList.as_view(), name="api-evaluators"),
    path("evaluators/<int:pk>/", views.EvaluatorDetail.as_view(), name="api-evaluator"),
    path("evaluators/<int:pk>/versions/", views.VersionList.as_view(), name="api-versions"),
]
