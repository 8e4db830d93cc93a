"""The commands of `script/` on a machine that lacks something: a sentence instead of a traceback."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wwd.processes import ROOT, environment, manage, snippet

SAYS_ITS_VERSION = '#!/bin/sh\ncase "$*" in *version_info*) exit 1;; *) echo "Python 3.9.2";; esac\n'
PRINTS_WHERE = "import sys; print(sys.prefix, *sys.argv[1:])\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts alone; making their environment takes seconds, so all tests here share it."""
    found = tmp_path_factory.mktemp("project")
    (found / "script").mkdir()
    for name in ("server", "test", "docs", "python.sh", "bootstrap.py"):
        shutil.copy(ROOT / "script" / name, found / "script" / name)
    for name in ("serve.py", "verify.py", "build_docs.py"):
        (found / "script" / name).write_text(PRINTS_WHERE)
    return found


@pytest.fixture
def project(folder: Path, request: pytest.FixtureRequest) -> Path:
    """That project with nothing to install, written differently for each test."""
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).write_text(f"# nothing, {request.node.name}\n")
    return folder


def path_with(folder: Path, **programs: str) -> str:
    """A PATH that holds only `programs` (name → shell text) and the shell's own helpers."""
    folder.mkdir()
    for name in ("dirname", "sh"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return str(folder)


def run(project: Path, script: str, *words: str, path: str = "") -> subprocess.CompletedProcess[str]:
    environ = {"PATH": path or f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(project)}
    return subprocess.run(
        [project / "script" / script, *words], env=environ, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("script", ["server", "test", "docs"])
def test_without_python_the_command_says_which_to_install(project: Path, tmp_path: Path, script: str) -> None:
    done = run(project, script, path=path_with(tmp_path / "none"))
    assert done.returncode == 1
    assert done.stderr == "Python 3.11 or newer is needed, and none was found. Install python3.11 and run this again.\n"


def test_with_an_old_python_the_command_names_it(project: Path, tmp_path: Path) -> None:
    done = run(project, "server", path=path_with(tmp_path / "old", python3=SAYS_ITS_VERSION))
    assert done.returncode == 1
    assert "3.11 or newer is needed, and this is Python 3.9.2." in done.stderr


def test_the_command_runs_inside_its_own_environment_and_passes_arguments_on(project: Path) -> None:
    done = run(project, "server", "--port", "8001")
    assert done.stdout.splitlines()[-1] == f"{project}/.venv --port 8001"


def test_the_second_run_installs_nothing(project: Path) -> None:
    assert "Installing" in run(project, "server").stdout
    assert "Installing" not in run(project, "server").stdout


def test_changed_requirements_are_installed_also_those_that_another_file_includes(project: Path) -> None:
    (project / "requirements-dev.txt").write_text("-r requirements.txt\n")
    assert "Installing" in run(project, "test").stdout
    assert "Installing" not in run(project, "test").stdout
    (project / "requirements.txt").write_text("# something else\n")
    assert "Installing" in run(project, "test").stdout


def test_packages_that_cannot_be_installed_stop_the_command_and_are_tried_again(project: Path) -> None:
    (project / "requirements.txt").write_text("./nowhere\n")
    for _ in range(2):
        done = run(project, "server")
        assert done.returncode == 1
        assert "could not be installed" in done.stderr
        assert str(project / ".venv") not in done.stdout


def test_groups_and_countries_wait_for_their_tables(tmp_path: Path) -> None:
    """Somebody who migrates one app alone: what a later migration makes is loaded after that one."""
    environ = environment(tmp_path)
    first = manage(environ, "migrate", "contenttypes", "--verbosity", "0")
    assert (first.returncode, first.stderr) == (0, "")
    assert manage(environ, "migrate", "--verbosity", "0").returncode == 0
    code = "from collection.models import Country; from django.contrib.auth.models import Group;"
    assert snippet(environ, f"{code} print(Country.objects.exists(), Group.objects.exists())") == "True True"
