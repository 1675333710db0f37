from django.urls import path, re_path

from evalstudio.files import views

urlpatterns = [
    path("files/", views.file_list, name="file-list"),
    path("files/outside/", views.file_outside, name="file-outside"),
    re_path(r"^files/(?P<digest>[0-9a-f]{64})/$", views.file_content, name="file-digest"),
    re_path(r"^files/(?P<digest>[0-9a-f]{64})/(?P<name>[\w.-]+)$", views.file_content, name="file-content"),
]
