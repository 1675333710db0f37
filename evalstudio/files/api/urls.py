from django.urls import path

from evalstudio.files.api.views import FileList

urlpatterns = [path("files/", FileList.as_view(), name="api-files")]
