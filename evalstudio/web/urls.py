from django.urls import path

from evalstudio.web import kit

urlpatterns = [
    path("kit/", kit.kit, name="kit"),
    path("kit/draft/", kit.draft, name="kit-draft"),
    path("kit/paths/", kit.paths, name="kit-paths"),
    path("kit/peek/<slug:key>/", kit.peek, name="kit-peek"),
]
