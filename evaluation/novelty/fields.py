"""`novelty.fields`: what is told of a dish here, and in the reference list (Table D.6)."""

from collections.abc import Callable, Mapping, Sequence

from collection.models import Dish, Photo, PhotoLink
from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.inference.proportion import chance_alone
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.models import ReferenceDish
from evaluation.novelty.counting import INPUTS, Compared, load_dishes_and_reference
from evaluation.novelty.tables import WHOLE, build_novelty_table

NO_SUCH_FIELD = "the reference has no such field"
NO_LIST = "there is no reference list"
LANGUAGE_UNKNOWN = "mis"


def _text(name: str) -> Callable[[Dish], bool]:
    return lambda dish: bool(getattr(dish, name))


def _link(kind: str) -> Callable[[Dish], bool]:
    return lambda dish: any(link.kind == kind and link.url for link in dish.links.all())


# In the order of the release's columns; whether a dish says something of it.
FIELDS: Mapping[str, Callable[[Dish], bool]] = {
    "local_name": _text("local_name"),
    "english_name": _text("english_name"),
    "language": lambda dish: any(row.code != LANGUAGE_UNKNOWN for row in dish.languages.all()),
    "countries": lambda dish: bool(dish.places.all()),
    "continent": lambda dish: bool(dish.continents.all()),
    "regions": _text("regions"),
    "cultures": _text("cultures"),
    "time_of_day": _text("time_of_day"),
    "type_of_dish": _text("kinds"),
    "utensils": _text("utensils"),
    "drink": _text("drink"),
    "occasions": _text("occasions"),
    "ingredients": _text("ingredients"),
    "recipe": _text("recipe"),
    "more_details": _text("more_details"),
    "public_cc_image_url": _link(PhotoLink.Kind.PUBLIC),
    "uploaded_image": lambda dish: (
        _link(PhotoLink.Kind.UPLOADED)(dish) or any(photo.state == Photo.State.ACCEPTED for photo in dish.photos.all())
    ),
}


def compare_filled_fields(filters: Filters) -> TidyTable:
    """Which fields are filled in, here and there."""
    found = load_dishes_and_reference(filters)
    ours = filled_here([int(dish.entry.key) for dish in found.dishes])
    theirs = filled_there(found)
    rows: list[TidyRow] = []
    for field in FIELDS if found.dishes or found.reference else ():
        here = share_of(ours[field], len(found.dishes), "there are no dishes")
        rows += [TidyRow({"field": field}, "ours", here), TidyRow({"field": field}, "reference", theirs[field])]
    return build_novelty_table(TABLE, rows, found, WHOLE)


def share_of(filled: int, n: int, none: str) -> Estimate:
    if not n:
        return Estimate(None, 0, 0, reason=none)
    interval = chance_alone(filled, n)
    return Estimate(filled / n, n, n, interval.low, interval.high, interval.method, interval.reason)


def filled_here(numbers: Sequence[int]) -> dict[str, int]:
    """Field → how many of the dishes of these numbers say something there."""
    wanted = set(numbers)
    counts = dict.fromkeys(FIELDS, 0)
    rows = Dish.objects.accepted().prefetch_related("places", "continents", "languages", "photos", "links")
    for dish in rows.iterator(chunk_size=2000):
        if dish.number in wanted:
            for field, filled in FIELDS.items():
                counts[field] += bool(filled(dish))
    return counts


def filled_there(found: Compared) -> dict[str, Estimate]:
    """Field → the share of the list's entries that say something there."""
    if found.reference is None:
        return dict.fromkeys(FIELDS, Estimate(None, 0, 0, reason=NO_LIST))
    rows = list(ReferenceDish.objects.filter(reference=found.reference).values_list("filled", flat=True))
    lacking = Estimate(None, 0, 0, reason=NO_SUCH_FIELD)
    return {
        field: share_of(sum(field in filled for filled in rows), len(rows), "the reference is empty")
        if field in found.reference.fields
        else lacking
        for field in FIELDS
    }


TABLE = TableSpec(
    name="novelty.fields",
    title="What is said of a dish, here and in a reference list",
    source="World Wide recipe App. D, Table D.6",
    version="2",
    columns=("field",),
    metrics={
        "ours": "Share of our dishes that say this.",
        "reference": "Share of the entries of the list that say this; not measured where it has no such field.",
    },
    inputs=INPUTS,
    filters=("reference", "field"),
    compute=compare_filled_fields,
)
