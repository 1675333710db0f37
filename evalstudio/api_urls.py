"""The REST API of a project. Its schema and its reference page are in evalstudio/web/urls.py."""

from django.urls import include, path

urlpatterns = [
    path("", include("evalstudio.projects.api.urls")),
    path("", include("evalstudio.calls.api.urls")),
    path("", include("evalstudio.files.api.urls")),
    path("", include("evaluators.api.urls")),
    path("", include("experiments.api.urls")),
    path("", include("annotations.api.urls")),
]
