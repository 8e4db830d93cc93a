"""What each step of the journey writes. Every function may be called twice with the same form without harm."""

from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from collection.access.daily_quotas import DAY, lock_contributor, take_dish, take_photo
from collection.access.form_tokens import Proof
from collection.access.request_info import IN_A_CROWD, Circumstances
from collection.consent.record import register_contributor, shown_consent
from collection.dishes.idempotency import (
    Entry,
    content_hash,
    create_ledger_entry,
    earlier_entry,
    enter_with_retry,
    known_and_sent,
    record_submission,
)
from collection.dishes.write import change_dish, save_dish
from collection.leaderboard.counters import update_leaderboard_counters
from collection.models import AboutYou, Contributor, Dish, Photo, Submission
from collection.photos import process
from collection.photos.process import Prepared
from collection.text import fold_spelling
from collection.vocabularies.places import countries_for

CONFIRMATIONS = ("taken_by_me", "may_be_shared", "no_people", "is_photograph")


def submit_dish(proof: Proof, content: dict[str, Any], how: Circumstances | None = None, number: str = "") -> Entry:
    """A new dish, once for each form. Somebody who agreed on the same page becomes a contributor with it.

    `number`: the receipt number that a phone made; another is given where it is taken. Raises QuotaReachedError where
    this person has described enough for a day.
    """
    digest, wanted = content_hash(content), iter([number])
    crowd = how is not None and IN_A_CROWD in how.flags

    def enter() -> Entry:
        if shown := shown_consent(proof):
            register_contributor(shown, proof.person, crowd=crowd)
        # One person's dishes are written one after the other: nobody adds to ledger and quota after they were asked.
        contributor = lock_contributor(proof.person)
        known, sent = known_and_sent(proof.form, contributor, timezone.now() - DAY)
        if known and (earlier := earlier_entry(proof.form, digest)):
            return earlier
        take_dish(contributor, sent)
        dish = save_dish(**content, contributor=contributor, source=contributor.source)
        return create_ledger_entry(
            proof.form, Submission.Purpose.DISH, contributor, digest, dish, how, next(wanted, "")
        )

    return enter_with_retry(enter)


@transaction.atomic
def submit_correction(proof: Proof, contributor: Contributor, dish: Dish, content: dict[str, Any]) -> Entry:
    """New words for a dish; the old ones stay in its history."""

    def write() -> Dish:
        change_dish(dish, **content, by_contributor=contributor)
        return dish

    digest = content_hash({"correction": dish.pk, **content})
    return replace_if_changed(
        record_submission(proof.form, Submission.Purpose.MORE, contributor, digest, write), digest, write
    )


@transaction.atomic
def submit_more(proof: Proof, contributor: Contributor, dish: Dish, words: dict[str, Any]) -> Entry:
    """The rest of B.4. Sent again with other words, the dish is corrected."""

    def write() -> Dish:
        change_dish(dish, words, by_contributor=contributor)
        return dish

    digest = content_hash(words)
    return replace_if_changed(
        record_submission(proof.form, Submission.Purpose.MORE, contributor, digest, write), digest, write
    )


def replace_if_changed(entry: Entry, digest: str, write: Any) -> Entry:
    """Writes again where the form had been entered with other content; for forms that change one and the same row."""
    if entry.other:
        write()
        entry.submission.content_hash = digest
        entry.submission.save(update_fields=["content_hash"])
    return entry


def photo_digest(dish: Dish, sha256: str) -> str:
    return content_hash({"photo": sha256, "dish": dish.pk})


def photo_sent(proof: Proof, dish: Dish, sha256: str) -> Photo | None:
    """The photo that this form brought before, where it was the same one."""
    entry = earlier_entry(proof.form, photo_digest(dish, sha256))
    return entry.submission.photo if entry and entry.same else None


def submit_photo(proof: Proof, contributor: Contributor, dish: Dish, prepared: Prepared) -> Photo:
    """The photo's row, once for each form and content. Another image from the same form takes the place of the draft.

    Files are written before the transaction and removed after it where no row names them. Raises PhotoError where the
    dish has enough photos.
    """
    if known := photo_sent(proof, dish, prepared.sha256):
        return known
    digest = photo_digest(dish, prepared.sha256)
    file, thumbnail = process.store_photo_files(prepared)
    written: list[Photo] = []

    def write() -> Photo:
        photo = Photo.objects.create(
            dish=dish,
            file=file,
            thumbnail=thumbnail,
            sha256=prepared.sha256,
            width=prepared.width,
            height=prepared.height,
        )
        written[:] = [photo]
        return photo

    def write_another() -> Photo:
        take_photo(dish)
        return write()

    try:
        with transaction.atomic():
            entry = record_submission(proof.form, Submission.Purpose.PHOTO, contributor, digest, write_another)
            former = entry.submission.photo
            if entry.other or former is None:
                entry.submission.photo, entry.submission.content_hash = write(), digest
                entry.submission.save(update_fields=["photo", "content_hash"])
    except process.PhotoError:
        process.delete_stored_files(file, thumbnail)
        raise
    return finalise_photo(entry.submission.photo, former, written, (file, thumbnail))


def finalise_photo(photo: Photo | None, former: Photo | None, written: list[Photo], paths: tuple[str, str]) -> Photo:
    """Clears up after `submit_photo`: files that a parallel request made needless, a draft that was replaced."""
    if not written or photo != written[0]:
        process.delete_stored_files(*paths)
    if former and former != photo and former.state == Photo.State.DRAFT:
        discard_photo(former)
    assert photo is not None
    return photo


def confirm_photo(photo: Photo, caption: str) -> None:
    """The contributor confirmed all four statements: the photo waits for a steward."""
    if photo.state == Photo.State.DRAFT:
        photo.state = Photo.State.WAITING
    photo.caption = caption
    for name in CONFIRMATIONS:
        setattr(photo, name, True)
    photo.save()


def discard_photo(photo: Photo) -> None:
    """A draft goes away, row first, then its files."""
    paths = (photo.file, photo.thumbnail)
    photo.delete()
    process.delete_stored_files(*paths)


class NameTakenError(Exception):
    """Somebody else shows a name of the same spelling."""


@transaction.atomic
def store_personal_details(contributor: Contributor, answers: dict[str, Any]) -> None:
    """Personal details with the moment of their own consent; what was told before is replaced. Raises
    NameTakenError.
    """
    key = fold_spelling(answers["alias"])[:240]
    if key and Contributor.objects.exclude(pk=contributor.pk).filter(alias_key=key).exists():
        raise NameTakenError
    nationalities = answers["nationalities"]
    known = countries_for(nationalities)
    about, _created = AboutYou.objects.update_or_create(
        contributor=contributor,
        defaults={
            "agreed_at": timezone.now(),
            "year_of_birth": answers["year_of_birth"],
            "nationalities_more": ", ".join(name for name in nationalities if name not in known)[:200],
            "name": answers["name"],
            "email": answers["email"],
            "credit_me": answers["credit_me"],
            "may_contact": answers["may_contact"],
        },
    )
    about.nationalities.set(set(known.values()))
    if answers["alias"] != contributor.alias:
        contributor.alias, contributor.alias_key = answers["alias"], key or None
        try:
            with transaction.atomic():
                contributor.save(update_fields=["alias", "alias_key"])
        except IntegrityError:
            # Somebody else was faster by a moment.
            raise NameTakenError from None
        update_leaderboard_counters(Dish.objects.filter(contributor=contributor).values_list("pk", flat=True))
