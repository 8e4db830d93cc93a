"""Galleries: the images at either end of a table's scale, side by side. Any table with these columns has one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from evaluation import queue
from evaluation.contracts import table
from evaluation.metrics.tidy import TidyRow
from evaluation.plans.mask import mask_of_models
from evaluation.presentation.images import ImageRow, RequestedImages, build_image_controls, by_id, rows_for, user_of
from evaluation.registry import lookup
from evaluation.tables import read, store
from evaluation.tables.format import format_number
from evaluation.views.tables import build_admin_context, for_researchers

PLACED = ("end", "place", "picture")
OWN = ("show", "of")
ENDS = ("top", "bottom")
MOST = 120
DIGITS = 3
Key = tuple[str, ...]
Tile = tuple[ImageRow, str]


@dataclass(frozen=True)
class Shelf:
    """The images of one group: end → (image, its numbers in words), the outermost first."""

    group: Key
    ends: Mapping[str, Sequence[Tile]]


def has_gallery(spec: table.TableSpec) -> bool:
    return all(column in spec.columns for column in PLACED)


@for_researchers
def show_gallery(request: HttpRequest, name: str) -> HttpResponse:
    """One value of the first column at a time: both ends of each of its groups."""
    rest = {key: str(request.GET[key]) for key in request.GET if key not in OWN}
    try:
        view = read.read_stored_table(name, rest)
        if not has_gallery(view.spec):
            raise lookup.TableNotFound(f"The table {name} has no ends to show.")
    except (lookup.TableNotFound, lookup.FilterNotFound) as error:
        more = build_admin_context(request, "There is no such gallery", sentence=str(error))
        return render(request, "evaluation/no_table.html", more, status=404)
    if view.state != "fresh" and store.request_fresh_table(view):
        transaction.on_commit(queue.request_tables)
    more = build_admin_context(request, view.spec.title, view=view, **build_gallery_context(request, view))
    return render(request, "evaluation/images/gallery.html", more)


def build_gallery_context(request: HttpRequest, view: store.TableView) -> dict[str, object]:
    """What the page lists: a handful of queries however many images."""
    rows, asked = view.table.rows if view.table else (), RequestedImages.of(request)
    first = view.spec.columns[0]
    choices = list(dict.fromkeys(row.groups[first] for row in rows))
    chosen = request.GET.get("of") if request.GET.get("of") in choices else next(iter(choices), "")
    mine = [row for row in rows if row.groups[first] == chosen]
    ids = list(dict.fromkeys(int(row.groups["picture"]) for row in mine))
    mask = view.mask if view.mask.active else mask_of_models()
    images = by_id(rows_for(ids[:MOST], user_of(request), asked, mask, beside=False))
    return {
        "column": first,
        "choices": choices,
        "chosen": chosen,
        "shelves": group_gallery_shelves(view.spec.columns, mine, images),
        "left_out": max(0, len(ids) - MOST),
        **build_image_controls(request, asked),
    }


def group_gallery_shelves(
    columns: Sequence[str], rows: Iterable[TidyRow], images: Mapping[int, ImageRow]
) -> list[Shelf]:
    """The rows by group and end; the numbers of one image stand together."""
    named = columns[: columns.index("end")]
    found: dict[Key, dict[str, dict[int, list[str]]]] = {}
    for row in rows:
        ends = found.setdefault(tuple(row.groups[name] for name in named), {})
        numbers = ends.setdefault(row.groups["end"], {}).setdefault(int(row.groups["picture"]), [])
        if row.estimate.value is not None:
            numbers.append(f"{row.metric.replace('_', ' ')} {format_number(row.estimate.value, DIGITS)}")
    return [
        Shelf(
            group,
            {
                end: [(images[pk], ", ".join(numbers)) for pk, numbers in held.items() if pk in images]
                for end, held in sorted(ends.items(), key=lambda pair: ENDS.index(pair[0]) if pair[0] in ENDS else 2)
            },
        )
        for group, ends in found.items()
    ]
