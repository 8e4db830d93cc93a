"""Builds the documentation site into `var/docs`; a warning of Sphinx is an error. Called by script/docs.

First it writes the generated pages of `docs/researcher/reference/` from the table definitions in the code.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BASE))


def build(target: Path, doctrees: Path) -> int:
    """Run Sphinx; return its exit status."""
    options = ["-b", "html", "-W", "--keep-going", "-q", "-d", str(doctrees)]
    command = [sys.executable, "-m", "sphinx", *options, str(BASE / "docs"), str(target)]
    return subprocess.run(command, cwd=BASE, check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/docs", description="Builds the documentation site.")
    parser.add_argument("--output", type=Path, default=BASE / "var" / "docs", help="folder of the built pages")
    parser.add_argument("--check", action="store_true", help="fail where a generated page is not up to date")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")
    import django

    django.setup()
    from table_reference import outdated_pages, write_pages

    if options.check and (outdated := outdated_pages()):
        print("Not up to date, script/docs writes them anew: " + ", ".join(outdated), file=sys.stderr)
        return 1
    if not options.check:
        write_pages()
    status = build(options.output, options.output.parent / f"{options.output.name}-doctrees")
    if not status:
        print(f"Open {options.output / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(main())
