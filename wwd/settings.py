"""All settings, read once from typed environment variables. docs/operations/settings.md explains each variable.

Without any variable set the embedded default works: SQLite, files on disk and a broker that needs no server,
everything under var/.
"""

import secrets
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import dj_database_url
from django.conf.locale import LANG_INFO

from wwd.base.atomic_files import write_bytes_atomically
from wwd.base.env import Env, EnvError
from wwd.base.packages import PACKAGES

env = Env()
BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = env.path("WWD_VAR_DIR", BASE_DIR / "var")


def read_secret(path: Path) -> str:
    """The secret in `path`, made on first use: a fresh clone needs no variable and keeps its sessions."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            write_bytes_atomically(path, secrets.token_urlsafe(48).encode(), mode=0o600, overwrite=False)
    return path.read_text()


def refuse_weak(name: str, keys: Iterable[str]) -> None:
    """Raises EnvError for a key that can be guessed: anyone who has it opens what people told and what staff may do."""
    for key in keys:
        if len(key) < 32 or len(set(key)) < 8 or key.startswith("django-insecure-"):
            raise EnvError(
                f"{name} can be guessed: it needs 32 signs, 8 of them different, made at random. Leave SECRET_KEY out, "
                "and one is made in var/secret_key; deploy/make-secrets makes one for compose."
            )


DEBUG = env.flag("WWD_DEBUG", False)
SECRET_KEY_GENERATED = not env.text("SECRET_KEY")
SECRET_KEY = env.text("SECRET_KEY") or read_secret(VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS = env.items("SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.items("WWD_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.items("WWD_TRUSTED_ORIGINS")
BEHIND_TLS_PROXY = env.flag("WWD_BEHIND_TLS_PROXY", False)
# How many proxies of ours are before the web server, each of which adds the address that it saw.
# 0: none, or the one that speaks TLS.
TRUSTED_PROXIES = env.whole("WWD_TRUSTED_PROXIES", 0)
if not DEBUG:
    for _name, _keys in (("SECRET_KEY", [SECRET_KEY]), ("SECRET_KEY_FALLBACKS", SECRET_KEY_FALLBACKS)):
        refuse_weak(_name, _keys)

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    *PACKAGES,
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "wwd.base.middleware.CompressMiddleware",
    "wwd.base.middleware.HeadersMiddleware",
    "wwd.base.middleware.BodyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "wwd.base.languages.LanguageMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django_otp.middleware.OTPMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "wwd.staff.middleware.StaffMiddleware",
    "evaluation.plans.mask_pages.MaskedPagesMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "wwd.urls"
WSGI_APPLICATION = "wwd.wsgi.application"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "wwd.base.languages.add_language_context",
                "collection.access.turns.build_turn_context",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]


SQLITE_OPTIONS = {
    # Writers queue up at the start of a transaction instead of failing in its middle.
    "transaction_mode": "IMMEDIATE",
    "timeout": 30,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


# 0: no bound. A query without an end would hold its locks and its thread for ever.
STATEMENT_SECONDS = env.whole("WWD_STATEMENT_SECONDS", 2700)
# Seconds, and for the last one milliseconds: a server that is not there any more is noticed, also in the middle.
POSTGRES_OPTIONS = {
    "connect_timeout": 5,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def configure_database(url: str, keep_seconds: int = 0) -> dict[str, Any]:
    """The default database: PostgreSQL by URL, otherwise one SQLite file set up for several processes."""
    try:
        parsed: dict[str, Any] = dict(dj_database_url.parse(url or f"sqlite:///{VAR_DIR / 'wwd.sqlite3'}"))
    except ValueError as error:
        raise EnvError("DATABASE_URL cannot be read. Accepted: postgres://user:password@host:port/name.") from error
    vendor = parsed["ENGINE"].rpartition(".")[2]
    if vendor == "sqlite3":
        return {"ENGINE": parsed["ENGINE"], "NAME": parsed["NAME"], "OPTIONS": SQLITE_OPTIONS}
    if vendor != "postgresql":
        raise EnvError(f"DATABASE_URL names {vendor}. Accepted: postgres:// and sqlite:///.")
    bound = {"options": f"-c statement_timeout={STATEMENT_SECONDS}s"} if STATEMENT_SECONDS else {}
    parsed["OPTIONS"] = {**POSTGRES_OPTIONS, **bound, **parsed.get("OPTIONS", {})}
    # Django's own, and connections that web processes keep between requests.
    parsed["ENGINE"] = "wwd.base.postgresql"
    return {**parsed, "CONN_MAX_AGE": keep_seconds, "CONN_HEALTH_CHECKS": keep_seconds > 0}


# 0: many threads wait for slow phones, and each would keep a connection.
DATABASE_KEEP_SECONDS = env.whole("WWD_DATABASE_KEEP_SECONDS", 0)
DATABASES = {"default": configure_database(env.text("DATABASE_URL"), DATABASE_KEEP_SECONDS)}
DATABASE_VENDOR = str(DATABASES["default"]["ENGINE"]).rpartition(".")[2]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.text("REDIS_URL")
GS_BUCKET_NAME = env.text("GS_BUCKET_NAME")
GS_IDENTITY = env.choice("WWD_GS_IDENTITY", ("file", "machine"), "file")
# A thread of the web server waits no longer for the bucket.
STORAGE_SECONDS = env.whole("WWD_STORAGE_SECONDS", 15, least=1)
MEDIA_ROOT = VAR_DIR / "media"
STORAGES = {
    "default": (
        {
            "BACKEND": "wwd.base.object_storage.PatientBucket",
            # No ACL: the bucket has uniform access, and files are served by the application only.
            "OPTIONS": {"bucket_name": GS_BUCKET_NAME, "default_acl": None, "file_overwrite": True},
        }
        if GS_BUCKET_NAME
        else {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": MEDIA_ROOT}}
    ),
    "staticfiles": {"BACKEND": "wwd.base.static.HashedStaticStorage"},
}
STATIC_URL = "/static/"
STATIC_ROOT = env.path("WWD_STATIC_ROOT", VAR_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]

CELERY_BROKER_URL = REDIS_URL or "filesystem://localhost"
CELERY_BROKER_FOLDER = VAR_DIR / "broker"

LEASE_SECONDS = env.whole("WWD_LEASE_SECONDS", 120, least=2)
WEB_PROCESSES = env.whole("WWD_WEB_PROCESSES", 2, least=1)
# Requests that have arrived whole are answered at once by so many; who still sends holds none of them.
WEB_THREADS = env.whole("WWD_WEB_THREADS", 64, least=1)
# So many dishes a web process stores together; others wait, as long as half of its threads are free for readers.
WEB_AT_ONCE = env.whole("WWD_WEB_AT_ONCE", 1, least=1)
# Connections to PostgreSQL that a web process keeps for the next requests.
WEB_CONNECTIONS = env.whole("WWD_WEB_CONNECTIONS", 8)
# So old the start page may be that a stranger gets. 0: made for each of them.
WEB_PAGE_SECONDS = env.whole("WWD_WEB_PAGE_SECONDS", 0)
LOCAL_PROVIDERS = env.flag("WWD_LOCAL_PROVIDERS", False)
# A worker process ends between two slices of work after so many of them, or once it holds so much memory.
WORKER_SLICES = env.whole("WWD_WORKER_SLICES", 500, least=1)
WORKER_MEGABYTES = env.whole("WWD_WORKER_MEGABYTES", 0)
# What a worker process holds of files and decoded images before their turn comes.
AHEAD_MEGABYTES = env.whole("WWD_AHEAD_MEGABYTES", 1024, least=1)
SWEEP_SECONDS = env.whole("WWD_SWEEP_SECONDS", 30, least=1)
# The code's commit where there is no checkout that says it.
COMMIT = env.text("WWD_COMMIT")
CHROMIUM = env.text("WWD_CHROMIUM")
EXPORT_DAYS = env.whole("WWD_EXPORT_DAYS", 14, least=1)
RETENTION_DAYS = env.whole("WWD_RETENTION_DAYS", 3 * 365, least=30)
# Below this `/readyz` fails: somebody has to make room before pages must refuse.
LEAST_FREE_MEGABYTES = env.whole("WWD_LEAST_FREE_MEGABYTES", 200)
# Memory in which all processes of this host decode images; a photo that needs more by itself is refused.
DECODE_MEGABYTES = env.whole("WWD_DECODE_MEGABYTES", 400, least=64)
MAX_PHOTO_BYTES = 15 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
# Photos somewhat too large still reach their form, which can say so beside the field.
MAX_REQUEST_BYTES = 4 * MAX_PHOTO_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
FILE_UPLOAD_TEMP_DIR = None

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LOGIN_URL = "admin:login"
# Where a log-in leads that named no page of ours.
LOGIN_REDIRECT_URL = "admin:index"
# Groups of whom a second factor is required; "superuser" and "all" are possible too.
SECOND_FACTOR = env.items("WWD_SECOND_FACTOR")
STAFF_IDLE_MINUTES = env.whole("WWD_STAFF_IDLE_MINUTES", 120, least=5)
OTP_TOTP_ISSUER = "World Wide Dishes"

LANGUAGE_CODE = "en"
# Each by its own name: anyone who looks for a language reads that one.
LANGUAGES = [
    ("en", "English"),
    ("ar", "العربية"),
    ("es", "Español"),
    ("fr", "Français"),
    ("ha", "Hausa"),
    ("hi", "हिन्दी"),
    ("id", "Bahasa Indonesia"),
    ("pt", "Português"),
    ("sw", "Kiswahili"),
    ("yo", "Yorùbá"),
]
# Two that Django has no translation of itself.
LANG_INFO.update(
    {
        code: {"bidi": False, "code": code, "name": name, "name_local": name}
        for code, name in (("ha", "Hausa"), ("yo", "Yorùbá"))
    }
)
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS_PROXY
if BEHIND_TLS_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
# Whether subdomains and browsers' preload lists follow is for the owner of the domain to decide.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
CSRF_FAILURE_VIEW = "wwd.staff.resubmission.csrf_failure"

LOG_FORMAT = env.choice("WWD_LOG_FORMAT", ("console", "json"), "console")
LOG_LEVEL = env.choice("WWD_LOG_LEVEL", ("debug", "info", "warning", "error"), "info").upper()
quiet = ("DEBUG", "INFO", "WARNING", "ERROR").index
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "console": {
            "()": "wwd.base.logs.ConsoleFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {"()": "wwd.base.logs.JsonFormatter"},
    },
    "handlers": {"out": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["out"], "level": LOG_LEVEL},
    "loggers": {
        "django": {"handlers": [], "propagate": True},
        "django.server": {"handlers": ["out"], "propagate": False},
        # These quote what a photo says about its camera and place, and addresses with their keys.
        **{name: {"level": max(LOG_LEVEL, "INFO", key=quiet)} for name in ("PIL", "pillow_heif", "urllib3", "google")},
        **{name: {"level": max(LOG_LEVEL, "WARNING", key=quiet)} for name in ("httpx", "httpcore", "openai")},
    },
}
