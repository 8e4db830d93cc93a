"""A report as PDF, printed by Chromium, which is asked for nothing outside of the one file."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from wwd.exchange.bundles import report
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.snapshot import open_temporary_folder, write_new_file

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


class PdfUnavailableError(RuntimeError):
    """The report cannot be printed; the text says why. Its page on the site can be printed by any browser."""


def find_chromium() -> str:
    """Where Chromium lies. Raises PdfUnavailableError."""
    if settings.CHROMIUM:
        found = shutil.which(settings.CHROMIUM)
    else:
        found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise PdfUnavailableError(
            "There is no Chromium on the worker to make the PDF (WWD_CHROMIUM). Open the page and print it there."
        )
    return found


def write_pdf_report(request: Request, target: Path, step: Callable[[str], None] = lambda text: None) -> int:
    """Writes the report as PDF to `target`, whole or not at all; returns how many images it holds.

    Raises PdfUnavailableError.
    """
    find_chromium()
    page, images = report.render_standalone_report(request, report.read_fresh_view, step)
    step("The pages are being printed.")
    print_page(page, target)
    return images


def print_page(page: str, target: Path) -> None:
    """Prints one page of HTML. Raises PdfUnavailableError where Chromium ends without a file."""
    with write_new_file(target) as part, open_temporary_folder() as folder:
        source = folder / "report.html"
        source.write_text(page, encoding="utf-8")
        printed = folder / "report.pdf"
        run_chromium(source, printed, folder)
        shutil.copyfile(printed, part)


def run_chromium(source: Path, printed: Path, folder: Path) -> None:
    # Its sandbox refuses to run as root; the page holds no script and reaches no network.
    rights = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [find_chromium(), *SWITCHES, *rights, f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
    try:
        done = subprocess.run(
            [*command, source.as_uri()],
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={**os.environ, "HOME": str(folder)},
        )
    except subprocess.TimeoutExpired:
        raise PdfUnavailableError(f"Chromium took longer than {SECONDS} seconds. Choose fewer tables.") from None
    except OSError as error:
        raise PdfUnavailableError(f"Chromium could not be started ({error.strerror}).") from error
    if done.returncode or not printed.exists() or not printed.read_bytes().startswith(b"%PDF"):
        raise PdfUnavailableError(f"Chromium ended without a PDF (status {done.returncode}).")
