"""The REST API: everything under /api/projects/<project>/, its schema and its reference page."""

from django.urls import include, path
from drf_spectacular.views import SpectacularJSONAPIView

from evalstudio.web.reference import reference

urlpatterns = [
    path("schema/", SpectacularJSONAPIView.as_view(), name="api-schema"),
    path("docs/", reference, name="api-docs"),
    path("projects/<slug:project>/", include("evalstudio.calls.api.urls")),
    path("projects/<slug:project>/", include("evaluators.api.urls")),
    path("projects/<slug:project>/", include("experiments.api.urls")),
]
