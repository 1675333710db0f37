from django.urls import path

from evalstudio.calls.api.views import ConnectionList

urlpatterns = [path("connections/", ConnectionList.as_view(), name="api-connections")]
