"""A report as PDF, printed by Chromium, which is asked for nothing outside of the one file."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from wwd.exchange.bundles import report
from wwd.exchange.bundles.making import Request
from wwd.exchange.bundles.safely import unfinished, workshop

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 300
SWITCHES = (
    "--headless",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class NoPdf(RuntimeError):
    """The report cannot be printed; the text says why. Its page on the site can be printed by any browser."""


def chromium() -> str:
    """Where Chromium lies. Raises NoPdf."""
    if settings.CHROMIUM:
        found = shutil.which(settings.CHROMIUM)
    else:
        found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise NoPdf(
            _("There is no Chromium on the worker to make the PDF (WWD_CHROMIUM). Open the page and print it there.")
        )
    return found


def make(request: Request, target: Path, step: Callable[[str], None] = lambda text: None) -> int:
    """Writes the report as PDF to `target`, whole or not at all; returns how many pictures it holds. Raises NoPdf."""
    chromium()
    page, pictures = report.whole(request, report.computed, step)
    step(_("The pages are being printed."))
    write(page, target)
    return pictures


def write(page: str, target: Path) -> None:
    """Prints one page of HTML. Raises NoPdf where Chromium ends without a file."""
    with unfinished(target) as part, workshop() as folder:
        source = folder / "report.html"
        source.write_text(page, encoding="utf-8")
        printed = folder / "report.pdf"
        run(source, printed, folder)
        shutil.copyfile(printed, part)


def run(source: Path, printed: Path, folder: Path) -> None:
    # Its sandbox refuses to run as root; the page holds no script and reaches no network.
    rights = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [chromium(), *SWITCHES, *rights, f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
    try:
        done = subprocess.run(
            [*command, source.as_uri()],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "HOME": str(folder)},
        )
    except subprocess.TimeoutExpired:
        raise NoPdf(_("Chromium took longer than %(n)d seconds. Choose fewer tables.") % {"n": SECONDS}) from None
    except OSError as error:
        raise NoPdf(_("Chromium could not be started (%(reason)s).") % {"reason": error.strerror}) from error
    if done.returncode or not printed.exists() or not printed.read_bytes().startswith(b"%PDF"):
        raise NoPdf(_("Chromium ended without a PDF (status %(n)d).") % {"n": done.returncode})
