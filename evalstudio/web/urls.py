from django.urls import path

from evalstudio.web import kit

urlpatterns = [path("kit/", kit.kit, name="kit")]
