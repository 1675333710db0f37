from django.urls import path

from experiments.views import bench_picker, datasets, imports

dataset_urls = [
    path("datasets/", datasets.dataset_list, name="dataset-list"),
    path("datasets/import/", imports.import_new, name="import-new"),
    path("datasets/<int:pk>/", datasets.dataset_page, name="dataset-page"),
    path("datasets/<int:pk>/cases/<int:case>/", datasets.dataset_case, name="dataset-case"),
    path("imports/<int:pk>/", imports.import_page, name="import-page"),
    path("imports/<int:pk>/forecast/", imports.import_forecast, name="import-forecast"),
    path("imports/<int:pk>/discard/", imports.import_discard, name="import-discard"),
]

bench_urls = [
    path("bench/picker/", bench_picker.bench_picker, name="bench-picker"),
    path("bench/sample/", bench_picker.bench_sample, name="bench-sample"),
]

urlpatterns = [*dataset_urls, *bench_urls]
