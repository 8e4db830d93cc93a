"""Sending twice does no harm: the form's UUID and the hash of its content decide what a submission is."""

import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, transaction

from collection.dishes.receipts import new_receipt
from collection.models import Contributor, Dish, Photo, Submission
from wwd.base.admission import storing

if TYPE_CHECKING:
    from collection.access.request_info import Circumstances

ATTEMPTS = 5
KNOWN_AND_SENT = """SELECT EXISTS (SELECT 1 FROM collection_submission WHERE form = %s),
  (SELECT COUNT(*) FROM collection_dish WHERE contributor_id = %s AND created_at >= %s)"""


@dataclass(frozen=True)
class Entry:
    """A form in the ledger. `same`: sent before with the same content. `other`: sent before with other content."""

    submission: Submission
    same: bool = False
    other: bool = False


def content_hash(content: Mapping[str, Any]) -> str:
    """SHA-256 of the normalised fields."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def earlier_entry(form: uuid.UUID, digest: str) -> Entry | None:
    """What the ledger knows about this form."""
    submission = Submission.objects.filter(pk=form).select_related("dish", "photo").first()
    if submission is None:
        return None
    same = submission.content_hash == digest
    return Entry(submission, same=same, other=not same)


def known_and_sent(form: uuid.UUID, contributor: Contributor, since: datetime) -> tuple[bool, int]:
    """Whether the ledger knows this form, and how many dishes of this person there are since then: in one question,
    because each dish asks it."""
    values = (
        Submission._meta.pk.get_db_prep_value(form, connection),
        Contributor._meta.pk.get_db_prep_value(contributor.pk, connection),
        Dish._meta.get_field("created_at").get_db_prep_value(since, connection),
    )
    with connection.cursor() as cursor:
        cursor.execute(KNOWN_AND_SENT, values)
        known, sent = cursor.fetchone()
    return bool(known), int(sent)


def record_submission(
    form: uuid.UUID,
    purpose: str,
    contributor: Contributor,
    digest: str,
    write: Callable[[], Dish | Photo],
    how: "Circumstances | None" = None,
    number: str = "",
) -> Entry:
    """Runs `write` and enters its row, once for each form: of parallel requests one writes, the others find it.

    `number`: the receipt number that is wanted; where it is taken, and where none is wanted, another is given. The form
    is looked for before anything is written, and entered after it, in one transaction: where somebody else entered it
    meanwhile, what was written is taken back.
    """
    wanted = iter([number])
    return enter_with_retry(
        lambda: (
            earlier_entry(form, digest)
            or create_ledger_entry(form, purpose, contributor, digest, write(), how, next(wanted, ""))
        )
    )


def enter_with_retry(enter: Callable[[], Entry]) -> Entry:
    """Runs `enter` in a transaction, again where the form was entered meanwhile or the receipt number is taken."""
    for _attempt in range(ATTEMPTS):
        try:
            with transaction.atomic():
                entry = enter()
                storing.step_aside()
            return entry
        except IntegrityError:
            continue
    raise IntegrityError("The submission could not be entered.")


def create_ledger_entry(
    form: uuid.UUID,
    purpose: str,
    contributor: Contributor,
    digest: str,
    row: Dish | Photo,
    how: "Circumstances | None" = None,
    number: str = "",
) -> Entry:
    """A new line of the ledger, with the receipt number that is wanted or a new one.

    Raises IntegrityError where the form has a line, or its receipt number is taken.
    """
    submission = Submission.objects.create(
        form=form,
        purpose=purpose,
        contributor=contributor,
        content_hash=digest,
        dish=row if isinstance(row, Dish) else row.dish,
        photo=row if isinstance(row, Photo) else None,
        receipt=number or new_receipt(),
        **({"device": how.device, "network": how.network, "flags": list(how.flags)} if how else {}),
    )
    return Entry(submission)


def replayed_receipt(form: uuid.UUID | None, digest: str) -> str | None:
    """The receipt of a dish sent before with the same words: all that somebody without proof may learn."""
    entry = earlier_entry(form, digest) if form else None
    return entry.submission.receipt if entry and entry.same else None


def receipt_of(dish: Dish) -> str:
    """The number that its contributor was given first; empty for imported dishes."""
    first = Submission.objects.filter(dish=dish, purpose=Submission.Purpose.DISH).order_by("created_at").first()
    return first.receipt if first else ""
