"""Executes a file of work on a node without any network, with the code that lies in the file.

    python run_work.py out.tar                       on one node, or on several that share a folder
    python run_work.py out.tar --array 3/20          part 3 of 20, counted from 0; --array alone asks Slurm

The same command again goes on where it was. It writes result.tar, for `manage.py import_work` on the server. The
packages of code/requirements-worker.txt in the file must be installed; weights lie where the model's row says.
"""

import argparse
import os
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

MEMBER = re.compile(r"(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+")
MOST_BYTES = 2 * 1024**3
END = "end.json"


def check_member(member: tarfile.TarInfo) -> None:
    """Raises ValueError for whatever could be written elsewhere."""
    parts = member.name.split("/")
    if not member.isreg() or not MEMBER.fullmatch(member.name) or ".." in parts or "." in parts:
        raise ValueError(f"The file holds {member.name[:80]!r}, which no file of work holds: nothing was unpacked.")
    if member.size > MOST_BYTES:
        raise ValueError(f"The file holds {member.name[:80]!r} with {member.size} bytes: nothing was unpacked.")


def unpack(source: Path, folder: Path) -> None:
    """Unpacks the file into `folder`, whole or not at all, whoever else does so. Raises ValueError."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=".unpacking-", dir=folder.parent))
    try:
        with tarfile.open(source, "r:") as opened:
            members = opened.getmembers()
            for member in members:
                check_member(member)
            if not members or members[-1].name != END:
                raise ValueError("The file ends in its middle: copy it again. Nothing was unpacked.")
            for member in members:
                target = part / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                content = opened.extractfile(member)
                with target.open("wb") as out:
                    shutil.copyfileobj(content, out)  # type: ignore[arg-type]
        try:
            part.rename(folder)
        except OSError:
            if not folder.is_dir():
                raise
    except (tarfile.TarError, EOFError) as error:
        raise ValueError("The file is damaged or ends in its middle: copy it again. Nothing was unpacked.") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def read_array(given: str) -> tuple[int, int]:
    """(part, parts). Raises ValueError."""
    if given == "slurm":
        asked = {name: os.environ.get(f"SLURM_ARRAY_TASK_{name}", "") for name in ("MIN", "ID", "COUNT")}
        given = f"{int(asked['ID'] or 0) - int(asked['MIN'] or 0)}/{asked['COUNT'] or 1}"
    part, _, parts = given.partition("/")
    if not (part.isdigit() and parts.isdigit() and int(part) < int(parts)):
        raise ValueError(f"--array is {given!r}. Accepted: PART/PARTS, counted from 0, such as 3/20.")
    return int(part), int(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("file", type=Path, help="the file that manage.py package_work wrote")
    parser.add_argument("--folder", type=Path, help="where it is unpacked and worked on; nodes may share it")
    parser.add_argument("--array", nargs="?", const="slurm", default="0/1", help="PART/PARTS of a job array")
    parser.add_argument("--result", type=Path, help="the file to write; without it result.tar beside the first file")
    parser.add_argument("--other-versions", action="store_true", help="other versions of torch: outcomes then say so")
    parser.add_argument("--pack", action="store_true", help="only write what is there already")
    given = parser.parse_args()
    try:
        part, parts = read_array(given.array)
        folder = given.folder or given.file.with_name(given.file.name + ".work")
        unpack(given.file, folder / "package")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    for name in [name for name in os.environ if name.startswith(("WWD_", "DATABASE_", "SECRET_", "REDIS_", "GS_"))]:
        del os.environ[name]
    # Of the code in the file, which is no import of this module.
    settings = ".".join(("wwd", "settings"))
    os.environ.update(WWD_VAR_DIR=str(folder / "var"), DJANGO_SETTINGS_MODULE=settings, HF_HUB_OFFLINE="1")
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(folder / "package" / "code"))
    import django

    django.setup()
    from evaluation.remote.work_folder import work_on_folder

    name = "result.tar" if parts == 1 else f"result-{part}.tar"
    result = given.result or given.file.with_name(name)
    return work_on_folder(
        folder, (part, parts), result, other_versions=given.other_versions, pack_only=given.pack, say=print_line
    )


def print_line(sentence: str) -> None:
    print(sentence, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
