"""Forms of staff that cannot be taken as they were sent: shown again with the typing, to be sent once more.

It happens after logging in anew in another tab, and after being logged out. Only what a page of our own sent is shown,
as the browser itself states; passwords never.
"""

from typing import Any

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from wwd.base.middleware import disable_compression

UNSHOWN = ("csrfmiddlewaretoken",)
SECRET = "password"  # noqa: S105  (part of the names of fields)


def is_own(request: HttpRequest) -> bool:
    """Whether this is a form that, by the browser's own statement, a page of ours sent."""
    if request.method != "POST":
        return False
    own = f"{request.scheme}://{request.get_host()}"
    site = request.headers.get("Sec-Fetch-Site", "")
    stated = [site == "same-origin"] if site else []
    if origin := request.headers.get("Origin", ""):
        stated.append(origin == own)
    elif referer := request.headers.get("Referer", ""):
        stated.append(referer.startswith(f"{own}/"))
    return bool(stated) and all(stated)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Only pages for staff depend on this check; `reason` is Django's, for logs.

    A form that somebody who is logged in sent from a page of ours has the token of an earlier log-in: it is shown again
    with the typing. The log-in itself is opened anew, so that no password is shown.
    """
    cookies = settings.CSRF_COOKIE_NAME in request.COOKIES
    if is_own(request) and cookies:
        if request.path_info == reverse("admin:login"):
            return redirect(request.get_full_path())
        if admin.site.has_permission(request):
            return sent_before_another_log_in(request)
    return render(request, "403.html", {"form": True, "cookies": not cookies}, status=403)


def sent_before_another_log_in(request: HttpRequest) -> HttpResponse:
    """For somebody who is logged in: the form has the token of an earlier log-in."""
    return render_retry_page(request, "staff/again.html", "Send it once more", status=403)


def logged_out(request: HttpRequest) -> HttpResponse:
    """For somebody whose log-in ended while they typed."""
    return render_retry_page(request, "staff/logged_out.html", "You are logged out", status=403)


def render_retry_page(request: HttpRequest, template: str, title: str, status: int) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": title,
        "is_nav_sidebar_enabled": False,
        "available_apps": [],
        "address": request.get_full_path(),
        "typed": list_typed_fields(request),
        "files": list(request.FILES),
        "log_in": reverse("admin:login"),
    }
    response = disable_compression(render(request, template, context, status=status))
    response["Cache-Control"] = "no-store"
    return response


def list_typed_fields(request: HttpRequest) -> list[tuple[str, Any]]:
    """Name and value of every field, in their order."""
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    return [(name, value) for name, value in fields if name not in UNSHOWN and SECRET not in name.casefold()]
