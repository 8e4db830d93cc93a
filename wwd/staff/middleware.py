"""What a session of staff may do: nothing after the idle limit, nothing before a second factor that is due."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, user_logged_in
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from wwd.staff import resubmission, second_factor

PAGES = "/admin/"
SEEN = "seen"
# The moment of the last request is written once a minute at most.
GRAIN = 60
OPEN = ("second-factor", "second-factor-set-up", "admin:login", "admin:logout", "admin:jsi18n")


class StaffMiddleware:
    """Stands after django-otp's. On pages of staff it logs out and leads to the second factor; elsewhere such a session
    counts as nobody's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(PAGES):
            if settings.SESSION_COOKIE_NAME in request.COOKIES:
                user: Any = request.user
                request.user = SimpleLazyObject(lambda: resolve_public_user(request, user))  # type: ignore[assignment]
            return self.get_response(request)
        return block_unverified_request(request) or self.get_response(request)


def block_unverified_request(request: HttpRequest) -> HttpResponseBase | None:
    """What is said instead of the page; None where the page may answer."""
    user = request.user
    if user.is_authenticated and is_idle(request):
        logout(request)
        minutes = settings.STAFF_IDLE_MINUTES
        messages.info(request, f"Nothing came from you for {minutes} minutes: log in again.")
    opened = [reverse(name) for name in OPEN]
    if not request.user.is_authenticated:
        keeps = request.path_info not in opened and resubmission.is_own(request)
        return resubmission.logged_out(request) if keeps else None
    note_seen(request)
    if request.path_info not in opened and second_factor.is_due(request, request.user):
        name = "second-factor" if second_factor.is_set_up(request.user) else "second-factor-set-up"
        back = request.get_full_path() if request.method == "GET" else reverse("admin:index")
        return redirect_to_login(back, reverse(name))
    return None


@receiver(user_logged_in)
def begin_staff_session(sender: Any, request: HttpRequest, user: Any, **signal: Any) -> None:
    """The log-in itself is the first sign of a session."""
    note_seen(request)
    second_factor.note_at_log_in(request, user)


def resolve_public_user(request: HttpRequest, user: Any) -> Any:
    """The person of this session on pages that are not of staff: nobody, while a log-in or second factor is due."""
    if user.is_authenticated and (is_idle(request) or second_factor.is_due(request, user)):
        return AnonymousUser()
    return user


def is_idle(request: HttpRequest) -> bool:
    """Whether the last request of this session is too long ago. A clock that was set back makes nobody idle."""
    seen = request.session.get(SEEN)
    return seen is not None and time.time() - seen > settings.STAFF_IDLE_MINUTES * 60


def note_seen(request: HttpRequest) -> None:
    now, seen = int(time.time()), request.session.get(SEEN)
    if seen is None or abs(now - seen) >= GRAIN:
        request.session[SEEN] = now
