"""Files for clusters: scripts of Slurm as bash runs them, manifests as kubectl builds them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPTS = sorted((ROOT / "deploy" / "slurm").glob("*.sbatch"))
FOLDERS = (ROOT / "deploy" / "kubernetes", ROOT / "deploy" / "kubernetes" / "always")
STANDIN = '#!/bin/bash\necho "$@" >> "$CALLS"\nif [[ "$*" == *--check* ]]; then exit "${CHECK:-0}"; fi\n'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """What Slurm sets, and in place of Python a script that writes down how it was called."""
    python = tmp_path / "python"
    python.write_text(STANDIN)
    python.chmod(0o755)
    given = {"WWD_SERVER": "https://dishes.example", "WWD_TOKEN": "token", "WWD_PYTHON": str(python)}
    slurm = {"SLURM_SUBMIT_DIR": str(tmp_path), "SLURM_JOB_ID": "7", "CALLS": str(tmp_path / "calls")}
    return {**os.environ, **given, **slurm}


def call_script(name: str, environ: dict[str, str]) -> tuple[int, list[str]]:
    done = subprocess.run(["bash", str(ROOT / "deploy" / "slurm" / name)], env=environ, check=False)
    calls = Path(environ["CALLS"])
    return done.returncode, calls.read_text().splitlines() if calls.exists() else []


def test_every_script_is_one_of_slurm_and_asks_for_a_card() -> None:
    assert len(SCRIPTS) == 2
    for path in SCRIPTS:
        text = path.read_text()
        assert text.startswith("#!/bin/bash\n") and "#SBATCH --gres=gpu:1" in text
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


def test_a_worker_of_slurm_checks_its_host_before_it_works(environ: dict[str, str]) -> None:
    given = "manage.py worker --server https://dishes.example --token-file token"
    assert call_script("worker.sbatch", environ) == (0, [f"{given} --check", f"{given} --until-empty"])


def test_a_host_that_lacks_something_does_not_begin(environ: dict[str, str]) -> None:
    code, calls = call_script("worker.sbatch", {**environ, "CHECK": "1", "WWD_AUTHORITY": "ca.pem", "WWD_NO_CARD": "1"})
    assert code == 1
    assert [call.split("token ")[1] for call in calls] == ["--authority ca.pem --check --no-card"]


def test_an_array_of_slurm_takes_the_script_out_of_the_file(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "run_work.py").write_text("print('a script')\n")
    subprocess.run(["tar", "--create", "--file", "out.tar", "run_work.py"], cwd=tmp_path, check=True)
    code, calls = call_script("work-file.sbatch", {**environ, "WWD_FILE": str(tmp_path / "out.tar")})
    assert code == 0
    script, file, option = calls[0].split()
    assert (Path(script).read_text(), file, option) == ("print('a script')\n", str(tmp_path / "out.tar"), "--array")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_manifests_name_what_a_worker_needs_and_no_database(folder: Path) -> None:
    listed = yaml.safe_load((folder / "kustomization.yaml").read_text())
    for name in listed["resources"]:
        found = yaml.safe_load((folder / name).read_text())
        pod = found["spec"]["template"]["spec"]
        text = (folder / name).read_text()
        assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
        assert "DATABASE_URL" not in text and "REDIS_URL" not in text
        for container in (*pod.get("initContainers", ()), *pod["containers"]):
            assert container["command"][:3] == ["python", "manage.py", "worker"]
            assert ("nvidia.com/gpu" in container["resources"]["limits"]) == ("gpu" in name)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl on the path")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_kubectl_builds_the_manifests(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "built", ignore=shutil.ignore_patterns("always", "token"))
    (tmp_path / "built" / "token").write_text("trial")
    command = ["kubectl", "kustomize", str(tmp_path / "built")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kinds = {found["kind"] for found in yaml.safe_load_all(done.stdout)}
    assert {"ConfigMap", "Secret"} < kinds and kinds & {"Job", "Deployment"}


def test_the_interpreter_of_tests_runs_the_script_of_files() -> None:
    script = ROOT / "evaluation" / "remote" / "run_work.py"
    done = subprocess.run([sys.executable, str(script), "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "--array" in done.stdout
