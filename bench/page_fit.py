"""How a table is laid on paper: by counting letters, by measured letters, and as Chromium finds it.

    python -m bench.page_fit

One table for each definition in the project, with numbers and intervals of usual length. Printed: how often each way
agrees with Chromium's own layout of the same cells, and milliseconds a table. Needs playwright and Chromium.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from unittest import mock

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "wwd.settings")

import django

django.setup()

from playwright.sync_api import Page, sync_playwright  # noqa: E402

from evaluation.figures.fonts import text_width  # noqa: E402
from evaluation.presentation.table import Line, ShownCell  # noqa: E402
from evaluation.registry.lookup import find_table_spec  # noqa: E402
from evaluation.registry.names import TABLES  # noqa: E402
from wwd.exchange.bundles import page_fit  # noqa: E402

CSS = Path(__file__).resolve().parent.parent / "static" / "report.css"
LONGEST = {"country": "Central African Republic", "continent": "North America", "model": "stable-diffusion-3.5"}
MILLIMETRES = 25.4
"""A table as the report shows it: names, metrics, lines."""
Table = tuple[list[str], list[str], list[Line]]


def tables() -> list[Table]:
    found = []
    for name in TABLES:
        spec = find_table_spec(name)
        cell = ShownCell("0.123", "0.123", 1234, 567, "0.045, 0.201", False, "")
        groups = tuple(LONGEST.get(column, "a usual value") for column in spec.columns)
        metrics = [metric.replace("_", " ") for metric in spec.metrics]
        found.append((list(spec.columns), metrics, [Line(groups, (cell,) * len(metrics))] * 20))
    return found


def measured(columns: Sequence[str], metrics: Sequence[str], lines: list[Line]) -> str:
    """The same rule with the width of the letters in place of their number: an average letter is replaced."""
    signs = "".join([*columns, *metrics, *(group for line in lines for group in line.groups), "0123456789.,"])
    letter = text_width(signs, 8.5) * MILLIMETRES / len(signs)
    with mock.patch.object(page_fit, "LETTER", letter):
        return page_fit.choose_page_layout(columns, metrics, lines)


def laid_out(page: Page, columns: Sequence[str], metrics: Sequence[str], lines: list[Line]) -> str:
    """The first of the three layouts whose table is no wider than its page."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in columns)
    heads += "".join(f'<th class="num">{escape(name)}</th>' for name in metrics)
    body = "".join(
        "<tr>"
        + "".join(f"<th>{escape(group)}</th>" for group in line.groups)
        + "".join(map(number, line.cells))
        + "</tr>"
        for line in lines
    )
    for fit, width in (("upright", page_fit.UPRIGHT), ("across", page_fit.ACROSS)):
        table = (
            f'<div class="{fit}" id="box" style="width:{width}mm"><table><thead><tr>{heads}</tr></thead>{body}</table>'
        )
        page.set_content(f"<style>{CSS.read_text()}</style>{table}</div>")
        if page.evaluate("document.querySelector('table').offsetWidth <= document.querySelector('#box').offsetWidth"):
            return fit
    return "dense"


def number(cell: ShownCell | None) -> str:
    assert cell
    return (
        f'<td class="num"><data>{cell.value}</data><span class="interval">[{cell.interval}]</span>'
        f'<span class="n">{cell.n} / {cell.clusters}</span></td>'
    )


def agreement(name: str, choose: Callable[..., str], asked: list[Table], true: list[str]) -> None:
    started = time.perf_counter()
    found = [choose(*table) for table in asked]
    each = (time.perf_counter() - started) / len(asked) * 1e3
    order = {"upright": 0, "across": 1, "dense": 2}
    wide = sum(order[one] < order[other] for one, other in zip(found, true, strict=True))
    same = sum(one == other for one, other in zip(found, true, strict=True))
    print(f"{name}: {same} of {len(true)} as Chromium, {wide} too wide for their page, {each:.2f} ms a table")


def main() -> None:
    asked = tables()
    with sync_playwright() as play:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        started = time.perf_counter()
        true = [laid_out(page, *table) for table in asked]
        each = (time.perf_counter() - started) / len(asked) * 1e3
        browser.close()
    agreement("counted letters", page_fit.choose_page_layout, asked, true)
    agreement("measured letters", measured, asked, true)
    print(f"Chromium: {each:.0f} ms a table, once it runs")


if __name__ == "__main__":
    main()
