"""The second factor of staff: a code of an app (TOTP, RFC 6238), and recovery codes for when the phone is gone.

Whom a setting requires it of is decided by group; anybody on the staff may set it up. Kept by django-otp.
"""

import base64
import secrets

import django_otp
import segno
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

EVERYBODY, SUPERUSER = "all", "superuser"
RECOVERY_CODES = 10
HAD = "had_second_factor"
# Without letters and digits that look alike.
SIGNS = "abcdefghjkmnpqrstuvwxyz23456789"
Person = AbstractBaseUser | AnonymousUser


def required_of(user: User) -> bool:
    """Whether a setting requires a second factor of this person."""
    wanted = set(settings.SECOND_FACTOR)
    if not wanted:
        return False
    if EVERYBODY in wanted or (user.is_superuser and SUPERUSER in wanted):
        return True
    return user.groups.filter(name__in=wanted).exists()


def is_set_up(user: User) -> bool:
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


def note_at_log_in(request: HttpRequest, user: User) -> None:
    """Whether this account had a second factor when it logged in, so that not every page has to ask."""
    request.session[HAD] = is_set_up(user)


def is_due(request: HttpRequest, user: User) -> bool:
    """Whether this session may do nothing before its second factor was shown, or set up.

    django-otp's middleware notes at the person which device the session has shown. What is set up elsewhere is asked
    for at the next log-in.
    """
    shown = getattr(user, "otp_device", None) is not None
    return not shown and ((request.session.get(HAD, True) and is_set_up(user)) or required_of(user))


def new_device(user: User) -> TOTPDevice:
    """The device that is being set up: the same one until it is confirmed, so that a page loaded anew shows its key."""
    device = TOTPDevice.objects.filter(user=user, confirmed=False).order_by("pk").first()
    return device or TOTPDevice.objects.create(user=user, name="app", confirmed=False)


def key_of(device: TOTPDevice) -> str:
    """The key as apps take it by hand: base 32 in groups of four."""
    text = base64.b32encode(device.bin_key).decode()
    return " ".join(text[start : start + 4] for start in range(0, len(text), 4))


def draw_qr_code(device: TOTPDevice) -> SafeString:
    """The key as a QR code: SVG that is in the page."""
    code = segno.make(device.config_url, error="m")
    return SafeString(code.svg_inline(scale=4, light="#fff", svgclass=None, lineclass=None, omitsize=False))


@transaction.atomic
def confirm_device(request: HttpRequest, device: TOTPDevice, token: str) -> list[str]:
    """The recovery codes, where the app's code is right: from now on this device is the only one. Else none."""
    device = TOTPDevice.objects.select_for_update().get(pk=device.pk)
    if not device.verify_token(normalise_token(token)):
        return []
    TOTPDevice.objects.filter(user=device.user).exclude(pk=device.pk).delete()
    device.confirmed = True
    device.save()
    django_otp.login(request, device)
    return new_recovery_codes(device.user)


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """Ten codes that work once each; former ones work no more."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    found = ["".join(secrets.choice(SIGNS) for _ in range(10)) for _ in range(RECOVERY_CODES)]
    for code in found:
        device.token_set.create(token=code)
    return [f"{code[:5]} {code[5:]}" for code in found]


def recovery_codes_left(user: User) -> int:
    device = StaticDevice.objects.filter(user=user).first()
    return device.token_set.count() if device else 0


def find_accepting_device(user: User, typed: str) -> Device | None:
    """The device that takes what was typed: six digits of the app, else a recovery code."""
    text = normalise_token(typed)
    with transaction.atomic():
        for device in kind_of(text).objects.select_for_update().filter(user=user, confirmed=True):
            begin_again_where_the_clock_was_set_back(device)
            if device.verify_token(text):
                return device
    return None


def begin_again_where_the_clock_was_set_back(device: TOTPDevice | StaticDevice) -> None:
    """A wait that began in what is the future now would last as long as the clock was set back."""
    begun = device.throttling_failure_timestamp
    if begun and begun > timezone.now():
        device.throttling_failure_timestamp = timezone.now()
        device.save(update_fields=["throttling_failure_timestamp"])


def normalise_token(typed: str) -> str:
    """Letters and digits of what was typed, digits of any script as 0 to 9."""
    signs = (str(int(sign)) if sign.isdecimal() else sign for sign in typed.casefold() if sign.isalnum())
    return "".join(signs)


def kind_of(text: str) -> type[TOTPDevice] | type[StaticDevice]:
    return TOTPDevice if text.isdecimal() and len(text) == 6 else StaticDevice


def left_to_wait(user: User, typed: str, *, confirmed: bool = True) -> int:
    """Seconds during which such a code of this person is not looked at, after wrong ones; django-otp doubles them."""
    waits = [0]
    for device in kind_of(normalise_token(typed)).objects.filter(user=user, confirmed=confirmed):
        begin_again_where_the_clock_was_set_back(device)
        allowed, why = device.verify_is_allowed()
        if not allowed and why and "locked_until" in why:
            waits.append(max(1, round((why["locked_until"] - timezone.now()).total_seconds())))
    return max(waits)


@transaction.atomic
def remove_second_factor(user: User) -> int:
    """Takes the second factor away, with recovery codes and a set-up that was begun; returns how many devices went."""
    number = TOTPDevice.objects.filter(user=user).count()
    TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    return number
