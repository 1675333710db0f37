from django.urls import path

from evalstudio.calls import views

urlpatterns = [
    path("settings/connections/", views.connection_list, name="connection-list"),
    path("settings/connections/new/", views.connection_new, name="connection-new"),
    path("settings/connections/rehearsal/", views.connection_rehearsal, name="connection-rehearsal"),
    path("settings/connections/test/", views.connection_test, name="connection-test"),
    path("settings/connections/<int:pk>/edit/", views.connection_edit, name="connection-edit"),
    path("settings/connections/<int:pk>/test/", views.connection_test, name="connection-test"),
    path("settings/connections/<int:pk>/archive/", views.connection_archive, name="connection-archive"),
    path("settings/connections/<int:pk>/restore/", views.connection_restore, name="connection-restore"),
]
