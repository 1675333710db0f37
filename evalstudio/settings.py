"""The settings of EvalStudio, one file for every environment; each value comes from a variable or has a sound default.

Production mode (`EVALSTUDIO_PRODUCTION=true`) demands the things a laptop may guess: a secret key and host names.
"""

from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF

from evalstudio.env import BadSetting, read_bool, read_int, read_list, read_secret, read_text

BASE_DIR = Path(__file__).resolve().parent.parent
PRODUCTION = read_bool("EVALSTUDIO_PRODUCTION", False)
DEBUG = read_bool("EVALSTUDIO_DEBUG", False)
DATA_DIR = Path(read_text("EVALSTUDIO_DATA", str(BASE_DIR / "var")))

SECRET_KEY = read_secret("EVALSTUDIO_SECRET_KEY", DATA_DIR / "secret-key")
# Encrypts connection keys at rest; separate from SECRET_KEY so that either can be changed alone.
ENCRYPTION_KEY = read_secret("EVALSTUDIO_ENCRYPTION_KEY", DATA_DIR / "encryption-key")
ALLOWED_HOSTS = read_list("EVALSTUDIO_HOSTS", () if PRODUCTION else ("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = read_list("EVALSTUDIO_ORIGINS")
if PRODUCTION and not ALLOWED_HOSTS:
    raise BadSetting("EVALSTUDIO_HOSTS must name the hosts of this installation in production mode.")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "csp",
    "django_htmx",
    "django_q",
    "drf_spectacular",
    "rest_framework",
    "evalstudio.web",
    "evalstudio.projects",
    "evalstudio.calls",
    "evalstudio.files",
    "evalstudio",
    "evaluators",
    "experiments",
    "annotations",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "evalstudio.web.foreign.refuse_nul",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "evalstudio.urls"
WSGI_APPLICATION = "evalstudio.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["evalstudio.web.templatetags.ui"],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# --- Database ---------------------------------------------------------------------------------------------------------
DATABASE_URL = read_text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'evalstudio.sqlite3'}")
DATABASES = {"default": dj_database_url.parse(DATABASE_URL)}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    # IMMEDIATE: a transaction that will write takes its lock first and waits its turn, instead of failing halfway.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-16000;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- People -----------------------------------------------------------------------------------------------------------
AUTH_USER_MODEL = "projects.User"
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home-root"
LOGOUT_REDIRECT_URL = "sign-in"
AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_TEMPLATE = "projects/locked.html"
AXES_RESET_ON_SUCCESS = True
AXES_VERBOSE = False

# --- The wire ---------------------------------------------------------------------------------------------------------
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
if PRODUCTION:
    SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = True
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# --- Static and uploaded files ----------------------------------------------------------------------------------------
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
FILE_UPLOAD_HANDLERS = ["experiments.datasets.importing.upload.LimitedUpload"]  # to disk, within IMPORT_MAX_BYTES
FILE_UPLOAD_TEMP_DIR = None
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024
IMPORT_MAX_BYTES = read_int("EVALSTUDIO_IMPORT_MB", 200, least=1) * 1024 * 1024
API_MAX_BYTES = read_int("EVALSTUDIO_API_MB", 20, least=1) * 1024 * 1024  # one JSON body, unpacked
FILE_MAX_BYTES = read_int("EVALSTUDIO_FILE_MB", 20, least=1) * 1024 * 1024

# --- Background work --------------------------------------------------------------------------------------------------
WORKERS = read_int("EVALSTUDIO_WORKERS", 2, least=1)
Q_CLUSTER = {
    "name": "evalstudio",
    "orm": "default",
    "workers": WORKERS,
    "timeout": 600,
    "retry": 3600,
    "max_attempts": 1,
    "ack_failures": True,
    "queue_limit": WORKERS,
    "bulk": 1,
    "save_limit": 100,
    "poll": 0.2,
    "recycle": 200,
    "max_rss": 400_000,
    "catch_up": False,
    "label": "Background work",
}
# The module whose `begin` and `look_after` the process beside the workers calls.
UPKEEP = "annotations.upkeep"

# --- Calls that leave the process -------------------------------------------------------------------------------------
# Connections that owners make may point at this machine or a private network; off in production mode unless asked for.
CONNECTIONS_MAY_BE_PRIVATE = read_bool("EVALSTUDIO_PRIVATE_CONNECTIONS", not PRODUCTION)
# Hosts (or host:port) that content and evaluator versions may reach although they are private.
OUTBOUND_ALLOW = read_list("EVALSTUDIO_OUTBOUND_ALLOW")
# Seconds that one call of a model may take before it counts as hanging.
CALL_TIMEOUT_S = read_int("EVALSTUDIO_CALL_TIMEOUT", 120, least=1)
OPENAI_API_KEY = read_text("OPENAI_API_KEY")
OPENAI_BASE_URL = read_text("OPENAI_BASE_URL")

# --- API --------------------------------------------------------------------------------------------------------------
API_PER_MINUTE = read_int("EVALSTUDIO_API_PER_MINUTE", 1200, least=1)  # requests of one token
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "evalstudio.projects.tokens.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["evalstudio.web.sound_json.QuotingJSON"],
    "DEFAULT_THROTTLE_CLASSES": ["evalstudio.projects.allowance.PerToken"],
    "DEFAULT_PARSER_CLASSES": ["evalstudio.web.sound_json.SoundJSON"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "evalstudio.web.problems.problem_response",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "EvalStudio",
    "DESCRIPTION": "Evaluators, experiments, runs and results of EvalStudio.",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {"VerdictEnum": "experiments.api.gains.VERDICTS"},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "evalstudio.web.problems.document_problems",
    ],
}

# --- Language, time, logs ---------------------------------------------------------------------------------------------
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"
USE_THOUSAND_SEPARATOR = False
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": read_text("EVALSTUDIO_LOG", "WARNING").upper()},
}
