"""A rehearsal without a database: workers in network namespaces that reach one HTTPS port, and others that reach
nothing, give what a worker beside the database gives.

The processes have a folder and an SQLite database of their own.
"""

import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.models.worker_tokens import hash_secret, make_worker_secret
from tests.faults.installation import ROOT, Site, kill_group
from tests.faults.tls_end import serve_tls
from tests.wwd.processes import gunicorn

pytestmark = [pytest.mark.own_processes, pytest.mark.torch]

UNSHARE = ("unshare", "--map-root-user", "--net")
PORT = 8443
PLAN = """
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from pathlib import Path
from evaluation.models import Run, Unit, WorkerToken
from evaluation.runner import create_run, process_run
from tests.evaluation import tiny_models
from tests.evaluation.make import make_demonstration_dishes, make_model
make_demonstration_dishes({dishes})
folder = tiny_models.save_clip(Path({folder!r}))
make_model("small", parameters={{"size": 64}})
make_model("tiny-clip", "encoder", "clip", identifier=str(folder), parameters={{"precision": "fp32"}})
chosen = {{"kind": "dish", "demonstration": True}}
plans = {{
    "images": ("generation", {{"model": "small", "subjects": chosen, "images_per_subject": 5}}),
    "answers": ("knowledge", {{"models": ["standin-chat"], "subjects": chosen, "samples": 1}}),
    "scores": ("association", {{"encoder": "tiny-clip", "images": "images-direct"}}),
}}
for name, (study, config) in plans.items():
    run = create_run(study, config, slug=f"{{name}}-direct", queue="cpu")
    while process_run(run.pk, "direct", 600):
        pass
for way in ("https", "file"):
    for name, (study, config) in plans.items():
        create_run(study, config, slug=f"{{name}}-{{way}}", queue="cpu")
token = WorkerToken.objects.create(name="namespace", secret_hash={hash!r}, queues=["cpu"])
token.runs.set(Run.objects.filter(slug__endswith="-https"))
print(Unit.objects.filter(run__slug__endswith="-https").count())
"""
COMPARE = """
import django; django.setup()
from django.db.models import Max
from evaluation.models import Batch, Outcome, Run, Unit
from tests.evaluation.remote_workers import assert_equal_outcomes, describe_outcomes
for name in ("images", "answers", "scores"):
    one, other = (Run.objects.get(slug=f"{{name}}-{{way}}") for way in ("direct", {way!r}))
    assert other.state == "done", (other.slug, other.state, other.problem)
    assert_equal_outcomes(describe_outcomes(one), describe_outcomes(other))
    units = Unit.objects.filter(run=other)
    assert Outcome.objects.filter(unit__in=units).count() == units.count()
print(Unit.objects.filter(run__slug__endswith="-{way}").aggregate(most=Max("deliveries"))["most"])
"""


def lone_network_works() -> bool:
    if not ((shutil.which("unshare") and Path("/usr/sbin/ip").exists()) or shutil.which("ip")):
        return False
    command = [*UNSHARE, sys.executable, "-m", "tests.faults.lone_network", "-", "0", "--", "true"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    if not lone_network_works():
        pytest.skip("network namespaces are not permitted here (unshare --map-root-user --net)")
    found = Site(tmp_path)
    found.environ["WWD_LEASE_SECONDS"] = "10"
    yield found
    found.kill_workers()


def node_environment(site: Site, folder: Path) -> dict[str, str]:
    """What a node of a cluster has: nothing of the site."""
    dropped = ("DATABASE_URL", "REDIS_URL", "WWD_LEASE_SECONDS", "WWD_SWEEP_SECONDS")
    kept = {name: value for name, value in site.environ.items() if name not in dropped}
    return {**kept, "WWD_VAR_DIR": str(folder), "PYTHONPATH": str(ROOT)}


def start_node(site: Site, number: int, outside: Path, authority: Path, token: Path) -> "subprocess.Popen[bytes]":
    """A worker over HTTPS in a namespace of its own."""
    folder = site.folder / f"node{number}"
    worker = [sys.executable, "manage.py", "worker", "--server", f"https://localhost:{PORT}"]
    worker += ["--token-file", str(token), "--authority", str(authority), "--until-empty"]
    network = [*UNSHARE, sys.executable, "-m", "tests.faults.lone_network", str(outside), str(PORT), "--"]
    with (site.folder / f"node{number}.log").open("wb") as log:
        started = subprocess.Popen(
            [*network, *worker],
            cwd=ROOT,
            env=node_environment(site, folder),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    site.workers.append(started)
    return started


def count_done(site: Site) -> int:
    query = (
        "SELECT COUNT(*) FROM evaluation_unit u JOIN evaluation_run r ON r.id = u.run_id "
        "WHERE r.slug LIKE '%-https' AND u.state NOT IN ('pending', 'leased')"
    )
    return int(site.value(query))


def rehearse_https(site: Site, secret: str, units: int) -> None:
    """Two workers at a time; each is killed once in the middle, and another takes its place."""
    token, outside = site.folder / "token", site.folder / "outside"
    token.write_text(secret)
    # Its sweep takes expired leases back; it takes no work itself.
    site.start_worker("-Q", "nothing", "-c", "1")
    with (
        gunicorn(site.environ, site.folder / "web.log") as server,
        serve_tls(server, outside, site.folder) as authority,
    ):
        nodes = [start_node(site, number, outside, authority, token) for number in range(2)]
        for killed, share in ((0, 0.2), (1, 0.5)):
            site.wait_until(lambda share=share: count_done(site) >= units * share, 300)  # type: ignore[misc]
            kill_group(nodes[killed])
            nodes.append(start_node(site, 2 + killed, outside, authority, token))
        while count_done(site) < units:
            assert any(node.poll() is None for node in nodes) or restart(site, nodes, outside, authority, token)
            time.sleep(0.2)
        site.wait_until(lambda: all(node.poll() is not None for node in nodes), 120)
        assert [node.returncode for node in nodes[2:]] == [0] * len(nodes[2:])


def restart(site: Site, nodes: "list[subprocess.Popen[bytes]]", *given: Path) -> bool:
    """A worker for what the killed ones held, which returns once its lease ends."""
    time.sleep(3)
    nodes.append(start_node(site, len(nodes), *given))
    return len(nodes) < 20


def rehearse_files(site: Site) -> None:
    """Each run as a file; the first try on a node is killed in the middle, the second goes on."""
    for name in ("images", "answers", "scores"):
        folder = site.folder / f"file-{name}"
        folder.mkdir()
        packed = subprocess.run(
            [sys.executable, "manage.py", "package_work", f"{name}-file", str(folder / "out.tar"), "--limit", "5000"],
            cwd=ROOT,
            env=site.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert packed.returncode == 0, packed.stderr
        with tarfile.open(folder / "out.tar") as opened:
            script = opened.extractfile("run_work.py")
            assert script
            (folder / "run_work.py").write_bytes(script.read())
        lone = [*UNSHARE, sys.executable, str(ROOT / "tests" / "faults" / "lone_network.py"), "-", "0", "--"]
        command = [*lone, sys.executable, "run_work.py", "out.tar"]
        environ = {key: value for key, value in node_environment(site, folder / "var").items() if key != "PYTHONPATH"}
        first = subprocess.Popen(command, cwd=folder, env=environ, start_new_session=True)
        site.wait_until(lambda folder=folder: (folder / "out.tar.work" / "outcomes").is_dir(), 120)  # type: ignore[misc]
        time.sleep(0.5)
        kill_group(first)
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        for _ in range(2):
            brought = subprocess.run(
                [sys.executable, "manage.py", "import_work", str(folder / "result.tar")],
                cwd=ROOT,
                env=site.environ,
                capture_output=True,
                text=True,
                check=False,
            )
            assert brought.returncode == 0, brought.stderr


def rehearse(site: Site, dishes: int, least: int) -> None:
    secret = make_worker_secret()
    code = PLAN.format(dishes=dishes, folder=str(site.folder / "clip"), hash=hash_secret(secret))
    units = int(site.run(code).splitlines()[-1])
    assert units >= least
    rehearse_https(site, secret, units)
    most = int(site.run(COMPARE.format(way="https")).splitlines()[-1])
    # Of few units a killed worker may hold none.
    assert most > 1 or units < 500
    rehearse_files(site)
    site.run(COMPARE.format(way="file"))


@pytest.mark.long
def test_a_thousand_units_come_out_the_same_without_a_database(site: Site) -> None:
    rehearse(site, 80, 1000)


def test_some_units_come_out_the_same_without_a_database(site: Site) -> None:
    """Slow: nine processes, two of them killed. Clusters are where nobody looks while it goes wrong."""
    rehearse(site, 4, 40)
