"""Every address of the site. The apps' own urls.py say which page each one is."""

from django.urls import include, path

urlpatterns = [
    path("", include("evalstudio.web.urls")),
    path("", include("evalstudio.projects.urls")),
    path("p/<slug:project>/", include("evalstudio.calls.urls")),
    path("p/<slug:project>/", include("evaluators.urls")),
    path("p/<slug:project>/", include("experiments.urls")),
    path("api/", include("evalstudio.api_urls")),
]
