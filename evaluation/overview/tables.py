"""How far the collection is, as named tables: what there is, from where, since when, beside who is on the internet.

All count what is released (`Dish.objects.released()`), or, where there is nothing yet, the demonstration, which they
then say. Counts are no estimates: they claim no interval.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

import numpy as np
from django.db.models import Count, Min
from django.db.models.functions import Coalesce

from collection.models import Dish, DishCountry, DishLanguage, DishQuerySet, Photo, Source, Submission
from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.inference.intervals import SHARE, one_way
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.novelty.internet_use import SOURCE as INTERNET_SOURCE
from evaluation.novelty.internet_use import internet_use

INPUTS = ("dishes", "withdrawals")
NOTHING_YET = "No dish was accepted yet."
COUNTS = "Counts of accepted dishes; merged ones count once. n are the dishes, clusters the people who described them."
TWICE = "A dish of two countries counts in both."
COUNTED = "a count: no interval is claimed"
BANDS = ("0 to 25 %", "25 to 50 %", "50 to 75 %", "75 to 100 %")
NO_FIGURE = "no figure"
PAPER_MOBILE = 0.62


def select_counted_dishes() -> tuple[DishQuerySet, bool]:
    """The dishes that are counted, and whether they are demonstrations."""
    real = Dish.objects.released()
    if real.exists():
        return real, False
    shown = Dish.objects.accepted().filter(source=Source.DEMONSTRATION)
    return shown, shown.exists()


def build_overview_table(
    spec: TableSpec, rows: Sequence[TidyRow], notes: Sequence[str], demonstration: bool
) -> TidyTable:
    sentences = tuple(notes) if rows else (NOTHING_YET,)
    return TidyTable(spec.name, spec.version, spec.columns, tuple(rows), sentences, demonstration)


def build_count_estimate(value: int, n: int, people: int) -> Estimate:
    return Estimate(value, n, people, reason=COUNTED)


def people_of(found: DishQuerySet) -> int:
    return found.exclude(contributor=None).values("contributor").distinct().count()


def compute_totals(filters: Filters) -> TidyTable:
    """`overview.totals`."""
    found, demonstration = select_counted_dishes()
    n = found.count()
    if not n:
        return build_overview_table(TOTALS, (), (), False)
    people = people_of(found)
    withdrawn = Dish.objects.filter(state=Dish.State.WITHDRAWN)
    of_kind = {"source": Source.DEMONSTRATION}
    numbers = {
        "dishes": n,
        "withdrawn dishes": (withdrawn.filter(**of_kind) if demonstration else withdrawn.exclude(**of_kind)).count(),
        "contributors": people,
        "countries": len(by_country(found)),
        "languages": DishLanguage.objects.filter(dish__in=found).exclude(code="mis").values("code").distinct().count(),
        "photos": Photo.objects.filter(dish__in=found, state=Photo.State.ACCEPTED).count(),
    }
    rows = [
        TidyRow({"what": what}, "number", build_count_estimate(number, n, people)) for what, number in numbers.items()
    ]
    notes = (COUNTS, "Languages without a code are not counted.", *describe_merged_names(found))
    return build_overview_table(TOTALS, rows, notes, demonstration)


def describe_merged_names(found: DishQuerySet) -> Iterator[str]:
    """What counts as one country, with the names of one that were written in several ways."""
    names: dict[str, set[str]] = defaultdict(set)
    places = DishCountry.objects.filter(dish__in=found).exclude(country=None).order_by()
    for country, name in places.values_list("country__name", "name").distinct():
        names[country].add(name)
    several = "; ".join(", ".join(sorted(held)) for _, held in sorted(names.items()) if len(held) > 1)
    yield "A country is one whatever it is called, a place outside the list of countries goes by its name."
    if several:
        yield f"Names of one country, counted once (Table B.4 of World Wide Dishes counts names): {several}."


def by_country(found: DishQuerySet) -> dict[str, tuple[int, int]]:
    """Country → dishes and people; a place outside the list under the name it was given."""
    places = DishCountry.objects.filter(dish__in=found).order_by().values_list(Coalesce("country__name", "name"))
    counts = places.annotate(n=Count("dish", distinct=True), people=Count("dish__contributor", distinct=True))
    return {name: (n, people) for name, n, people in counts}


def compute_country_counts(filters: Filters) -> TidyTable:
    """`overview.countries`."""
    found, demonstration = select_counted_dishes()
    rows = [
        TidyRow({"country": name}, "dishes", build_count_estimate(n, n, who))
        for name, (n, who) in by_country(found).items()
    ]
    return build_overview_table(COUNTRIES, rows, (COUNTS, TWICE, *describe_merged_names(found)), demonstration)


def compute_growth(filters: Filters) -> TidyTable:
    """`overview.growth`."""
    found, demonstration = select_counted_dishes()
    new = Counter(month_of(at) for at in found.values_list("created_at", flat=True))
    firsts = found.exclude(contributor=None).order_by().values("contributor").annotate(first=Min("created_at"))
    came = Counter(month_of(row["first"]) for row in firsts)
    rows: list[TidyRow] = []
    total = 0
    for month in iterate_months(new):
        total += new[month]
        numbers = {"dishes": new[month], "so_far": total, "new_contributors": came[month]}
        rows += [
            TidyRow({"month": month}, name, build_count_estimate(n, new[month], came[month]))
            for name, n in numbers.items()
        ]
    entered = "The month in which a dish entered this platform; imported ones entered with their import."
    return build_overview_table(
        GROWTH, rows, (entered, "Here n are the new dishes of the month, clusters its new people."), demonstration
    )


def month_of(at: datetime) -> str:
    return f"{at:%Y-%m}"


def iterate_months(found: Mapping[str, int]) -> Iterator[str]:
    """Every month from the first to the last, also those in which nothing came."""
    if not found:
        return
    first, last = (date.fromisoformat(f"{month}-01") for month in (min(found), max(found)))
    for number in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
        yield f"{number // 12}-{number % 12 + 1:02d}"


def band_of(percent: float) -> str:
    return BANDS[min(int(percent // 25), 3)]


def compute_internet_coverage(filters: Filters) -> TidyTable:
    """`overview.coverage`."""
    found, demonstration = select_counted_dishes()
    per_code = Counter(
        dict(
            DishCountry.objects.filter(dish__in=found)
            .exclude(country=None)
            .order_by()
            .values_list("country")
            .annotate(n=Count("dish", distinct=True))
        )
    )
    if not per_code:
        return build_overview_table(COVERAGE, (), (), False)
    figures = internet_use()
    members = {band: [code for code, use in figures.items() if band_of(use.percent) == band] for band in BANDS}
    if without := [code for code in per_code if code not in figures]:
        members[NO_FIGURE] = without
    rows = [row for band, codes in members.items() for row in band_rows(band, codes, per_code)]
    notes = (
        f"Internet use: {INTERNET_SOURCE}; the latest year from 2015 to 2021 of each country.",
        f"{TWICE} A share of countries is of all that have a figure, not of a sample: no interval is claimed.",
        "Whom one reached decides too: recruitment through African networks may explain more than access does.",
    )
    return build_overview_table(COVERAGE, rows, notes, demonstration)


def band_rows(band: str, codes: Sequence[str], per_code: Mapping[str, int]) -> Iterator[TidyRow]:
    """How many countries, which share of them is represented, and how many dishes."""
    there = sum(code in per_code for code in codes)
    number = sum(per_code.get(code, 0) for code in codes)
    every = "all of them are represented: only those with dishes are known here" if band == NO_FIGURE else ""
    share = there / len(codes) if codes and not every else None
    estimates = {
        "countries": build_count_estimate(len(codes), len(codes), len(codes)),
        "represented": Estimate(share, len(codes), len(codes), reason=every or COUNTED),
        "dishes": build_count_estimate(number, number, there),
    }
    yield from (TidyRow({"internet_use": band}, metric, estimate) for metric, estimate in estimates.items())


def compute_device_shares(filters: Filters) -> TidyTable:
    """`overview.devices`."""
    found, demonstration = select_counted_dishes()
    sent = Submission.objects.filter(dish__in=found, purpose=Submission.Purpose.DISH)
    told = (Submission.Device.MOBILE, Submission.Device.DESKTOP)
    known = list(sent.filter(device__in=told).order_by("pk").values_list("device", "contributor"))
    notes = [
        "Decided by the browser's hint or name when the dish was first sent; neither is stored.",
        f"Sent from a device that is not known: {sent.filter(device=Submission.Device.UNKNOWN).count()}.",
        f"The paper reports {PAPER_MOBILE:.0%} of its contributions from phones.",
    ]
    if not known:
        none = "No dish was sent here from a device that is known; imported ones bring no device."
        return TidyTable(DEVICES.name, DEVICES.version, DEVICES.columns, (), (none,), demonstration)
    clusters = np.array([str(person) for _device, person in known])
    values = np.array([[float(device == name) for name in told] for device, _person in known])
    people = len(np.unique(clusters))
    rows = [
        TidyRow(
            {"device": str(name)},
            "share",
            Estimate(float(column.mean()), len(known), people, each.low, each.high, each.method, each.reason),
        )
        for name, column, each in zip(
            told, values.T, one_way(values, clusters, bounds=SHARE, what="people"), strict=True
        )
    ]
    return build_overview_table(DEVICES, rows, notes, demonstration)


def build_overview_spec(
    name: str, title: str, column: str, metrics: Mapping[str, str], compute: Callable[[Filters], TidyTable]
) -> TableSpec:
    """A table of one column whose values are its only filter."""
    return TableSpec(f"overview.{name}", title, "Own", "1", (column,), metrics, INPUTS, (column,), compute)


TOTALS = replace(
    build_overview_spec("totals", "What there is", "what", {"number": "How many there are."}, compute_totals),
    figure=False,
)
COUNTRIES = build_overview_spec(
    "countries",
    "Dishes by country",
    "country",
    {"dishes": "Accepted dishes of the country."},
    compute_country_counts,
)
GROWTH = build_overview_spec(
    "growth",
    "Growth by month",
    "month",
    {
        "dishes": "Accepted dishes that came in the month.",
        "so_far": "Accepted dishes that came until the end of the month.",
        "new_contributors": "People whose first accepted dish came in the month.",
    },
    compute_growth,
)
COVERAGE = build_overview_spec(
    "coverage",
    "Coverage beside internet use",
    "internet_use",
    {
        "countries": "Countries whose share of people on the internet lies in this range.",
        "represented": "Share of these countries that have an accepted dish.",
        "dishes": "Accepted dishes of these countries.",
    },
    compute_internet_coverage,
)
DEVICES = replace(
    build_overview_spec(
        "devices",
        "Devices that dishes were sent from",
        "device",
        {"share": "Share of the dishes whose device is known."},
        compute_device_shares,
    ),
    version="2",
)
