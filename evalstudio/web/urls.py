from django.urls import path

from evalstudio.web import kit, reference

urlpatterns = [
    path("kit/", kit.kit, name="kit"),
    path("kit/draft/", kit.draft, name="kit-draft"),
    path("kit/paths/", kit.paths, name="kit-paths"),
    path("kit/peek/<slug:key>/", kit.peek, name="kit-peek"),
    path("api/schema/", reference.schema, name="api-schema"),
    path("api/docs/", reference.reference, name="api-docs"),
]
