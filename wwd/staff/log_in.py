"""The log-in of staff: failures are counted for a network or a known device, slowed, logged and told to stewards.

Never by name alone: anyone who knows a name could lock its owner out. A device on which somebody logged in before has a
counter of its own, so that strangers behind the same network make nobody wait there.
"""

import logging
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters

from collection.access.alarms import STAFF_FAILURES
from collection.access.attempt_limits import count_attempts, count_try, left_to_wait, take_back_try
from collection.access.request_info import network_of

logger = logging.getLogger(__name__)
KNOWN = "known"
KNOWN_FOR = timedelta(days=180)
# Failures without a wait in an hour.
FREE = 10


class EntryForm(AdminAuthenticationForm):
    """Name and password. While a wait lasts no password is looked at, and `wait` says how many seconds are left."""

    wait = 0

    def clean(self) -> dict[str, Any]:
        key = counted_by(self.request, str(self.cleaned_data.get("username", "")))
        self.refuse_for(left_to_wait(key, FREE))
        before = count_attempts(key)
        # Counted first, so that many at once do not all find the counter as it was.
        number = count_try(key)
        if number > max(before + 1, FREE):
            self.refuse_for(2)
        try:
            cleaned: dict[str, Any] = super().clean()
        except ValidationError:
            note_failure(number)
            raise
        take_back_try(key)
        return cleaned

    def refuse_for(self, seconds: int) -> None:
        if seconds:
            self.wait = seconds
            raise ValidationError(
                f"Many log-ins failed here. Wait {seconds} seconds, then try again: until then no password is looked "
                "at. A device on which you logged in before does not have to wait for others."
            )


def note_failure(number: int) -> None:
    """Counts a failure for the stewards and logs it without a name or an address."""
    count_try(STAFF_FAILURES)
    logger.warning("A log-in of staff failed: number %d of its network or device within this hour.", number)


def counted_by(request: HttpRequest | None, name: str) -> str:
    """What failures of this request are counted for: its device where this account is known on it, else its network."""
    if request is None:
        return "staff"
    device = known_device(request, name)
    return f"staff device {device}" if device else f"staff of {network_of(request)}"


def known_device(request: HttpRequest, name: str) -> str:
    """The random id of the device, where somebody of this name logged in on it before; otherwise empty."""
    try:
        value = request.get_signed_cookie(KNOWN, salt=KNOWN, max_age=KNOWN_FOR)
    except (KeyError, BadSignature):
        return ""
    device, _dot, key = (value or "").partition(".")
    users = get_user_model()._default_manager.filter(username=name)
    return device if key.isdecimal() and users.filter(pk=int(key)).exists() else ""


def remember_device(request: HttpRequest, response: HttpResponse) -> None:
    """From now on this device has a counter of its own for this account. The cookie opens nothing."""
    response.set_signed_cookie(
        KNOWN,
        f"{secrets.token_hex(8)}.{request.user.pk}",
        salt=KNOWN,
        max_age=KNOWN_FOR,
        path=reverse("admin:index"),
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )


@sensitive_post_parameters("password")
def log_in(request: HttpRequest) -> HttpResponse:
    """The admin's own page with our form; 429 with Retry-After while a wait lasts."""
    response = admin.site.login(request)
    form = (getattr(response, "context_data", None) or {}).get("form")
    if wait := getattr(form, "wait", 0):
        response.status_code = 429
        response.headers["Retry-After"] = str(wait)
    if request.method == "POST" and response.status_code == 302:
        remember_device(request, response)
    return response
