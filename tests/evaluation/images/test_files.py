"""Files by hash, and the job that removes those that no row names."""

import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import InMemoryStorage, default_storage
from pytest_django import Settings

from evaluation import content_store
from tests.evaluation.make import make_image, make_model, make_subject

OLD = 3 * 24 * 60 * 60


def on_disk(sha256: str) -> Path:
    return Path(default_storage.path(content_store.path_of(sha256)))


def make_old(sha256: str) -> None:
    os.utime(on_disk(sha256), (time.time() - OLD, time.time() - OLD))


def test_a_kept_file_is_read_by_its_hash() -> None:
    sha256 = content_store.store_content(b"picture")
    assert (len(sha256), content_store.read_content(sha256)) == (64, b"picture")


def test_equal_contents_are_one_file_that_is_not_written_again() -> None:
    sha256 = content_store.store_content(b"picture")
    make_old(sha256)
    before = on_disk(sha256).stat().st_mtime
    assert content_store.store_content(b"picture") == sha256
    assert on_disk(sha256).stat().st_mtime == before
    assert len(list(on_disk(sha256).parent.iterdir())) == 1


class Remote(InMemoryStorage):
    """A storage whose files lie on no disk of this machine, as those of object stores."""

    def path(self, name: str) -> str:
        raise NotImplementedError

    def _relative_path(self, name: str) -> str:
        return name


@pytest.mark.parametrize("remote", [False, True])
def test_a_large_file_is_copied_once_to_any_storage(settings: Settings, tmp_path: Path, remote: bool) -> None:
    if remote:
        settings.STORAGES = {**settings.STORAGES, "default": {"BACKEND": f"{__name__}.Remote"}}
    source = tmp_path / "source"
    source.write_bytes(b"archive")
    sha256 = content_store.store_file(source)
    written = default_storage.get_modified_time(content_store.path_of(sha256))
    assert content_store.store_file(source) == sha256
    assert content_store.read_content(sha256) == b"archive"
    assert default_storage.get_modified_time(content_store.path_of(sha256)) == written


def test_a_file_that_was_cut_short_is_written_again() -> None:
    sha256 = content_store.store_content(b"picture")
    on_disk(sha256).write_bytes(b"pic")
    content_store.store_content(b"picture")
    assert content_store.read_content(sha256) == b"picture"


def test_many_that_keep_the_same_content_at_once_leave_one_whole_file() -> None:
    content = os.urandom(300_000)
    threads = [threading.Thread(target=content_store.store_content, args=(content,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sha256 = content_store.store_content(content)
    assert content_store.read_content(sha256) == content
    assert [path.name for path in on_disk(sha256).parent.iterdir()] == [sha256]


def test_reading_what_is_not_held_says_so() -> None:
    with pytest.raises(FileNotFoundError):
        content_store.read_content("0" * 64)


@pytest.mark.django_db
def test_old_files_that_no_row_names_are_removed_and_others_stay() -> None:
    named, orphan, fresh = (
        content_store.store_content(b"named"),
        content_store.store_content(b"orphan"),
        content_store.store_content(b"fresh"),
    )
    make_image(make_subject(), make_model(), sha256=named)
    make_old(named)
    make_old(orphan)
    assert content_store.remove_orphans() == 1
    assert [on_disk(name).exists() for name in (named, orphan, fresh)] == [True, False, True]


@pytest.mark.django_db
def test_leftovers_of_a_killed_writer_are_removed() -> None:
    part = on_disk(content_store.store_content(b"picture")).parent / ".part-abc"
    part.write_bytes(b"half")
    os.utime(part, (time.time() - OLD, time.time() - OLD))
    content_store.remove_orphans()
    assert not part.exists()


@pytest.mark.django_db
def test_files_beside_the_images_are_never_touched() -> None:
    default_storage.save("photos/orphan.jpg", ContentFile(b"photo"))
    assert content_store.remove_orphans(timedelta(0)) == 0
    assert default_storage.exists("photos/orphan.jpg")


@pytest.mark.django_db
def test_a_file_that_is_gone_when_its_turn_comes_is_passed_over() -> None:
    sha256 = content_store.store_content(b"orphan")
    (on_disk(sha256).parent / "gone").symlink_to("nothing")
    assert content_store.remove_orphans(timedelta(0)) == 1


@pytest.mark.django_db
def test_no_image_at_all_is_no_error() -> None:
    assert content_store.remove_orphans() == 0


@pytest.mark.django_db
def test_the_job_stops_when_its_time_is_over() -> None:
    sha256 = content_store.store_content(b"orphan")
    assert content_store.remove_orphans(timedelta(0), seconds=0) == 0
    assert on_disk(sha256).exists()


@pytest.mark.django_db
def test_every_app_that_names_a_file_keeps_it() -> None:
    """Copies that reviewers see are stored under their hash too, by rows of an app that this one does not know."""
    from review.models import CampaignImage

    assert any(field.name.endswith("sha256") for field in CampaignImage._meta.concrete_fields)
    image = make_image(make_subject(), make_model())
    sha256 = content_store.store_content(b"copy")
    assert content_store.named_by_rows([sha256]) == set()
    type(image).objects.filter(pk=image.pk).update(sha256=sha256)
    assert content_store.named_by_rows([sha256, "0" * 64]) == {sha256}
