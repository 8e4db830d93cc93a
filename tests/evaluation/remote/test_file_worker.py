"""Work as a file for nodes without a network: the same outcomes, each once, whoever brings them twice or late."""

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from collection.models import Withdrawal
from collection.withdrawal.withdraw import withdraw_dish
from evaluation.contracts.study import Result
from evaluation.models import Batch, GeneratedImage, Outcome, Run, Unit
from evaluation.remote import delivery
from evaluation.remote.packaging import package_work
from evaluation.remote.work_files import WorkFileError
from evaluation.remote.work_folder import Folder, FolderTransport, check_versions, pack_results
from evaluation.runner import cancel_run, create_run, leases, process_run, sweep_runs
from evaluation.runner.leases import KILLED
from tests.evaluation.make import make_demonstration_dishes, make_model
from tests.evaluation.remote_workers import assert_equal_outcomes, describe_outcomes

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CONFIG = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}, "images_per_subject": 5}
UNITS = 40


@pytest.fixture
def run() -> Run:
    make_demonstration_dishes(UNITS // 5)
    make_model("sketch", parameters={"size": 32})
    return create_run("generation", CONFIG, slug="images")


def run_work(*words: object, **changes: str) -> subprocess.CompletedProcess[str]:
    """The script that lies in the file of work, with nothing of this project on its path."""
    file = Path(str(words[0]))
    script = file.with_name("run_work.py")
    with tarfile.open(file) as opened:
        content = opened.extractfile("run_work.py")
        assert content
        script.write_bytes(content.read())
    environ = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DATABASE_URL")}
    command = [sys.executable, str(script), *map(str, words)]
    return subprocess.run(
        command, cwd=file.parent, env={**environ, **changes}, capture_output=True, text=True, check=False
    )


def unpack(tmp_path: Path, run: Run, limit: int = UNITS) -> Folder:
    """A package, unpacked by its own script's code, to be worked on in this process."""
    from evaluation.remote.run_work import unpack as unpack_work

    package_work(run, limit, tmp_path / "out.tar")
    unpack_work(tmp_path / "out.tar", tmp_path / "work" / "package")
    return Folder(tmp_path / "work")


def work(folder: Folder, run: Run, part: int = 0, parts: int = 1) -> FolderTransport:
    transport = FolderTransport(folder, part, parts)
    while process_run(run.pk, transport.node, 600, transport=transport):
        continue
    return transport


def results(tmp_path: Path, run: Run) -> Path:
    """A file of results of the whole run."""
    folder = unpack(tmp_path, run)
    pack_results(folder, work(folder, run).mine, tmp_path / "result.tar")
    return tmp_path / "result.tar"


def test_a_run_as_a_file_gives_what_it_gives_beside_the_database(run: Run, tmp_path: Path, capsys: Any) -> None:
    """Slow: the script starts a process of its own with the code of the file."""
    call_command("package_work", "images", str(tmp_path / "out.tar"), "--limit", "1000")
    assert set(Unit.objects.values_list("state", "deliveries")) == {("leased", 0)}
    done = run_work(tmp_path / "out.tar", WWD_VAR_DIR="/nowhere")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{UNITS} of {UNITS} units have results" in done.stdout
    call_command("import_work", str(tmp_path / "result.tar"))
    direct = create_run("generation", CONFIG, slug="direct")
    process_run(direct.pk, "direct", seconds=600)
    assert_equal_outcomes(describe_outcomes(run), describe_outcomes(direct))
    run.refresh_from_db()
    assert run.state == Run.State.DONE
    call_command("import_work", str(tmp_path / "result.tar"))
    assert f"{UNITS} had ended before" in capsys.readouterr().out
    assert Outcome.objects.filter(unit__run=run).count() == GeneratedImage.objects.filter(run=run).count() == UNITS


def test_two_nodes_share_a_folder_and_two_parts_of_an_array_make_the_whole(run: Run, tmp_path: Path) -> None:
    folder = unpack(tmp_path, run)
    first, second = FolderTransport(folder), FolderTransport(folder)
    second.node = "another:1"
    data = first.read_run(run.pk)
    held, other = first.lease_units(data, "a", 10, ""), second.lease_units(data, "b", 10, "")
    assert held and other and not {unit.key for unit in held.units} & {unit.key for unit in other.units}
    first.release_lease(held)
    second.release_lease(other)
    for part in range(2):
        pack_results(folder, work(folder, run, part, 2).mine, tmp_path / f"result-{part}.tar")
    stored = [delivery.import_work(tmp_path / f"result-{part}.tar").stored for part in (1, 0)]
    assert sum(stored) == UNITS and min(stored) > 0
    assert Outcome.objects.count() == UNITS


def test_a_package_that_two_nodes_executed_is_stored_once(run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)
    again = tmp_path / "again.tar"
    again.write_bytes(file.read_bytes())
    assert delivery.import_work(file).stored == UNITS
    found = delivery.import_work(again)
    assert (found.stored, found.before) == (0, UNITS)
    assert Outcome.objects.count() == UNITS


def test_a_package_that_comes_late_counts_where_nobody_was_quicker(run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)
    Batch.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert leases.release_expired() == 1
    assert set(Unit.objects.values_list("state", "deliveries")) == {("pending", 0)}
    batch = leases.lease_units(run, "quicker", 10)
    assert batch
    quick = list(Unit.objects.filter(batch=batch))
    leases.finish_units(batch, [(unit, Result(unit.key, "refused", reason="quicker")) for unit in quick])
    found = delivery.import_work(file)
    assert (found.stored, found.before) == (UNITS - len(quick), len(quick))
    assert Outcome.objects.filter(reason="quicker").count() == len(quick)


def test_a_worker_that_is_at_a_unit_of_a_late_package_discards_what_it_has(run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)
    Batch.objects.update(until=timezone.now() - timedelta(seconds=1))
    leases.release_expired()
    batch = leases.lease_units(run, "at work", 10)
    assert batch
    held = list(Unit.objects.filter(batch=batch))
    assert delivery.import_work(file).stored == UNITS
    assert leases.finish_units(batch, [(unit, Result(unit.key, "failed", reason="late")) for unit in held]) == 0
    assert not Outcome.objects.filter(reason="late").exists()


def test_what_was_cancelled_or_withdrawn_meanwhile_is_left_out_and_said(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results(tmp_path, run)
    unit = Unit.objects.select_related("subject__dish").order_by("pk")[0]
    assert unit.subject and unit.subject.dish
    withdraw_dish(unit.subject.dish, Withdrawal.Reason.STEWARD)
    Batch.objects.update(until=timezone.now() - timedelta(seconds=1))
    Unit.objects.filter(pk__gt=unit.pk + 20).update(state="pending", batch=None)
    cancel_run(run)
    call_command("import_work", str(file))
    printed = capsys.readouterr().out
    assert "5 were left out: what they are about was withdrawn or removed." in printed
    assert "were left out: the run was cancelled." in printed
    assert not Outcome.objects.filter(unit__subject=unit.subject).exists()
    assert Outcome.objects.count() + 5 + Unit.objects.filter(state="pending").count() == UNITS


def test_a_node_that_ends_between_computing_and_delivering_loses_that_batch_alone(run: Run, tmp_path: Path) -> None:
    folder = unpack(tmp_path, run)
    gone = FolderTransport(folder)
    gone.node = f"{gone.node.partition(':')[0]}:999999999"
    lease = gone.lease_units(gone.read_run(run.pk), "gone", 10, "")
    assert lease
    transport = work(folder, run)
    keys, _ = pack_results(folder, transport.mine, tmp_path / "result.tar")
    assert keys == UNITS
    assert delivery.import_work(tmp_path / "result.tar").stored == UNITS


def test_a_unit_that_kills_its_node_fails_alone(run: Run, tmp_path: Path) -> None:
    folder = unpack(tmp_path, run)
    deadly = folder.chunks[0][0]
    for number in range(6):
        node = FolderTransport(folder)
        node.node = f"{node.node.partition(':')[0]}:99999999{number}"
        lease = node.lease_units(node.read_run(run.pk), "node", 10, "")
        if lease is None or deadly.key not in {unit.key for unit in lease.units}:
            break
        assert number == 0 or (lease.suspect and len(lease.units) == 1)
    work(folder, run)
    pack_results(folder, range(len(folder.chunks)), tmp_path / "result.tar")
    delivery.import_work(tmp_path / "result.tar")
    assert list(Unit.objects.filter(state="failed").values_list("key", flat=True)) == [deadly.key]
    assert Outcome.objects.get(unit__key=deadly.key).reason == KILLED
    assert Unit.objects.filter(state="done").count() == UNITS - 1


def test_half_a_file_is_refused_and_changes_nothing(run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)
    content = file.read_bytes()
    for share in (0, 1, 2, 3):
        file.write_bytes(content[: len(content) * share // 4])
        with pytest.raises(WorkFileError, match=r"ends in its middle: copy it again|is another kind"):
            delivery.import_work(file)
    assert not Outcome.objects.exists()
    out = tmp_path / "out.tar"
    out.write_bytes(out.read_bytes()[: out.stat().st_size // 2])
    done = run_work_in(tmp_path, out)
    assert done.returncode == 2 and "copy it again" in done.stderr


def run_work_in(tmp_path: Path, file: Path) -> subprocess.CompletedProcess[str]:
    from evaluation.remote import run_work as script

    command = [sys.executable, str(script.__file__), str(file), "--folder", str(tmp_path / "other")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rewrite(file: Path, change: Callable[[tarfile.TarInfo, bytes], tuple[tarfile.TarInfo, bytes] | None]) -> None:
    """The same file with members changed or left out."""
    members: list[tuple[tarfile.TarInfo, bytes]] = []
    with tarfile.open(file) as opened:
        for member in opened:
            source = opened.extractfile(member)
            found = change(member, source.read() if source else b"")
            if found:
                members.append(found)
    with tarfile.open(file, "w") as written:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            written.addfile(member, io.BytesIO(content) if member.isreg() else None)


@pytest.mark.parametrize("kind", ["../up", "/etc/absolute", "files/not-a-hash", "link", "folder", "twice", "huge"])
def test_members_that_a_file_of_results_does_not_have_are_refused(kind: str, run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)

    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name == "outcomes.jsonl":
            if kind == "link":
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            elif kind == "folder":
                member.type = tarfile.DIRTYPE
            elif kind == "twice":
                member.name = "result.json"
            elif kind == "huge":
                member.name = f"files/{'0' * 64}"
                content = bytes(50 * 1024 * 1024 + 1)
            else:
                member.name = kind
        return member, content

    rewrite(file, change)
    with pytest.raises(WorkFileError, match=r"which no such file holds|too large"):
        delivery.import_work(file)
    assert not Outcome.objects.exists()
    assert not (tmp_path.parent / "up").exists()


@pytest.mark.parametrize("name", ["../up.py", "/srv/wwd-absolute.py", "code/../../up.py", "link"])
def test_a_hostile_file_of_work_writes_nothing_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    file = tmp_path / "out.tar"
    with tarfile.open(file, "w") as opened:
        member = tarfile.TarInfo("code/link" if name == "link" else name)
        if name == "link":
            member.type, member.linkname = tarfile.SYMTYPE, "/srv"
        member.size = 0 if name == "link" else 4
        opened.addfile(member, io.BytesIO(b"evil"))
        opened.addfile(tarfile.TarInfo("end.json"), io.BytesIO(b""))
    done = run_work_in(tmp_path / "deep", file)
    assert done.returncode == 2 and "which no file of work holds: nothing was unpacked" in done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("state", "leased"),
        ("key", "x" * 121),
        ("numbers", {"score": "three"}),
        ("extra", 1),
        ("image", {"sha256": "../up", "media_type": "text/html", "width": 1, "height": 1, "prompt_sent": ""}),
    ],
)
def test_lines_that_are_no_results_are_named_and_nothing_is_stored(
    field: str, value: object, run: Run, tmp_path: Path
) -> None:
    file = results(tmp_path, run)

    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name == "outcomes.jsonl":
            rows = [json.loads(line) for line in content.splitlines()]
            rows[0][field] = value
            content = "\n".join(json.dumps(row) for row in rows).encode()
        return member, content

    rewrite(file, change)
    with pytest.raises(WorkFileError, match="These are no results"):
        delivery.import_work(file)
    assert not Outcome.objects.exists()


def test_a_file_that_is_another_than_its_hash_says_fails_its_unit_alone(run: Run, tmp_path: Path) -> None:
    file = results(tmp_path, run)
    damaged: list[str] = []

    def change(member: tarfile.TarInfo, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
        if member.name.startswith("files/") and not damaged:
            damaged.append(member.name)
            content = content[:-1] + b"!"
        return member, content

    rewrite(file, change)
    with pytest.raises(CommandError, match="1 files or results could not be used"):
        call_command("import_work", str(file))
    assert Outcome.objects.count() == UNITS - 1
    assert Unit.objects.filter(state="leased").count() == 1


def test_other_versions_are_refused_with_both_named_or_recorded() -> None:
    facts = {"pins": {"torch": "1.0"}, "definition": {}, "study": "generation", "study_version": "1"}
    assert "asks for 1.0" in check_versions(facts, other_versions=False)
    assert check_versions(facts, other_versions=True) == ""
    fixed = {**facts, "pins": {}, "definition": {"versions": {"python": "2.7"}}}
    assert "asks for 2.7" in check_versions(fixed, other_versions=True)
    older = {**facts, "pins": {}, "study_version": "0"}
    assert check_versions(older, other_versions=True) == "The file of work is of generation 0, its code executes 1."


def test_a_package_may_be_given_back(run: Run, tmp_path: Path) -> None:
    found = package_work(run, 10, tmp_path / "out.tar")
    assert Unit.objects.filter(state="leased").count() == found.units == 10
    call_command("package_work", "images", "--give-back", str(found.id))
    assert set(Unit.objects.values_list("state", "deliveries")) == {("pending", 0)}


def test_nothing_is_held_where_the_file_cannot_be_written(run: Run, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="could not be written"):
        call_command("package_work", "images", str(tmp_path / "no" / "folder" / "out.tar"))
    assert set(Unit.objects.values_list("state", flat=True)) == {"pending"}
    with pytest.raises(CommandError, match=r"Did you mean images\?|Known"):
        call_command("package_work", "image", str(tmp_path / "out.tar"))


def test_a_run_whose_units_lie_in_a_file_is_still_announced(run: Run, tmp_path: Path) -> None:
    package_work(run, 10, tmp_path / "out.tar")
    assert [found.run for found in sweep_runs()] == [run.pk]
