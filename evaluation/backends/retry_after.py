"""How long a provider asks to wait, read from the headers of its answer. Pure."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Nobody waits longer, whatever a provider says; where patience is shorter, the run pauses before.
LONGEST = 3600.0
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)")
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
WHAT = ("requests", "images", "tokens")


def asked_wait(headers: Mapping[str, str], now: datetime | None = None) -> float:
    """Seconds that the provider asks to wait, an hour at most; 0 where it says nothing that can be read.

    `Retry-After` holds seconds or a date (RFC 9110, 10.2.3); a date counts from the answer's own `Date` where there is
    one, so that clocks may differ.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = number_of(headers.get(name, ""))
        if seconds is not None:
            return clamp_wait(seconds * scale)
    until = seconds_until(headers.get("retry-after", ""), date_of(headers.get("date", "")) or now or datetime.now(UTC))
    if until > 0:
        return clamp_wait(until)
    resets = [seconds_of(headers.get(f"x-ratelimit-reset-{what}", "")) for what in WHAT]
    left = [str(headers.get(f"x-ratelimit-remaining-{what}", "")) for what in WHAT]
    spent = [reset for reset, remaining in zip(resets, left, strict=True) if remaining == "0"]
    return clamp_wait(max(spent or resets))


def clamp_wait(seconds: float) -> float:
    return min(max(0.0, seconds), LONGEST)


def number_of(text: str) -> float | None:
    """The text as a finite number; None for anything else."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def seconds_until(text: str, now: datetime) -> float:
    """Seconds from `now` until an HTTP date; 0 for what is none."""
    date = date_of(text)
    return (date - now).total_seconds() if date else 0.0


def date_of(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def seconds_of(text: str) -> float:
    """Seconds of a duration such as `1s`, `6m0s`, `20ms`; 0 for anything else."""
    found = DURATION.findall(text)
    if DURATION.sub("", text) != "":
        return 0.0
    return sum((number_of(number) or 0.0) * UNITS[unit] for number, unit in found)
