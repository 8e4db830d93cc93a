"""The file cache of a worker's host: bounded, shared by processes, safe against torn and foreign copies."""

import hashlib
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_django import Settings

from evaluation import content_store
from tests.wwd.bucket import BUCKET, Bucket, bucket
from tests.wwd.processes import environment, snippet
from wwd.base.decode_memory import hold_file_lock
from wwd.base.file_cache import DIGITS, FileCache, get_file_cache

KILO = 1000
MOST = 40 * KILO


def content_of(number: int, size: int = KILO) -> bytes:
    return random.Random(number).randbytes(size)


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def add_files(cache: FileCache, *numbers: int) -> None:
    for number in numbers:
        assert cache.add_file(content_of(number), hash_of(content_of(number)))


def held_numbers(cache: FileCache, among: range) -> list[int]:
    return [number for number in among if cache.path_of(hash_of(content_of(number))).exists()]


def let_time_pass(cache: FileCache, number: int, seconds: float) -> None:
    """As if the file had been read so long ago."""
    at = time.time() - seconds
    os.utime(cache.path_of(hash_of(content_of(number))), (at, at))


def bytes_on_disk(folder: Path) -> int:
    """All files of a cache, looked at while nobody makes room. One that gets its name meanwhile counts once."""
    sizes: dict[int, int] = {}
    with hold_file_lock(folder / "lock", wait=True):
        for path in folder.glob("part-*"):
            with suppress(FileNotFoundError):
                sizes[path.stat().st_ino] = path.stat().st_size
        for path in folder.glob("*/*"):
            sizes[path.stat().st_ino] = path.stat().st_size
    return sum(sizes.values())


@pytest.fixture
def cache(tmp_path: Path) -> FileCache:
    return FileCache(tmp_path / "cache", MOST)


def test_what_was_added_is_read_by_others(cache: FileCache) -> None:
    add_files(cache, 1)
    assert FileCache(cache.folder, MOST).read_file(hash_of(content_of(1))) == content_of(1)
    assert cache.read_file(hash_of(content_of(2))) is None


def test_only_what_is_not_held_is_fetched(cache: FileCache) -> None:
    asked = []

    def fetch(sha256: str) -> bytes:
        asked.append(sha256)
        return content_of(1)

    name = hash_of(content_of(1))
    assert [cache.read_through(name, fetch) for _ in range(3)] == [content_of(1)] * 3
    assert asked == [name]


def test_what_was_read_last_stays(cache: FileCache) -> None:
    add_files(cache, *range(40))
    for number in range(40):
        let_time_pass(cache, number, 1000 - number)
    assert cache.read_file(hash_of(content_of(0)))
    add_files(cache, 40)
    held = held_numbers(cache, range(41))
    assert {0, 40} <= set(held)
    assert held[1] > 1
    assert held[1:] == list(range(held[1], 41))


@pytest.mark.parametrize("damage", ["cut", "other bytes", "empty"])
def test_a_damaged_copy_is_never_given_and_fetched_again(cache: FileCache, damage: str) -> None:
    add_files(cache, 1)
    name = hash_of(content_of(1))
    harmed = {"cut": content_of(1)[:500], "other bytes": content_of(2), "empty": b""}[damage]
    cache.path_of(name).write_bytes(harmed)
    assert cache.read_file(name) is None
    assert cache.read_through(name, lambda _: content_of(1)) == content_of(1)
    assert cache.read_file(name) == content_of(1)


def test_what_is_not_what_its_name_says_is_given_to_the_caller_but_not_kept(cache: FileCache) -> None:
    name = hash_of(content_of(1))
    half = content_of(1)[:500]
    assert cache.read_through(name, lambda _: half) == half
    assert cache.read_file(name) is None


def test_a_file_larger_than_the_cache_is_not_kept_and_takes_no_other_with_it(cache: FileCache) -> None:
    add_files(cache, 1)
    large = content_of(2, MOST + 1)
    assert not cache.add_file(large, hash_of(large))
    whole = content_of(3, MOST)
    assert cache.read_file(hash_of(content_of(1)))
    assert cache.add_file(whole, hash_of(whole))
    assert cache.read_file(hash_of(whole)) == whole
    assert held_numbers(cache, range(4)) == []


def test_a_cache_of_no_bytes_keeps_nothing_and_makes_no_folder(tmp_path: Path) -> None:
    cache = FileCache(tmp_path / "cache", 0)
    assert cache.read_through(hash_of(content_of(1)), lambda _: content_of(1)) == content_of(1)
    cache.remove_files([hash_of(content_of(1))])
    assert cache.remove_unused() == 0
    assert not cache.folder.exists()


def test_what_nobody_read_for_a_day_goes(cache: FileCache) -> None:
    add_files(cache, 1, 2)
    let_time_pass(cache, 1, 25 * 60 * 60)
    assert cache.remove_unused() == 1
    assert held_numbers(cache, range(3)) == [2]
    assert cache.read_held() == KILO


@pytest.mark.parametrize("noted", ["", "x", "7", "9" * (DIGITS + 1)])
def test_a_damaged_note_of_what_is_held_is_counted_anew(cache: FileCache, noted: str) -> None:
    add_files(cache, 1, 2)
    (cache.folder / "held").write_text(noted)
    add_files(cache, 3)
    assert cache.read_held() == 3 * KILO


def test_a_folder_that_cannot_be_written_costs_the_copies_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    cache = FileCache(tmp_path / "cache", MOST)
    assert cache.read_through(hash_of(content_of(1)), lambda _: content_of(1)) == content_of(1)
    assert not cache.add_file(content_of(1), hash_of(content_of(1)))


def use_cache(folder: Path, seed: int) -> list[int]:
    """Reads and adds many files; returns the numbers of those that came back as other bytes."""
    cache, choice, wrong = FileCache(folder, MOST), random.Random(seed), []
    contents = [content_of(number, KILO + 10 * number) for number in range(120)]
    of_hash = {hash_of(content): content for content in contents}
    for _ in range(200):
        number = choice.randrange(len(contents))
        if cache.read_through(hash_of(contents[number]), of_hash.__getitem__) != contents[number]:
            wrong.append(number)
    return wrong


def test_several_processes_share_it_and_together_keep_within_its_bound(cache: FileCache) -> None:
    context = multiprocessing.get_context("spawn")
    most = 0
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        tasks = [pool.submit(use_cache, cache.folder, seed) for seed in range(3)]
        while not all(task.done() for task in tasks):
            if cache.folder.exists():
                most = max(most, bytes_on_disk(cache.folder))
            time.sleep(0.002)
        assert [task.result() for task in tasks] == [[], [], []]
    assert MOST / 2 < most <= MOST
    held = sum(file.size for file in cache.iterate_files())
    assert held <= (cache.read_held() or 0) <= MOST
    assert not [*cache.folder.glob("part-*")]


def write_half(folder: Path) -> None:
    """Ends in the middle of a file, as a killed worker does."""
    cache = FileCache(folder, MOST)
    part = cache.reserve_part(KILO)
    assert part
    part.write_bytes(content_of(1)[:300])
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_writer_killed_in_the_middle_leaves_a_part_that_counts_and_goes_within_hours(cache: FileCache) -> None:
    cache.folder.mkdir()
    process = multiprocessing.get_context("spawn").Process(target=write_half, args=(cache.folder,))
    process.start()
    process.join()
    [part] = cache.folder.glob("part-*")
    assert cache.read_file(hash_of(content_of(1))) is None
    add_files(cache, *range(60))
    assert part.exists()
    assert sum(file.size for file in cache.iterate_files()) <= MOST
    at = time.time() - 2 * 60 * 60
    os.utime(part, (at, at))
    add_files(cache, *range(60, 120))
    assert not part.exists()


READ_TWICE = """
from evaluation import content_store
sha256 = content_store.store_content(b"an image")
content_store.read_for_worker(sha256)
content_store.read_for_worker(sha256)
print(sha256)
"""
READ_KEPT = """
import sys
from evaluation import content_store
sha256 = content_store.store_content(b"drawn here")
content_store.copy_for_worker(b"drawn here", sha256)
print(content_store.read_for_worker(sha256).decode(), content_store.read_for_worker("{known}").decode())
"""
FORGET = """
from evaluation import content_store
from wwd.base import file_cache
content_store.get_file_cache().remove_files(["{known}"])
print(file_cache.get_file_cache().read_file("{known}"))
"""


@pytest.fixture
def store() -> Iterator[Bucket]:
    with bucket() as server:
        yield server


def test_a_storage_elsewhere_is_asked_once_for_a_file_by_all_processes_of_a_host(tmp_path: Path, store: Bucket) -> None:
    environ = {**environment(tmp_path), "GS_BUCKET_NAME": BUCKET, "STORAGE_EMULATOR_HOST": store.address}

    def downloads() -> int:
        return sum("alt=media" in line for line in store.requests)

    known = snippet(environ, READ_TWICE)
    assert downloads() == 1
    assert snippet(environ, READ_KEPT.format(known=known)) == "drawn here an image"
    assert downloads() == 1
    assert snippet(environ, FORGET.format(known=known)) == "None"


def test_files_of_this_host_are_not_copied(settings: Settings) -> None:
    sha256 = content_store.store_content(b"an image")
    content_store.copy_for_worker(b"an image", sha256)
    assert content_store.read_for_worker(sha256) == b"an image"
    assert not get_file_cache().folder.exists()


@pytest.mark.django_db
@pytest.mark.embedded
def test_erasing_an_image_removes_the_copy_on_this_host_too() -> None:
    sha256 = hash_of(b"an image")
    get_file_cache().add_file(b"an image", sha256)
    content_store.remove_unnamed([sha256])
    assert get_file_cache().read_file(sha256) is None
