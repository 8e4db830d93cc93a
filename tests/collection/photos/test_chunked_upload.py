"""Photos in parts: they go on where they stopped, twice is once, and nothing is left behind."""

import hashlib
import io
import uuid
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone
from PIL import Image
from pytest_django import Settings

from collection.access.form_tokens import Proof
from collection.models import Contributor, Dish, Photo, PhotoPart
from collection.photos import chunked_upload
from tests.collection.make import make_contributor, make_dish, make_photo_bytes, page, stranger, upload

pytestmark = pytest.mark.django_db
STEP = 20_000


def noisy() -> bytes:
    """A photo of several parts."""
    buffer = io.BytesIO()
    Image.effect_noise((400, 300), 200).convert("RGB").save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


DATA = noisy()


class Phone:
    """Somebody who sends one photo of a dish in parts, with a token of their own."""

    def __init__(self, data: bytes = DATA) -> None:
        self.contributor: Contributor = make_contributor()
        self.dish: Dish = make_dish(contributor=self.contributor)
        self.data, self.sha256 = data, hashlib.sha256(data).hexdigest()
        self.token = Proof.new("photo", self.contributor.pk, self.dish.pk).token

    def send(
        self, start: int, size: int = STEP, changes: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[int, dict[str, Any]]:
        piece = self.data[start : start + size]
        form = {"proof": self.token, "sha256": self.sha256, "start": str(start), **changes}
        if piece:
            form["part"] = upload(piece, "part")
        response = stranger().post("/photo/part/", form)
        return response.status_code, response.json()

    def send_all(self) -> None:
        for start in range(0, len(self.data), STEP):
            self.send(start)

    def finish(self) -> str:
        return page(stranger(), "/photo/", {"proof": self.token, "whole": self.sha256})


def files() -> list[str]:
    return chunked_upload.list_part_files()


def test_parts_become_the_photo_and_are_gone() -> None:
    phone = Phone()
    phone.send_all()
    assert len(files()) > 2
    assert "Your photo arrived" in phone.finish()
    photo = Photo.objects.get()
    assert (photo.sha256, photo.width, photo.dish) == (phone.sha256, 400, phone.dish)
    assert files() == [] and PhotoPart.objects.count() == 0


def test_every_answer_says_how_much_is_here() -> None:
    phone = Phone()
    assert phone.send(0) == (200, {"here": STEP})
    assert phone.send(0) == (200, {"here": STEP})
    assert phone.send(len(DATA)) == (200, {"here": STEP})
    assert phone.send(STEP, 5) == (200, {"here": STEP + 5})
    assert PhotoPart.objects.count() == len(files()) == 2


def test_part_that_comes_too_early_is_not_kept() -> None:
    phone = Phone()
    assert phone.send(STEP) == (200, {"here": 0})
    assert files() == []


def test_photo_goes_on_after_a_reload_with_another_token() -> None:
    phone = Phone()
    phone.send(0)
    phone.token = Proof.new("photo", phone.contributor.pk, phone.dish.pk).token
    assert phone.send(len(DATA)) == (200, {"here": STEP})
    phone.send_all()
    assert "Your photo arrived" in phone.finish()


def test_finishing_twice_is_one_photo() -> None:
    phone = Phone()
    phone.send_all()
    assert "Your photo arrived" in phone.finish()
    assert "Your photo arrived" in phone.finish()
    assert Photo.objects.count() == 1


def test_photo_that_is_not_whole_gets_a_sentence_and_can_go_on() -> None:
    phone = Phone()
    phone.send(0)
    assert "did not arrive whole" in phone.finish()
    assert Photo.objects.count() == 0
    phone.send_all()
    assert "Your photo arrived" in phone.finish()


def test_other_bytes_than_announced_are_no_photo() -> None:
    phone = Phone()
    phone.sha256 = "0" * 64
    phone.send_all()
    assert "did not arrive whole" in phone.finish()
    assert Photo.objects.count() == 0


def test_what_is_no_photo_is_refused_at_the_end() -> None:
    phone = Phone(b"hello" * 10_000)
    phone.send_all()
    assert "could not be read" in phone.finish()
    assert Photo.objects.count() == 0


def test_nobody_sends_or_finishes_parts_of_somebody_else() -> None:
    phone, other = Phone(), Phone()
    phone.send_all()
    assert other.send(len(DATA)) == (200, {"here": 0})
    assert "did not arrive whole" in other.finish()
    other.token = Proof.new("photo", other.contributor.pk, phone.dish.pk).token
    form = {"proof": other.token, "sha256": phone.sha256, "start": "0", "part": upload(b"x")}
    assert stranger().post("/photo/part/", form).status_code == 404


@pytest.mark.parametrize("token", ["", "forged", "dish"])
def test_parts_need_the_token_of_the_photo(token: str) -> None:
    phone = Phone()
    phone.token = Proof.new("dish", phone.contributor.pk, phone.dish.pk).token if token == "dish" else token
    status, said = phone.send(0)
    assert status == 403 and "nothing was saved" in said["error"] and files() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": ""},
        {"sha256": "x" * 64},
        {"sha256": "a" * 63},
        {"sha256": "A" * 64},
        {"sha256": "a" * 64 + "\0"},
        {"start": ""},
        {"start": "-1"},
        {"start": "1.5"},
        {"start": "٣"},
        {"start": "9" * 30},
        {"start": "\0"},
    ],
)
def test_parts_that_say_nonsense_get_a_sentence(changes: dict[str, str]) -> None:
    status, said = Phone().send(0, changes=changes)
    assert status == 400 and "could not be read" in said["error"] and files() == []


@pytest.mark.parametrize("whole", ["x", "\0", "a" * 64, "../../secret", "A" * 5000])
def test_photos_that_never_came_get_a_sentence(whole: str) -> None:
    phone = Phone()
    text = page(stranger(), "/photo/", {"proof": phone.token, "whole": whole})
    assert "did not arrive whole" in text and Photo.objects.count() == 0


def test_parts_are_limited_in_size(settings: Settings) -> None:
    status, said = Phone(b"x" * (chunked_upload.LARGEST_PART + 1)).send(0, chunked_upload.LARGEST_PART + 1)
    assert status == 400 and "larger than 15 MB" in said["error"]
    settings.MAX_PHOTO_BYTES = STEP + 5
    phone = Phone()
    assert phone.send(0)[0] == 200
    assert phone.send(STEP)[0] == 400


@pytest.mark.parametrize("limit", ["MOST_BYTES_A_DISH", "MOST_BYTES_IN_ALL", "MOST_PARTS"])
def test_unfinished_photos_are_limited(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setattr(chunked_upload, limit, 1)
    phone = Phone()
    answers = [phone.send(0), phone.send(STEP)]
    assert any(status == 400 and "Too much has been sent" in said["error"] for status, said in answers)
    assert len(files()) <= 1


def test_other_methods_are_refused() -> None:
    for method in ("get", "put", "delete"):
        assert getattr(stranger(), method)("/photo/part/").status_code == 405


def test_parts_of_yesterday_are_swept_and_newer_ones_stay() -> None:
    old, new = Phone(), Phone()
    old.send(0)
    PhotoPart.objects.update(created_at=timezone.now() - timedelta(hours=25))
    new.send(0)
    assert chunked_upload.delete_stale_parts() == 1
    assert [row.dish for row in PhotoPart.objects.all()] == [new.dish]
    assert len(files()) == 1


def test_files_that_no_row_names_are_swept_once_they_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chunked_upload.delete_stale_parts() == 0
    default_storage.save(f"parts/{uuid.uuid4().hex}", ContentFile(b"lost"))
    chunked_upload.delete_stale_parts()
    assert len(files()) == 1
    monkeypatch.setattr(chunked_upload, "LIFE", timedelta(seconds=-1))
    chunked_upload.delete_stale_parts()
    assert files() == []


def test_parts_of_one_photo_leave_those_of_another_alone() -> None:
    phone = Phone()
    phone.send_all()
    first = phone.sha256
    phone.data = make_photo_bytes()
    phone.sha256 = hashlib.sha256(phone.data).hexdigest()
    phone.send_all()
    chunked_upload.delete_photo_parts(phone.dish, first)
    assert "Your photo arrived" in phone.finish()


def test_parts_behind_a_gap_do_not_count_until_it_is_filled() -> None:
    phone = Phone()
    for start in (0, STEP, 2 * STEP):
        phone.send(start)
    PhotoPart.objects.get(start=STEP).delete()
    assert phone.send(len(DATA)) == (200, {"here": STEP})
    assert "did not arrive whole" in phone.finish()
    assert phone.send(STEP) == (200, {"here": 3 * STEP})


def test_photo_whose_stored_part_is_lost_did_not_arrive_whole() -> None:
    phone = Phone()
    phone.send_all()
    default_storage.delete(PhotoPart.objects.order_by("start")[0].file)
    assert "did not arrive whole" in phone.finish() and Photo.objects.count() == 0


def test_same_part_that_came_over_another_line_meanwhile_is_stored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    phone = Phone()
    check_limits = chunked_upload.check_limits

    def meanwhile(dish: Dish, size: int) -> None:
        """The other line is quicker."""
        monkeypatch.setattr(chunked_upload, "check_limits", check_limits)
        assert phone.send(0) == (200, {"here": STEP})
        check_limits(dish, size)

    monkeypatch.setattr(chunked_upload, "check_limits", meanwhile)
    assert phone.send(0) == (200, {"here": STEP})
    assert len(files()) == PhotoPart.objects.count() == 1
