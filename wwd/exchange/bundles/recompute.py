"""Computes the tables of this bundle again from its rows, and compares them byte for byte. Needs no network.

    python -m venv fresh && fresh/bin/pip install -r requirements.txt
    fresh/bin/python recompute.py

The first line may fetch packages; the second refuses every connection. Exit status: 0 where everything is equal, 1
where a table or a file differs. `--into FOLDER` keeps the tables that were computed.
"""

import argparse
import hashlib
import json
import os
import platform
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
# Set for the second start of this script: the arithmetic is chosen while numpy is being loaded.
AGAIN = "RECOMPUTE_AGAIN"


def refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: from here on nothing leaves this machine."""
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "urllib.Request"):
        raise PermissionError(f"recompute.py opens no connection ({event}).")


def with_the_same_arithmetic(manifest: dict[str, Any]) -> dict[str, str]:
    """What to set so that numpy computes as it did for the bundle; other processors differ in the last digits."""
    if manifest["versions"]["machine"] != platform.machine():
        return {}
    found = runpy.run_path(str(HERE / "source" / "wwd" / "exchange" / "bundles" / "arithmetic.py"))
    return dict(found["build_arithmetic_environment"](manifest["arithmetic"]))


def list_damaged_files() -> list[str]:
    """Files that are missing or are not those that were packed."""
    wrong = []
    for line in (HERE / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ", 1)
        path = HERE / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            wrong.append(name)
    return wrong


def prepare_database(folder: Path) -> None:
    """An empty database in `folder`, filled with the rows of the bundle by the code of the bundle."""
    for name in [name for name in os.environ if name.startswith(("WWD_", "DATABASE_", "SECRET_", "REDIS_", "GS_"))]:
        del os.environ[name]
    os.environ["WWD_VAR_DIR"] = str(folder)
    os.environ["DJANGO_SETTINGS_MODULE"] = "wwd.settings"
    sys.path.insert(0, str(HERE / "source"))
    import django

    django.setup()
    from wwd.exchange.bundles.rows import load_bundle_rows

    load_bundle_rows(HERE / "data")


def csv_of(view: dict[str, Any]) -> bytes:
    from evaluation.plans.marks import Listed, mark_planned_rows
    from evaluation.registry import lookup
    from evaluation.tables import compute
    from evaluation.tables.serialise import to_csv

    table = compute.compute_table(lookup.find_table_spec(view["table"]), view["filters"])
    return to_csv(
        mark_planned_rows(table, view["filters"], [Listed(**listed) for listed in view["listed"]])[0]
    ).encode()


def compare_table(view: dict[str, Any], into: Path | None) -> bool:
    """Computes one table, says how it came out; False where it differs."""
    if view["not_recomputed"]:
        print(f"left out   {view['csv']}: {view['not_recomputed']}")  # noqa: T201
        return True
    found = csv_of(view)
    if into:
        from wwd.base.atomic_files import write_bytes_atomically

        into.mkdir(parents=True, exist_ok=True)
        write_bytes_atomically(into / Path(view["csv"]).name, found)
    equal = found == (HERE / view["csv"]).read_bytes()
    print(f"{'equal' if equal else 'DIFFERENT':10} {view['csv']}")  # noqa: T201
    return equal


def main() -> int:
    sys.dont_write_bytecode = True
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--into", type=Path, help="a folder for the tables that were computed")
    into = parser.parse_args().into
    manifest = json.loads((HERE / "bundle.json").read_text(encoding="utf-8"))
    if not os.environ.get(AGAIN) and (settings := with_the_same_arithmetic(manifest)):
        return subprocess.call([sys.executable, *sys.argv], env={**os.environ, **settings, AGAIN: "1"})
    sys.addaudithook(refuse_network)
    for name in (wrong := list_damaged_files()):
        print(f"DAMAGED    {name}")  # noqa: T201
    views = manifest["views"]
    with tempfile.TemporaryDirectory() as folder:
        prepare_database(Path(folder))
        equal = [compare_table(view, into) for view in views]
    return 0 if all(equal) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
