"""What the page behind a cell shows: rows of images or units, each with what the cell counted of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest

from evaluation.drilldown.cells import Cell, Drilldown, Observed
from evaluation.models import Outcome, Unit
from evaluation.plans.mask import Mask
from evaluation.presentation.images import (
    ImageRow,
    RequestedImages,
    User,
    build_image_controls,
    by_id,
    model_name,
    rows_for,
    user_of,
)
from evaluation.presentation.table import choose_decimals
from evaluation.presentation.table import format_cell as number_of
from evaluation.registry.names import READ_ANSWERS
from evaluation.tables.outcomes import image_from
from wwd.base.text import count_noun


@dataclass(frozen=True)
class UnitRow:
    """A unit with what it gave; `image` where there is one or a record of why there is none."""

    unit: Unit
    model: str
    text: str
    reason: str
    counted: Sequence[str]
    image: ImageRow | None

    @property
    def question(self) -> str:
        return str(self.unit.payload.get("question", ""))


def build_drilldown_context(request: HttpRequest, cell: Cell, found: Drilldown, after: int) -> dict[str, Any]:
    """What `evaluation/images/drilldown.html` needs beside the title."""
    asked, user, mask = RequestedImages.of(request), user_of(request), cell.mask
    ids, following = found.page(after)
    told = describe_observations(
        found.observed(ids) if ids else (), found.by_people and not user.has_perm(READ_ANSWERS)
    )
    if found.kind == "units":
        shown: Mapping[str, Any] = {"units": unit_rows(ids, user, asked, mask, told)}
    else:
        rows = rows_for(ids, user, asked, mask)
        shown = {"rows": [replace(row, counted=told.get(row.pk, ())) for row in rows]}
    following_address = f"{cell.query}&after={following}" if following else ""
    has_images = "rows" in shown or any(row.image for row in shown["units"])
    return {
        **shown,
        **build_image_controls(request, asked),
        "has_images": has_images,
        "next": following_address,
        "first": cell.query if after else "",
    }


def describe_observations(observed: Iterable[Observed], only_counts: bool) -> dict[int, list[str]]:
    """Id of a row → what the cell counted of it; how many answers where single ones may not be read."""
    found: dict[int, list[Observed]] = defaultdict(list)
    for each in observed:
        found[each.of].append(each)
    if only_counts:
        return {of: [describe_answer_counts(each)] for of, each in found.items()}
    return {of: [one.sentence for one in each] for of, each in found.items()}


def describe_answer_counts(observed: Sequence[Observed]) -> str:
    n = sum(each.value is not None for each in observed)
    return f"{n} {count_noun(n, 'answer', 'answers')} counted, {len(observed) - n} not counted"


def unit_rows(
    ids: Sequence[int], user: User, asked: RequestedImages, mask: Mask, told: Mapping[int, Sequence[str]]
) -> list[UnitRow]:
    """Units in the order of `ids`, with the images that they made or looked at."""
    related = ("unit__subject", "unit__model", "embedding")
    rows = Outcome.objects.select_related(*related).defer("embedding__vector").in_bulk(list(ids))
    found = {
        key: image_from(row.image_id, row.embedding.image_id if row.embedding else None, row.unit.payload)
        for key, row in rows.items()
    }
    made = {key: image for key in ids if (image := found.get(key))}
    images = by_id(rows_for(list(made.values()), user, asked, mask))
    return [
        UnitRow(
            unit=rows[key].unit,
            model=model_name(rows[key].unit.model, mask),
            text=mask.text(rows[key].text),
            reason=mask.text(rows[key].reason),
            counted=told.get(key, ()),
            image=images.get(made.get(key, 0)),
        )
        for key in ids
        if key in rows
    ]


def build_cell_number_context(cell: Cell) -> dict[str, Any]:
    """The number itself, as the table shows it."""
    if cell.row is None:
        return {}
    return {"cell": number_of(cell.row.estimate, choose_decimals([cell.row.estimate]))}


def title_of(cell: Cell) -> str:
    groups = ", ".join(cell.shown.values())
    return "Drill-down: “{metric}” of {groups}".format(metric=cell.metric.replace("_", " "), groups=groups)
