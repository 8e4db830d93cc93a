"""Files are whole or not there, whatever happens while they are written."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from wwd.base import atomic_files
from wwd.base.atomic_files import write_atomically, write_bytes_atomically, write_text_atomically


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def rights_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_target_holds_the_old_content_until_the_new_one_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with write_atomically(target) as part:
        part.write_text("half")
        assert target.read_text() == "old"
        part.write_text("new")
    assert target.read_text() == "new"
    assert names_in(tmp_path) == ["table.csv"]


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    write_text_atomically(tmp_path / "dish.csv", "egusi,ẹ̀gúsí\r\n")
    assert (tmp_path / "dish.csv").read_bytes() == "egusi,ẹ̀gúsí\r\n".encode()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(error), write_atomically(target) as part:
        part.write_text("half")
        raise error
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["table.csv"]


def test_a_failure_leaves_no_new_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError), write_atomically(tmp_path / "table.csv") as part:
        part.write_text("half")
        raise ValueError
    assert names_in(tmp_path) == []


def test_a_disk_that_cannot_hold_the_content_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_opened: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "table.csv"
    target.write_text("old")
    monkeypatch.setattr(atomic_files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_bytes_atomically(target, b"new")
    assert target.read_text() == "old"
    assert names_in(tmp_path) == ["table.csv"]


def test_the_content_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, flush, flushed = tmp_path / "table.csv", os.fsync, list[tuple[bytes, bool]]()

    def watch(opened: int) -> None:
        flushed.append((os.pread(opened, 100, 0), target.exists()))
        flush(opened)

    monkeypatch.setattr(atomic_files.os, "fsync", watch)
    write_bytes_atomically(target, b"whole")
    assert flushed == [(b"whole", False)]


def test_a_replaced_file_keeps_its_rights(tmp_path: Path) -> None:
    target = tmp_path / "answers.csv"
    target.write_text("old")
    target.chmod(0o640)
    with write_atomically(target) as part:
        assert rights_of(part) == 0o600
    assert rights_of(target) == 0o640


def test_a_new_file_has_the_rights_that_are_asked_for_or_the_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("written by hand")
    write_text_atomically(tmp_path / "new", "")
    write_bytes_atomically(tmp_path / "private", b"", mode=0o600)
    assert rights_of(tmp_path / "new") == rights_of(tmp_path / "usual")
    assert rights_of(tmp_path / "private") == 0o600


def test_a_link_still_leads_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    link, target = tmp_path / "latest.csv", tmp_path / "data" / "today.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_text_atomically(link, "new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text_atomically(pipe, "through")
    reader.join()
    assert (read, pipe.is_fifo(), names_in(tmp_path)) == (["through"], True, ["pipe"])


def test_a_folder_in_the_place_of_the_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "table.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        write_text_atomically(tmp_path / "table.csv", "new")
    assert names_in(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("links", [True, False])
def test_without_overwriting_the_first_writer_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, links: bool
) -> None:
    def refuse(*_paths: Path) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    if not links:
        monkeypatch.setattr(atomic_files.os, "link", refuse)
    target = tmp_path / "key"
    with pytest.raises(FileExistsError), write_atomically(target, overwrite=False) as part:
        write_bytes_atomically(target, b"first", overwrite=False)
        part.write_bytes(b"second")
    assert target.read_bytes() == b"first"
    assert names_in(tmp_path) == ["key"]
