"""Makes a bundle: the chosen tables and everything that somebody needs to check them, in one archive."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from evaluation.metrics.tidy import TidyTable
from evaluation.plans.freezing import build_published_plan
from evaluation.plans.marks import Listed, PlanStatus
from evaluation.plans.mask import mask_for
from evaluation.plans.plan_status import frozen_plans, list_planned_analyses, mark_registered_rows
from evaluation.registry import lookup
from evaluation.tables import compute as tables_compute
from evaluation.tables import read as tables_read
from evaluation.tables import store
from evaluation.tables.serialise import to_csv, to_json
from wwd.base.csv_files import SPREADSHEET, exact_to_spreadsheet, json_lines, write_csv
from wwd.exchange.bundles import arithmetic, images, listings, readme, row_selection, rows, source
from wwd.exchange.bundles.archive import Archive
from wwd.exchange.bundles.listings import Listing
from wwd.exchange.bundles.row_columns import SHAPES
from wwd.exchange.bundles.row_selection import Needed
from wwd.exchange.bundles.snapshot import hold_database_snapshot, write_new_file
from wwd.exchange.bundles.table_views import ChosenError, View, refuse_nothing

FORMAT = "world-wide-dishes-bundle/1"
TRIES = 3
HERE = Path(__file__).parent
logger = logging.getLogger(__name__)
Step = Callable[[str], None]


class DataChangedError(RuntimeError):
    """The data changed each time while it was read."""


class TableComputationError(RuntimeError):
    """A table could not be computed; the text names it."""


@dataclass(frozen=True)
class Computed:
    """A view with its table, marked with what plans list of it, how it stands to them, and its fingerprint."""

    view: View
    table: TidyTable
    fingerprint: str
    listed: tuple[Listed, ...]
    plan_status: PlanStatus


@dataclass(frozen=True)
class Request:
    """What a bundle is to hold. `images`: those that may leave the platform too."""

    name: str
    views: tuple[View, ...]
    images: bool = False


def write_bundle(
    request: Request, target: Path, step: Step = lambda text: None, noted: Callable[[int], object] = lambda count: None
) -> int:
    """Writes the bundle to `target`, whole or not at all; returns how many images it holds.

    `step` hears what is being done, `noted` how many images there are before the file is anybody's.
    Raises ChosenError, DataChangedError, TableComputationError, and OSError where the disk is full.
    """
    refuse_masked(request.views)
    with write_new_file(target) as part:
        for _try in range(TRIES):
            with hold_database_snapshot():
                before = fingerprint_inputs(request.views)
                count = write_archive(request, part, step)
                if fingerprint_inputs(request.views) == before:
                    noted(count)
                    return count
            logger.info("The data of bundle %s changed while it was read; it is read again.", request.name)
        raise DataChangedError(
            "The data changed while it was being read, three times. Try again when less is going on."
        )


def refuse_masked(views: Iterable[View]) -> None:
    """A bundle holds the names of models in its rows. Raises ChosenError while a plan hides them."""
    plans = frozen_plans()
    for view in views:
        mask = mask_for(view.table, view.values, plans)
        if mask.plan:
            raise ChosenError(
                f"{view.table} is masked by the plan “{mask.plan.title}”, and a bundle would name its models. "
                "Unmask it first."
            )


def fingerprint_inputs(views: Iterable[View]) -> list[str]:
    return [store.compute_table_fingerprint(view.spec) for view in views]


def write_archive(request: Request, path: Path, step: Step) -> int:
    """Writes the archive to `path` from the data as it is now."""
    archive = Archive(path, f"wwd-{request.name}")
    try:
        computed = list(compute_views(request.views, step))
        step("Rows are being collected.")
        needed = row_selection.gather_needed_rows(request.views)
        held = images.add_bundle_images(archive, needed) if request.images else 0
        add_tables(archive, computed)
        plans = add_plans(archive, computed)
        add_rows(archive, needed, step)
        add_code(archive)
        add_manifest(archive, request, computed, needed, plans, held)
        archive.close()
    except BaseException:
        archive.abandon()
        raise
    return held


def compute_views(views: Sequence[View], step: Step) -> Iterator[Computed]:
    """Each view from what is stored where it is fresh, else anew."""
    plans = frozen_plans()
    for view in views:
        step(f"{view.address} is being computed.")
        try:
            stored = tables_read.read_stored_table(view.table, view.values)
        except lookup.FilterNotFound as error:
            raise ChosenError(f"{view.address}: {error}") from error
        table, plan_status = stored.table, stored.plan_status
        if stored.state != "fresh" or table is None or plan_status is None:
            table, plan_status = mark_registered_rows(view.spec, view.values, recompute_view(view), plans)
            refuse_nothing(view, table)
        found = tuple(one for plan in plans for one in list_planned_analyses(plan, view.table))
        yield Computed(view, table, stored.fingerprint, found, plan_status)


def recompute_view(view: View) -> TidyTable:
    """The table as the data is now. Raises TableComputationError."""
    try:
        return tables_compute.compute_table(view.spec, view.values)
    except Exception as error:
        logger.exception("table %s could not be computed", view.table)
        text = "%(table)s could not be computed (%(kind)s). The log says where."
        raise TableComputationError(text % {"table": view.address, "kind": type(error).__name__}) from error


def add_tables(archive: Archive, computed: Iterable[Computed]) -> None:
    """Each table as the command `tables` prints it, with what was planned of it."""
    for one in computed:
        exact = to_csv(one.table)
        archive.add(f"tables/{one.view.stem}.csv", exact)
        archive.add(f"tables/{one.view.stem}{SPREADSHEET}", exact_to_spreadsheet(exact))
        archive.add(f"tables/{one.view.stem}.json", to_json(one.view.spec, one.table, one.view.values, one.fingerprint))


def add_plans(archive: Archive, computed: Sequence[Computed]) -> int:
    """The frozen plans that list one of the tables, or are about its data; returns how many."""
    listed = {one.slug for found in computed for one in (*found.plan_status.plans, *found.plan_status.late)}
    about = {title for found in computed for title in found.plan_status.others}
    kept = [plan for plan in frozen_plans() if plan.slug in listed or plan.title in about]
    for plan in kept:
        archive.add(f"plans/{plan.slug}.json", as_json(build_published_plan(plan)))
    return len(kept)


def add_rows(archive: Archive, needed: Needed, step: Step) -> None:
    """The rows themselves, and the listings that people read."""
    changed = rows.build_row_changes(needed)
    for shape in SHAPES:
        step(f"Rows are being written: {shape.name}.")
        with archive.writing(f"data/{shape.name}.jsonl") as target:
            rows.write_table_rows(shape, needed, changed.get(shape.model, lambda row: row), target)
    for name, listing in LISTINGS.items():
        add_listing(archive, name, partial(listing, needed))


def add_listing(archive: Archive, name: str, read: Callable[[], Listing]) -> None:
    """The listing exactly, for spreadsheets, and as JSON Lines. It is read anew for each: it may be long."""
    for ending, spreadsheet in ((".csv", False), (SPREADSHEET, True)):
        found = read()
        with archive.writing(f"{name}{ending}") as target:
            write_csv(target, found.columns, found.rows, spreadsheet=spreadsheet)
    found = read()
    with archive.writing(f"{name}.jsonl") as target:
        target.writelines(json_lines(found.columns, found.rows))


def add_code(archive: Archive) -> None:
    """The code of this installation, the pinned packages, the script that computes anew."""
    for name, path in source.list_source_files():
        archive.add(f"source/{name}", path.read_bytes())
    for name in (*source.LOCKS, source.LICENCE):
        archive.add(name, (source.ROOT / name).read_bytes())
    archive.add("recompute.py", (HERE / "recompute.py").read_bytes())


def add_manifest(
    archive: Archive, request: Request, computed: Sequence[Computed], needed: Needed, plans: int, held: int
) -> None:
    """What the bundle holds, under which approval and terms."""
    campaigns, runs = row_selection.campaigns_and_runs(needed)
    for run in runs:
        archive.add(f"runs/{run.slug}.json", as_json(listings.run_document(run)))
    approvals = [listings.campaign_document(campaign) for campaign in campaigns]
    ethics = listings.collection_ethics()
    archive.add("campaigns.json", as_json({"collection": {"ethics_approval": ethics}, "campaigns": approvals}))
    manifest = {
        "format": FORMAT,
        "name": request.name,
        "demonstration": any(one.table.demonstration for one in computed),
        "views": [view_document(one) for one in computed],
        "code": source.describe_commit(),
        "versions": source.get_python_versions(),
        "arithmetic": arithmetic.describe_arithmetic(),
        "rows": row_selection.count_needed_rows(needed),
        "pictures": held,
    }
    archive.add("bundle.json", as_json(manifest))
    archive.add("README.md", readme.write_readme(manifest, approvals, ethics, plans))
    archive.add("TERMS.md", readme.write_terms(held))


def view_document(one: Computed) -> dict[str, Any]:
    """A table in the list of contents. `listed`: what frozen plans say of it; `not_recomputed`: why it is not."""
    others = row_selection.unknown_inputs(one.view)
    return {
        "table": one.view.table,
        "filters": dict(one.view.values),
        "title": one.view.spec.title,
        "source": one.view.spec.source,
        "version": one.table.version,
        "csv": f"tables/{one.view.stem}.csv",
        "json": f"tables/{one.view.stem}.json",
        "standing": one.plan_status.sentence,
        "listed": [asdict(listed) for listed in one.listed],
        "not_recomputed": f"it is made from {', '.join(others)}, whose rows stay on the platform" if others else "",
    }


def as_json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


LISTINGS: Mapping[str, Callable[[Needed], Listing]] = {
    "prompts": listings.list_bundle_prompts,
    "answers": listings.list_bundle_outcomes,
    "refusals": listings.list_bundle_refusals,
}
