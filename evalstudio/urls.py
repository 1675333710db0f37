"""Every address of the site. The apps' own urls.py say which page each one is."""

from django.urls import include, path

from evalstudio.web.later import Later

handler400 = "evalstudio.web.errors.bad_request"
handler404 = "evalstudio.web.errors.not_found"
handler500 = "evalstudio.web.errors.server_error"

urlpatterns = [
    path("", include("evalstudio.web.urls")),
    path("", include("evalstudio.projects.urls")),
    path("p/<slug:project>/", include("evalstudio.calls.urls")),
    path("p/<slug:project>/", include("evalstudio.files.urls")),
    path("p/<slug:project>/", include("evaluators.urls")),
    path("p/<slug:project>/", include("experiments.urls")),
    path("p/<slug:project>/", include("annotations.urls")),
    Later("api/projects/<slug:project>/", "evalstudio.api_urls"),
]
