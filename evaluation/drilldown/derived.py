"""What is behind gaps and differences: images of the groups at their ends, in the table that they come from."""

from collections.abc import Mapping
from dataclasses import replace

from evaluation.drilldown.cells import Cell, Drilldown, load_drilldown
from evaluation.metrics.observations import ALL
from evaluation.models import GeneratedImage
from evaluation.registry import derived, lookup
from evaluation.tables import read


def drill_down_disparity(cell: Cell) -> Drilldown:
    """The group at one end: the highest for its own number, else the lowest."""
    end = "highest" if cell.metric == "highest_value" else "lowest"
    group = cell.view.mask.real(cell.groups["by"], cell.groups[end])
    if not group:
        return build_empty_drilldown("No group is named as lower or higher here, so there are no images to show.")
    note = f"These are the images of the {end} group, {cell.groups[end]}."
    return of_base(cell, {cell.groups["by"]: group}, note)


def drill_down_comparison(cell: Cell) -> Drilldown:
    """The images of one side in one place: the second's for its own number, else the first's."""
    side = "second" if cell.metric == "second_mean" else "first"
    if cell.groups["compared"] != "models" or ALL in cell.groups.values():
        return build_empty_drilldown("Images are shown for models and one place: choose a row with a place.")
    titles = "reviews" in cell.spec.inputs
    model = cell.view.mask.real("model", cell.groups[side], titles=titles)
    note = f"These are all images of {cell.groups[side]} here, also those without a partner."
    return of_base(cell, {"model": model}, note)


def of_base(cell: Cell, groups: Mapping[str, str], note: str) -> Drilldown:
    """What is behind the cell of these groups, and of the groups that it shares, in the table it comes from."""
    name = derived.base_of(cell.spec.name)
    base = lookup.find_table_spec(name)
    filters = {key: value for key, value in cell.filters.items() if key in base.filters and key not in base.columns}
    real = {**{column: cell.groups.get(column, "") for column in base.columns}, **groups}
    view = replace(read.read_stored_table(name, filters, unmasked=True), mask=cell.view.mask)
    if view.table is None:
        return build_empty_drilldown(f"The table {name} was not computed yet: open it first.")
    row = next(
        (row for row in view.table.rows if dict(row.groups) == real and row.metric == cell.groups["measure"]), None
    )
    found = load_drilldown(Cell(view, real, real, cell.groups["measure"], row, cell.mask))
    return replace(found, note=f"{note} {found.note}".strip())


def build_empty_drilldown(note: str) -> Drilldown:
    return Drilldown("images", GeneratedImage.objects.none(), lambda ids: (), note=note)
