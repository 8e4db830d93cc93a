"""System checks for half-made configuration: each says what is wrong and which variable mends it."""

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage

from wwd.settings import env

LOCAL = {"localhost", "127.0.0.1", "[::1]"}
# Read by tests only, so that settings do not know it.
TEST_VARIABLES = ("WWD_PUBLISHED_DATA", "WWD_TEST_OUTPUT")


def unknown_variables(names: Iterable[str], known: Iterable[str]) -> list[CheckMessage]:
    """A warning for each WWD_… variable that nothing reads, with the name that was probably meant."""
    accepted = {*known, *TEST_VARIABLES}
    accepted |= {f"{name}_FILE" for name in accepted}
    found: list[CheckMessage] = []
    for name in sorted(set(names) - accepted):
        near = difflib.get_close_matches(name, sorted(accepted), n=1)
        hint = f"Did you mean {near[0]}?" if near else "docs/operations/settings.md lists all variables."
        found.append(checks.Warning(f"Nothing reads the variable {name}.", hint=hint, id="wwd.W001"))
    return found


def several_hosts() -> bool:
    """Whether something stands outside this machine, so that more than one host may take part."""
    return bool(settings.REDIS_URL or settings.GS_BUCKET_NAME or settings.DATABASE_VENDOR != "sqlite3")


@checks.register
def check_variables(**_: Any) -> list[CheckMessage]:
    return unknown_variables((name for name in os.environ if name.startswith("WWD_")), env.known)


@checks.register
def check_hosts_agree(**_: Any) -> list[CheckMessage]:
    """What several hosts must share: the database and the secret key."""
    found: list[CheckMessage] = []
    if settings.DATABASE_VENDOR == "sqlite3" and settings.REDIS_URL:
        found.append(
            checks.Warning(
                "REDIS_URL is set, but the database is one SQLite file on this host: workers elsewhere cannot read it.",
                hint="Set DATABASE_URL to a PostgreSQL database, or leave REDIS_URL out.",
                id="wwd.W002",
            )
        )
    if several_hosts() and settings.SECRET_KEY_GENERATED:
        found.append(
            checks.Warning(
                "The secret key was made on this host and lies in its folder: other hosts have another one, "
                "and forms served by one are refused by the next.",
                hint="Set SECRET_KEY or SECRET_KEY_FILE to the same value on every host.",
                id="wwd.W003",
            )
        )
    return found


@checks.register
def check_bucket(**_: Any) -> list[CheckMessage]:
    """The bucket and the identity that may reach it."""
    key = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", "")
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "")
    if not settings.GS_BUCKET_NAME:
        if not key:
            return []
        text = "GOOGLE_APPLICATION_CREDENTIALS is set, but no bucket: files are stored on this host's disk."
        return [checks.Warning(text, hint="Set GS_BUCKET_NAME.", id="wwd.W004")]
    if emulator:
        text = f"STORAGE_EMULATOR_HOST is set: files go to {emulator} and not to Google Cloud Storage."
        return [checks.Warning(text, hint="Leave it out in production.", id="wwd.W005")]
    if settings.GS_IDENTITY == "file" and not (key and Path(key).is_file()):
        text = "GS_BUCKET_NAME is set, but GOOGLE_APPLICATION_CREDENTIALS names no key file that can be read."
        hint = "Name the key file, or set WWD_GS_IDENTITY=machine where the machine has an identity of its own."
        return [checks.Error(text, hint=hint, id="wwd.E001")]
    return []


@checks.register
def check_exposure(**_: Any) -> list[CheckMessage]:
    """What a site that strangers reach must not have."""
    found: list[CheckMessage] = []
    hosts = set(settings.ALLOWED_HOSTS)
    if settings.DEBUG and settings.BEHIND_TLS_PROXY:
        text = "WWD_DEBUG and WWD_BEHIND_TLS_PROXY are both on: error pages would show strangers what people typed."
        found.append(checks.Error(text, hint="Turn WWD_DEBUG off.", id="wwd.E002"))
    if "*" in hosts:
        text = "WWD_ALLOWED_HOSTS accepts every host name: links in pages can then be made to lead elsewhere."
        found.append(checks.Warning(text, hint="List the names under which the site is reached.", id="wwd.W006"))
    if settings.BEHIND_TLS_PROXY and hosts <= LOCAL:
        text = "WWD_BEHIND_TLS_PROXY is on, but WWD_ALLOWED_HOSTS names no public host: every request is refused."
        found.append(checks.Warning(text, hint="Set WWD_ALLOWED_HOSTS to the site's name.", id="wwd.W007"))
    return found


@checks.register(checks.Tags.security, deploy=True)
def check_deployment(**_: Any) -> list[CheckMessage]:
    """Asked only by `check --deploy`."""
    if (Path(settings.STATIC_ROOT) / "staticfiles.json").exists():
        return []
    text = f"No static files were collected in {settings.STATIC_ROOT}: pages come without their style."
    return [checks.Warning(text, hint="Run manage.py collectstatic.", id="wwd.W008")]
