"""A bundle in an environment that holds nothing but what its lock file names, with the network cut. Run with --long."""

import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from tests.wwd.bundles.make import make_bundle, make_world

pytestmark = [pytest.mark.django_db, pytest.mark.long]


def test_a_fresh_environment_without_network_gives_the_same_tables(tmp_path: Path) -> None:
    make_world()
    folder = make_bundle(tmp_path)
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "-r", folder / "requirements.txt"], check=True, timeout=900)
    cut = ["unshare", "--net", "--map-root-user"] if shutil.which("unshare") else []
    done = subprocess.run(
        [*cut, python, "recompute.py"],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.split()[0] for line in done.stdout.splitlines()} == {"equal"}
