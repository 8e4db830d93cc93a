"""Pages of the second factor, in the look of the admin and without scripts: ask for it, set it up, renew it."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import django_otp
from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from wwd.base.middleware import disable_compression
from wwd.staff import second_factor
from wwd.staff.log_in import note_failure

View = Callable[[HttpRequest, User], HttpResponse]
WRONG = (
    "This code is not right. An app shows a new one every 30 seconds; a recovery code works once. Look at the time of "
    "the phone too: it has to be right to half a minute."
)
WAIT = "There were wrong codes before. Wait {} seconds, then write the code that the app shows by then."


class NeverShown(forms.TextInput):
    """A field whose content is not shown again."""

    def format_value(self, value: Any) -> None:
        return None


class TokenForm(forms.Form):
    """Six digits, or a recovery code. Nothing of it is shown again."""

    token = forms.CharField(
        max_length=40,
        label="Code of the app, or a recovery code",
        error_messages={"required": "Write the code that the app shows, or a recovery code."},
        widget=NeverShown(attrs={"autocomplete": "one-time-code", "autofocus": True, "size": 16, "dir": "ltr"}),
    )


def for_somebody_of_the_staff(view: View) -> Callable[[HttpRequest], HttpResponse]:
    """Signed-in staff, also those who have not shown a second factor. No cache keeps such a page."""

    @wraps(view)
    def inner(request: HttpRequest) -> HttpResponse:
        if not admin.site.has_permission(request):
            return redirect_to_login(request.get_full_path(), reverse("admin:login"))
        return disable_compression(view(request, cast(User, request.user)))

    guarded = require_http_methods(["GET", "HEAD", "POST"])(sensitive_post_parameters()(inner))
    return never_cache(csrf_protect(guarded))


@for_somebody_of_the_staff
def second_factor_page(request: HttpRequest, user: User) -> HttpResponse:
    """Asks for the code where it is due; else says how things stand and renews or removes them."""
    if second_factor.is_due(request, user):
        return (
            ask_for_token(request, user)
            if second_factor.is_set_up(user)
            else redirect(with_next("second-factor-set-up", request))
        )
    if request.method == "POST":
        return change_second_factor(request, user)
    return render_staff_page(request, "staff/second_factor.html", "Second factor", **describe_second_factor(user))


def describe_second_factor(user: User) -> dict[str, Any]:
    return {
        "is_set_up": second_factor.is_set_up(user),
        "required": second_factor.required_of(user),
        "left": second_factor.recovery_codes_left(user),
    }


def ask_for_token(request: HttpRequest, user: User) -> HttpResponse:
    """Password known, code asked for."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_valid():
        typed = form.cleaned_data["token"]
        wait = second_factor.left_to_wait(user, typed)
        device = None if wait else second_factor.find_accepting_device(user, typed)
        if device:
            django_otp.login(request, device)
            request.session.cycle_key()
            return redirect(next_of(request))
        status = refuse_token(form, wait)
    return render_staff_page(
        request, "staff/ask.html", "Second factor", status=status, form=form, next=next_of(request)
    )


def refuse_token(form: TokenForm, wait: int) -> int:
    """Says why a code was not taken; returns the page's status. A wrong one counts among the failed log-ins."""
    if not wait:
        note_failure(1)
    form.add_error("token", WAIT.format(wait) if wait else WRONG)
    return 429 if wait else 200


@for_somebody_of_the_staff
def set_up(request: HttpRequest, user: User) -> HttpResponse:
    """The key as an image and in letters, and the code that proves that an app has it → recovery codes, shown once."""
    if second_factor.is_due(request, user) and second_factor.is_set_up(user):
        return redirect(with_next("second-factor", request))
    device = second_factor.new_device(user)
    form = TokenForm(request.POST if request.method == "POST" else None)
    form.fields["token"].label = "Code that the app shows now"
    status = 200
    if form.is_valid():
        typed = form.cleaned_data["token"]
        wait = second_factor.left_to_wait(user, "000000", confirmed=False)
        codes = [] if wait else second_factor.confirm_device(request, device, typed)
        if codes:
            request.session.cycle_key()
            return codes_page(request, codes)
        status = refuse_token(form, wait)
    shown = {
        "form": form,
        "key": second_factor.key_of(device),
        "image": second_factor.draw_qr_code(device),
        "next": next_of(request),
        "required": second_factor.required_of(user),
        "again": second_factor.is_set_up(user),
    }
    return render_staff_page(request, "staff/set_up.html", "Set up a second factor", status=status, **shown)


def change_second_factor(request: HttpRequest, user: User) -> HttpResponse:
    """What the pressed button does. Only sessions that have shown the second factor come here."""
    what = request.POST.get("do")
    if what == "codes" and second_factor.is_set_up(user):
        return codes_page(request, second_factor.new_recovery_codes(user))
    if what == "remove" and not second_factor.required_of(user):
        second_factor.remove_second_factor(user)
        messages.success(request, "The second factor is removed. The password alone logs you in.")
    else:
        messages.error(request, "Nothing was done.")
    return redirect("second-factor")


def codes_page(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return render_staff_page(request, "staff/recovery_codes.html", "Recovery codes", codes=codes, next=next_of(request))


def render_staff_page(
    request: HttpRequest, template: str, title: str, *, status: int = 200, **more: Any
) -> HttpResponse:
    """A page of the admin without its lists: before the second factor nothing of them is told."""
    shared = {**admin.site.each_context(request), "title": title, "is_nav_sidebar_enabled": False}
    return render(request, template, {**shared, "available_apps": [], **more}, status=status)


def next_of(request: HttpRequest) -> str:
    """Where to go afterwards: a page of this site, else the desk."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    own = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if own else reverse("admin:index")


def with_next(name: str, request: HttpRequest) -> str:
    return redirect_to_login(next_of(request), reverse(name)).url
