"""Settings of the test suite: everything as in the product, with its data in a temporary folder and fast passwords."""

import os
import tempfile

os.environ.setdefault("EVALSTUDIO_DATA", tempfile.mkdtemp(prefix="evalstudio-tests-"))

from evalstudio.settings import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}  # noqa: F405
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
AXES_ENABLED = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405
    # A file, as in the product: workers of the tests are threads and processes of their own, and lock alike.
    DATABASES["default"]["TEST"] = {"NAME": DATA_DIR / f"tests-{os.getpid()}.sqlite3"}  # noqa: F405
