"""Recordings of consent texts: only MP3, small, never fetched before somebody asks, served to phones in parts."""

from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.test import Client
from pytest_django import Settings

from collection.consent.recordings import MOST_BYTES, RecordingError, attach_recording, path_of, validate_recording
from collection.models import ConsentText
from tests.collection.make import make_photo_bytes, make_steward, stranger, upload

pytestmark = pytest.mark.django_db

# Headers of layer III frames, and the length in bytes that ISO 11172-3 and 13818-3 give them.
FRAMES = {
    "MPEG-1, 128 kbit/s, 44.1 kHz": (b"\xff\xfb\x90\x00", 417),
    "MPEG-1, padded": (b"\xff\xfb\x92\x00", 418),
    "MPEG-2, 32 kbit/s, 22.05 kHz": (b"\xff\xf3\x40\xc0", 104),
    "MPEG-2.5, 8 kbit/s, 8 kHz": (b"\xff\xe3\x18\xc0", 72),
}
TAG = b"ID3\x04\x00\x00" + bytes([0, 0, 1, 2]) + bytes(130)


def frame(kind: str = "MPEG-2, 32 kbit/s, 22.05 kHz") -> bytes:
    head, length = FRAMES[kind]
    return head + bytes(length - len(head))


def mp3(frames: int = 20, tag: bytes = b"") -> bytes:
    return tag + frame() * frames


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_mp3_is_taken(kind: str) -> None:
    validate_recording(frame(kind) * 4)
    validate_recording(TAG + frame(kind) * 4)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"ID3",
        TAG,
        TAG[:20],
        frame() * 2,
        (frame() * 3)[:-1],
        frame() + bytes(400),
        b"RIFF" + bytes(400),
        b"OggS" + bytes(400),
        b"<html><script>alert(1)</script>" * 20,
        b"\xff" * 2000,
        b"\xff\xfd\x90\x00" * 200,
        b"\xff\xfb\xf0\x00" * 200,
        b"\xff\xfb\x9c\x00" * 200,
        b"\xff\xeb\x90\x00" * 200,
        make_photo_bytes(),
    ],
)
def test_what_is_no_whole_mp3_is_refused(data: bytes) -> None:
    with pytest.raises(RecordingError, match="not a whole MP3"):
        validate_recording(data)


def test_recording_that_is_too_large_for_a_phone_is_refused() -> None:
    with pytest.raises(RecordingError, match="larger than 3 MB"):
        validate_recording(mp3(MOST_BYTES // 104 + 1))


def english() -> ConsentText:
    return ConsentText.objects.get(language="en")


def send(client: Client, data: bytes | None) -> str:
    files = {"recording": upload(data, "text.mp3")} if data is not None else {}
    address = f"/admin/collection/consenttext/{english().pk}/recording/"
    return client.post(address, files, follow=True).content.decode()


def test_staff_upload_a_recording_and_the_page_offers_it_with_its_size(client: Client) -> None:
    client.force_login(make_steward("view_consenttext", "change_consenttext"))
    assert "The recording is stored." in send(client, mp3(300))
    text = stranger().get("/describe/").content.decode()
    assert f'href="/recordings/{english().recording}"' in text and "MP3, 30.5\xa0KB" in text
    assert "<audio" not in text and "preload" not in text
    response = stranger().get(f"/recordings/{english().recording}")
    assert response.content == mp3(300) and response.headers["Content-Type"] == "audio/mpeg"


@pytest.mark.parametrize("data", [None, b"", make_photo_bytes(), b"MZ" + bytes(500)])
def test_upload_that_is_no_mp3_gets_a_sentence_and_changes_nothing(client: Client, data: bytes | None) -> None:
    attach_recording(english(), mp3())
    before = english().recording
    client.force_login(make_steward("view_consenttext", "change_consenttext"))
    text = send(client, data)
    assert "Choose an MP3 file." in text or "not a whole MP3" in text
    assert english().recording == before and default_storage.exists(path_of(before))


def test_only_who_may_change_texts_uploads(client: Client) -> None:
    client.force_login(make_steward("view_consenttext"))
    address = f"/admin/collection/consenttext/{english().pk}/recording/"
    assert client.post(address, {"recording": upload(mp3())}).status_code == 403
    assert client.get(address).status_code == 405
    assert stranger().post(address, {"recording": upload(mp3())}).status_code == 302
    assert english().recording == ""


def test_new_recording_takes_the_place_of_the_former(settings: Settings) -> None:
    attach_recording(english(), mp3())
    former = english().recording
    attach_recording(english(), mp3(30))
    folder = Path(settings.STORAGES["default"]["OPTIONS"]["location"]) / "recordings"
    assert [path.name for path in folder.iterdir()] == [english().recording]
    assert stranger().get(f"/recordings/{former}").status_code == 404


@pytest.mark.parametrize(
    ("asked", "status", "first", "last"),
    [
        ("", 200, 0, 2080),
        ("bytes=0-99", 206, 0, 100),
        ("bytes=100-", 206, 100, 2080),
        ("bytes=-80", 206, 2000, 2080),
        ("bytes=0-999999", 206, 0, 2080),
        ("bytes=5000-", 200, 0, 2080),
        ("bytes=9-3", 200, 0, 2080),
        ("bytes=-", 200, 0, 2080),
        ("bytes=0-1,4-5", 200, 0, 2080),
        ("pages=1-2", 200, 0, 2080),
    ],
)
def test_phone_may_ask_for_a_part(asked: str, status: int, first: int, last: int) -> None:
    attach_recording(english(), mp3())
    response = stranger().get(f"/recordings/{english().recording}", headers={"Range": asked} if asked else None)
    assert response.status_code == status and response.content == mp3()[first:last]
    if status == 206:
        assert response.headers["Content-Range"] == f"bytes {first}-{last - 1}/2080"


@pytest.mark.parametrize("name", ["none.mp3", "x.mp3"])
def test_recording_of_no_text_is_not_there(name: str) -> None:
    assert stranger().get(f"/recordings/{name}").status_code == 404


def test_recording_whose_file_is_lost_is_not_there() -> None:
    attach_recording(english(), mp3())
    default_storage.delete(path_of(english().recording))
    assert stranger().get(f"/recordings/{english().recording}").status_code == 404


def test_recordings_are_only_looked_at(client: Client) -> None:
    attach_recording(english(), mp3())
    assert client.post(f"/recordings/{english().recording}").status_code == 405


def test_recording_plays_on_the_page_that_a_browser_makes_for_it() -> None:
    attach_recording(english(), mp3())
    policy = stranger().get(f"/recordings/{english().recording}").headers["Content-Security-Policy"]
    assert "media-src 'self'" in policy and policy.startswith("default-src 'none'")
