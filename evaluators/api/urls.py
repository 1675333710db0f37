from django.urls import path

from evaluators.api import catalogue, exchange, golden, keeping, processor, publishing, scales, views

urlpatterns = [
    path("evaluators/", views.EvaluatorList.as_view(), name="api-evaluators"),
    path("evaluators/<int:pk>/", views.EvaluatorDetail.as_view(), name="api-evaluator"),
    path("evaluators/<int:pk>/versions/", views.VersionList.as_view(), name="api-versions"),
    path("evaluators/<int:pk>/archive/", keeping.EvaluatorArchive.as_view(), name="api-evaluator-archive"),
    path("evaluators/<int:pk>/restore/", keeping.EvaluatorRestore.as_view(), name="api-evaluator-restore"),
    path("evaluators/<int:pk>/duplicate/", keeping.EvaluatorDuplicate.as_view(), name="api-evaluator-duplicate"),
    path("catalogue/", catalogue.Catalogue.as_view(), name="api-catalogue"),
    path("processor/", processor.ProcessorList.as_view(), name="api-processor"),
    path("processor/try/", processor.ProcessorTry.as_view(), name="api-processor-try"),
    path("scales/", scales.ScaleList.as_view(), name="api-scales"),
    path("scales/<int:pk>/", scales.ScaleDetail.as_view(), name="api-scale"),
    path("scales/<int:pk>/archive/", scales.ScaleArchive.as_view(), name="api-scale-archive"),
    path("scales/<int:pk>/restore/", scales.ScaleRestore.as_view(), name="api-scale-restore"),
    path("publishing-rule/", publishing.PublishingRuleView.as_view(), name="api-publishing-rule"),
    path("evaluators/<int:pk>/versions/<int:number>/judge/", golden.GoldenJudging.as_view(), name="api-golden-judge"),
    path("evaluators/<int:pk>/versions/<int:number>/publish/", golden.Publishing.as_view(), name="api-publish"),
    path("evaluators/<int:pk>/golden-cases/", golden.GoldenCaseList.as_view(), name="api-golden-cases"),
    path("golden-cases/<int:pk>/", golden.GoldenCaseDetail.as_view(), name="api-golden-case"),
    path("evaluators/<int:pk>/export/", exchange.EvaluatorExport.as_view(), name="api-evaluator-export"),
    path("evaluators/import/", exchange.EvaluatorImport.as_view(), name="api-evaluator-import"),
]
