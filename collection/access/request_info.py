"""How a dish arrived: what helps stewards to see abuse, and nothing that tells who somebody is.

A network is stored as a keyed hash of its prefix, with a random key of the month that is thrown away later. Nobody is
refused for anything here: many people share one address, and a helper may be quick.
"""

import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from django.http import HttpRequest
from django.utils import timezone

from collection.access.attempt_limits import count_try
from collection.access.form_tokens import Proof, read_wall_clock
from collection.models import NetworkKey, Report, Submission, Withdrawal
from wwd.base.client_address import client_address

# Bits that an operator gives to one customer or one mast.
PREFIX = {4: 24, 6: 48}
HASH_SIGNS = 24
# Four answers take longer to type; milliseconds.
QUICK = 5000
TRAP = "website"
RETENTION = timedelta(days=62)
KEY_SECONDS = 60
_month_keys: dict[date, tuple[str, float]] = {}
FILLED_TRAP, TOO_QUICK, IN_A_CROWD = "trap", "quick", "crowd"
# New people of one network within a minute. In a room of 400 a handful of people agree within the same minute.
CROWD = 20
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Circumstances:
    """`device`: see `device_class`; `network`: a hash, empty where the address is not known; `flags`: what
    looked odd, for stewards."""

    device: str = ""
    network: str = ""
    flags: tuple[str, ...] = ()


def collect_request_circumstances(request: HttpRequest, proof: Proof) -> Circumstances:
    """What is stored of a request that brings a dish."""
    flags = []
    if request.POST.get(TRAP, "").strip():
        flags.append(FILLED_TRAP)
    # Less than nothing, where the clock was set back meanwhile: then nothing is known.
    if 0 <= read_wall_clock() - proof.at < QUICK:
        flags.append(TOO_QUICK)
    return Circumstances(device_class(request.headers), network_of(request), tuple(flags))


def in_a_crowd(network: str) -> bool:
    """Counts one new person of this network and says whether more than `CROWD` came within the minute.

    Stewards see it beside what these people tell. Call it outside transactions.
    """
    return count_try(f"people {network}", MINUTE) > CROWD


def network_of(request: HttpRequest) -> str:
    """The hash of the network that a request came from, with this month's key."""
    try:
        found = ipaddress.ip_address(client_address(request))
    except ValueError:
        return ""
    found = getattr(found, "ipv4_mapped", None) or found
    prefix = ipaddress.ip_network(f"{found}/{PREFIX[found.version]}", strict=False)
    key = load_month_key(timezone.now().date().replace(day=1))
    return hmac.new(key.encode(), str(prefix).encode(), hashlib.sha256).hexdigest()[:HASH_SIGNS]


def load_month_key(month: date) -> str:
    """The key of this month, asked for once a minute: it does not change, and each dish wants it."""
    kept = _month_keys.get(month)
    if kept is None or time.monotonic() - kept[1] > KEY_SECONDS:
        _month_keys.clear()
        _month_keys[month] = kept = (key_of(month), time.monotonic())
    return kept[0]


def key_of(month: date) -> str:
    """The key of a month, made when it is first needed."""
    row, _created = NetworkKey.objects.get_or_create(month=month, defaults={"key": secrets.token_hex(32)})
    return row.key


def forget_networks() -> int:
    """Throws old keys away and the hashes made with them; returns how many rows lost theirs."""
    before = timezone.now() - RETENTION
    NetworkKey.objects.filter(month__lt=before.date().replace(day=1)).delete()
    old = (
        Submission.objects.filter(created_at__lt=before),
        Report.objects.filter(created_at__lt=before),
        Withdrawal.objects.filter(at__lt=before),
    )
    return sum(rows.exclude(network="").update(network="") for rows in old)


# Browsers on phones and tablets, those of simple phones and of data savers among them.
MOBILE = re.compile(r"Mobi|Android|iPhone|iPad|iPod|Opera Mini|UCBrowser|UCWEB|KAIOS|BlackBerry|Nokia|J2ME|MIDP", re.I)
DESKTOP = re.compile(r"Windows NT|Macintosh|X11|CrOS")
HINTS = {"?1": Submission.Device.MOBILE, "?0": Submission.Device.DESKTOP}


def device_class(headers: Mapping[str, str]) -> str:
    """Mobile or desktop, by the browser's own hint, else by the name that it gives; else unknown.

    Tablets that call themselves desktops (iPads since 2019) are counted as what they say.
    """
    if hint := HINTS.get(headers.get("Sec-CH-UA-Mobile", "").strip()):
        return hint
    name = headers.get("User-Agent", "")[:500]
    if MOBILE.search(name):
        return Submission.Device.MOBILE
    return Submission.Device.DESKTOP if DESKTOP.search(name) else Submission.Device.UNKNOWN
