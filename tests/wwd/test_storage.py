"""Files in Google Cloud Storage, over real HTTP against a server that answers as a bucket with uniform access does."""

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django import Settings
from requests import Response

from tests.wwd.bucket import BUCKET, Bucket, bucket
from tests.wwd.processes import environment, snippet
from wwd.base.object_storage import Failing, request_with_timeout
from wwd.base.unavailable import StorageUnavailableError

CONTENT = "bytes(range(256)) * 300"
ROUND = f"""
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
import json
content = {CONTENT}
name = "images/ab/Ndolé.jpg"
before = default_storage.exists(name)
saved = default_storage.save(name, ContentFile(content))
after = default_storage.exists(name)
with default_storage.open(name) as file:
    same = file.read() == content
size = default_storage.size(name)
default_storage.save(name, ContentFile(b"again"))
with default_storage.open(name) as file:
    again = file.read().decode()
default_storage.delete(name)
print(json.dumps([before, saved, after, same, size, again, default_storage.exists(name)]))
"""
MISSING = """
from django.core.files.storage import default_storage
try:
    default_storage.open("images/gone")
except FileNotFoundError:
    print("not held")
"""
KEEP = """
from evaluation import content_store
sha256 = content_store.store_content(b"an image")
assert content_store.store_content(b"an image") == sha256
assert content_store.read_content(sha256) == b"an image"
print(content_store.path_of(sha256))
"""
HANGS = """
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from wwd.base.unavailable import StorageUnavailableError, is_temporary
for what in (
    lambda: default_storage.exists("images/a"),
    lambda: default_storage.open("images/a"),
    lambda: default_storage.save("images/a", ContentFile(b"a")),
    lambda: default_storage.delete("images/a"),
    lambda: default_storage.size("images/a"),
):
    try:
        what()
    except StorageUnavailableError as error:
        assert is_temporary(error)
        print("away")
"""
READY = """
from django.test import Client
print(Client(headers={"host": "localhost"}).get("/readyz").json()["storage"])
"""


@pytest.fixture
def store() -> Iterator[Bucket]:
    with bucket() as server:
        yield server


def with_bucket(folder: Path, store: Bucket, name: str = BUCKET) -> dict[str, str]:
    return environment(
        folder, GS_BUCKET_NAME=name, STORAGE_EMULATOR_HOST=store.address, SECRET_KEY="0123456789abcdef" * 3
    )


def test_a_file_goes_to_the_bucket_and_comes_back_whole(tmp_path: Path, store: Bucket) -> None:
    before, saved, after, same, size, again, gone = json.loads(snippet(with_bucket(tmp_path, store), ROUND))
    assert (before, after, gone) == (False, True, False)
    assert saved == "images/ab/Ndolé.jpg"
    assert same
    assert size == 256 * 300
    assert again == "again"
    assert any("POST /upload/" in line for line in store.requests)
    assert not (tmp_path / "media").exists()


def test_a_file_that_is_not_there_is_reported_as_such(tmp_path: Path, store: Bucket) -> None:
    assert snippet(with_bucket(tmp_path, store), MISSING) == "not held"


def test_images_are_kept_in_the_bucket_under_their_hash_once(tmp_path: Path, store: Bucket) -> None:
    path = snippet(with_bucket(tmp_path, store), KEEP)
    assert store.objects == {path: (b"an image", store.objects[path][1])}
    assert sum("POST /upload/" in line for line in store.requests) == 1


def test_a_bucket_that_answers_is_ready_and_an_unknown_one_is_not(tmp_path: Path, store: Bucket) -> None:
    assert snippet(with_bucket(tmp_path, store), READY) == "True"
    assert snippet(with_bucket(tmp_path, store, name="other"), READY).splitlines()[-1] == "False"


def test_a_bucket_that_hangs_is_waited_for_a_little(tmp_path: Path) -> None:
    """The client itself waits for minutes; this process is given two."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        away = environment(
            tmp_path,
            GS_BUCKET_NAME=BUCKET,
            STORAGE_EMULATOR_HOST=address,
            SECRET_KEY="0123456789abcdef" * 3,
            WWD_STORAGE_SECONDS="1",
        )
        assert snippet(away, HANGS).split() == ["away"] * 5


def test_a_bucket_that_fails_now_and_then_is_asked_again(tmp_path: Path, store: Bucket) -> None:
    store.failures = 2
    assert json.loads(snippet(with_bucket(tmp_path, store), ROUND))[0] is False
    assert store.failures == 0


def test_one_client_serves_all_requests_of_a_process(tmp_path: Path, store: Bucket) -> None:
    asked = "from django.core.files.storage import default_storage as s; print(s.client is s.client)"
    assert snippet(with_bucket(tmp_path, store), asked) == "True"


def test_after_a_pause_a_failing_bucket_is_tried_for_the_whole_time_again(settings: Settings) -> None:
    settings.STORAGE_SECONDS = 5
    failing, busy = Failing(), Response()
    busy.status_code = 503
    asked = []

    def request(method: str, url: str, timeout: float) -> Response:
        asked.append((method, url, timeout))
        return busy

    now = time.monotonic()
    failing.since, failing.last = now - 9, now - 1
    with pytest.raises(StorageUnavailableError):
        request_with_timeout(request, failing, "GET", "/a")
    assert asked == []
    failing.since, failing.last = now - 90, now - 60
    assert request_with_timeout(request, failing, "GET", "/a") is busy
    assert asked == [("GET", "/a", 5.0)] and failing.since >= now
