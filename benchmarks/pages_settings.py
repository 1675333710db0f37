"""The product's settings with the addresses of static files unhashed, so that nothing has to be collected first."""

from evalstudio.settings import *  # noqa: F403

STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}  # noqa: F405
ALLOWED_HOSTS = ["testserver"]
