from django.urls import path

from evalstudio.files import views

urlpatterns = [
    path("files/", views.file_list, name="file-list"),
    path("files/outside/", views.file_outside, name="file-outside"),
    path("files/<str:digest>/", views.file_content, name="file-digest"),
    path("files/<str:digest>/<str:name>", views.file_content, name="file-content"),
]
