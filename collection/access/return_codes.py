"""Return codes: sixteen digits in four groups, like an airtime voucher. The last one is a check digit.

A code that a phone made without a network has twenty, so that the two never meet: 63 random bits, which nobody finds by
trying SHA-256 either. The phone sends their SHA-256 (a *seal*), and the server keeps the HMAC of that.

A code proves more than a cookie or a form: it opens everything of one person. Only its HMAC is stored. The digits
are derived from a random seed and the site's key, so that a page that was lost on its way can show them again; the
seed is thrown away with the first use, or once the hour for that is over.
"""

import hashlib
import hmac
import re
import secrets
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from collection.access.attempt_limits import TooManyAttemptsError, column_of, count_try, wait_after
from collection.access.turns import come_back
from collection.check_digits import check_digit
from collection.dishes.receipts import read_digits
from collection.models import PhoneCode, ReturnCode

__all__ = [
    "MistypedCodeError",
    "TooManyAttemptsError",
    "has_code",
    "issue_first_code",
    "issue_return_code",
    "person_for",
    "read_code",
    "revoke_return_codes",
    "shown_again",
    "store_phone_code",
]

LENGTH = 16
LENGTH_OF_PHONES = 20
SEAL = re.compile("[0-9a-f]{64}")
MOST_SEALS = 20
SHOWN_AGAIN = timedelta(hours=1)


class MistypedCodeError(ValueError):
    """No such number can be a code: a digit is missing or wrong. The text says so."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "The code has 16 digits, or 20 if a phone made it without a network, and one of these is missing or"
                " wrong. Compare it with your note."
            )
        )


def issue_return_code(person: uuid.UUID, kind: str) -> str:
    """A new code for this person, in four groups; the former one is worth nothing from now on."""
    digits, values = new_code(kind)
    ReturnCode.objects.update_or_create(person=person, defaults=values)
    PhoneCode.objects.filter(person=person).update(person=None)
    return format_return_code(digits)


def issue_first_code(person: uuid.UUID, kind: str) -> str | None:
    """The first code of this person; shown again for an hour, None once they have one that is not shown any more."""
    digits, values = new_code(kind)
    if add_first({"person": person, **values}):
        return format_return_code(digits)
    return None if PhoneCode.objects.filter(person=person).exists() else shown_again(person)


def add_first(values: dict[str, Any]) -> bool:
    """Inserts the row of a return code for a person who has no code of any kind; whether it is there now.

    In one statement, because the page of every first dish asks for it.
    """
    fields = {name: column_of(ReturnCode, name) for name in values}
    given = [fields[name].get_db_prep_value(value, connection) for name, value in values.items()]
    columns = ", ".join(str(field.column) for field in fields.values())
    places = ", ".join(["%s"] * len(fields))
    statement = (
        f"INSERT INTO collection_returncode ({columns}) SELECT {places}"  # noqa: S608  (names of our own columns)
        " WHERE NOT EXISTS (SELECT 1 FROM collection_phonecode WHERE person = %s) ON CONFLICT (person) DO NOTHING"
    )
    person = fields["person"].get_db_prep_value(values["person"], connection)
    with connection.cursor() as cursor:
        cursor.execute(statement, [*given, person])
        return bool(cursor.rowcount == 1)


def new_code(kind: str) -> tuple[str, dict[str, Any]]:
    """Digits, and the columns of the row that recognises them."""
    seed = secrets.token_urlsafe(32)
    digits = digits_of(seed, settings.SECRET_KEY)
    digest = digest_of(digits, settings.SECRET_KEY)
    return digits, {"kind": kind, "seed": seed, "digest": digest, "created_at": timezone.now(), "used_at": None}


def shown_again(person: uuid.UUID) -> str | None:
    """The code, for the page that shows it, where that page was lost on its way: within an hour, until first used."""
    since = timezone.now() - SHOWN_AGAIN
    row = ReturnCode.objects.filter(person=person, created_at__gte=since, used_at=None).first()
    if row is None:
        return None
    digits = digits_of(row.seed, settings.SECRET_KEY)
    genuine = hmac.compare_digest(digest_of(digits, settings.SECRET_KEY), row.digest)
    return format_return_code(digits) if genuine else None


def forget_seeds() -> int:
    """Codes that no page shows any more keep their HMAC only; returns how many were left with it."""
    past = Q(created_at__lt=timezone.now() - SHOWN_AGAIN) | ~Q(used_at=None)
    return ReturnCode.objects.filter(past).exclude(seed="").update(seed="")


def store_phone_code(person: uuid.UUID, kind: str, seal: str) -> None:
    """From now on the code that a phone made opens what is this person's, unless it was ever anybody's before."""
    if not SEAL.fullmatch(seal) or PhoneCode.objects.filter(digest__in=list(digests_of(seal))).exists():
        return
    if PhoneCode.objects.filter(person=person).count() < MOST_SEALS:
        values = {"person": person, "kind": kind, "created_at": timezone.now()}
        PhoneCode.objects.get_or_create(digest=digest_of(seal, settings.SECRET_KEY), defaults=values)


def person_of_seal(seal: str) -> uuid.UUID | None:
    """Whom a phone's code belongs to: its person, or the id of the person who begins with it; None for no seal."""
    if not SEAL.fullmatch(seal):
        return None
    row = PhoneCode.objects.filter(digest__in=list(digests_of(seal))).exclude(person=None).first()
    made = salted_hmac("wwd.code.person", seal, secret=settings.SECRET_KEY, algorithm="sha256").digest()
    return row.person if row else uuid.UUID(bytes=made[:16], version=4)


def seal_of(digits: str) -> str:
    """What a phone sends of a code that it made."""
    return hashlib.sha256(digits.encode()).hexdigest()


def has_code(person: uuid.UUID) -> bool:
    return any(rows.filter(person=person).exists() for rows in (ReturnCode.objects, PhoneCode.objects))


def revoke_return_codes(person: uuid.UUID) -> None:
    """This person's codes open nothing any more."""
    ReturnCode.objects.filter(person=person).delete()
    PhoneCode.objects.filter(person=person).delete()


def person_for(text: str, kind: str, network: str = "") -> uuid.UUID | None:
    """Whose code this is, typed with digits of any script, spaces or dashes; None where nobody has it.

    A right code is always taken, whatever others tried: 10**15 codes exist, so that guessing one of a million takes
    a thousand million tries. Wrong ones are counted for their network, which is asked to wait after some.
    Raises MistypedCodeError where the check digit says so, and TooManyAttemptsError. Call it outside a transaction:
    tries are counted whether or not what follows succeeds.
    """
    digits = read_code(text)
    person = owner_of(digits, kind)
    if person is None:
        if seconds := wait_after(count_try(f"code {network}")):
            raise TooManyAttemptsError(seconds)
        return None
    come_back(person)
    return person


def owner_of(digits: str, kind: str) -> uuid.UUID | None:
    """Whose code these digits are. A code that a page showed is not shown again from now on."""
    if len(digits) == LENGTH_OF_PHONES:
        made = PhoneCode.objects.filter(kind=kind, digest__in=list(digests_of(seal_of(digits)))).first()
        return made.person if made else None
    row = ReturnCode.objects.filter(kind=kind, digest__in=list(digests_of(digits))).first()
    if row is None:
        return None
    ReturnCode.objects.filter(pk=row.pk).update(used_at=timezone.now(), seed="")
    return row.person


def read_code(text: str) -> str:
    """The sixteen or twenty digits in what somebody typed or pasted, letters that look like digits read as these.

    Raises MistypedCodeError.
    """
    digits = read_digits(text, LENGTH, LENGTH_OF_PHONES)
    if digits is None:
        raise MistypedCodeError
    return digits


def format_return_code(digits: str) -> str:
    """1234567812345678 → 1234 5678 1234 5678."""
    return " ".join(digits[start : start + 4] for start in range(0, len(digits), 4))


def digits_of(seed: str, key: str) -> str:
    number = int.from_bytes(salted_hmac("wwd.code.digits", seed, secret=key, algorithm="sha256").digest())
    digits = f"{number % 10 ** (LENGTH - 1):0{LENGTH - 1}d}"
    return digits + check_digit(digits)


def digest_of(digits: str, key: str) -> str:
    return salted_hmac("wwd.code", digits, secret=key, algorithm="sha256").hexdigest()


def digests_of(digits: str) -> Iterator[str]:
    """The digest under the present key and under former ones."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield digest_of(digits, key)
