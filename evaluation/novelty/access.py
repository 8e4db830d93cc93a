"""`novelty.access` and `novelty.countries`: do dishes come from where the internet is? (App. D, Fig. D.1.)

The paper's figure is approximated, not reproduced: its figures of internet use were not released.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from collection.models import Continent, Country
from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.ranks import spearman, spearman_interval
from evaluation.metrics.tidy import Estimate, TidyRow, TidyTable
from evaluation.novelty.counting import NO_DISHES, describe_public_dishes
from evaluation.novelty.internet_use import SOURCE as INTERNET_SOURCE
from evaluation.novelty.internet_use import InternetUse, internet_use

INPUTS = ("dishes", "withdrawals")
COUNT = "a count: no interval is claimed"
RECRUITMENT = (
    "A correlation says nothing of causes: people were asked through networks that are strongest in Africa, and that "
    "alone may explain which countries are represented, whatever their access to the internet."
)
APPROXIMATED = (
    f"Internet use: {INTERNET_SOURCE}; the latest year from 2015 to 2021 of each country, so years differ. The paper’s "
    "Fig. D.1 is approximated, not reproduced. A dish of several countries counts in each."
)


class Line(NamedTuple):
    """A country with a figure of internet use, and its number of dishes."""

    code: str
    name: str
    use: InternetUse
    dishes: int
    african: bool


SCOPES: Mapping[str, Callable[[Line], bool]] = {
    "all countries with figures": lambda line: True,
    "represented countries": lambda line: line.dishes > 0,
    "all countries with figures, without Africa": lambda line: not line.african,
    "represented countries, without Africa": lambda line: line.dishes > 0 and not line.african,
}


def collect_country_lines() -> tuple[list[Line], dict[str, int], bool]:
    """Countries with a figure; those with dishes and no figure (as written → dishes); whether it is a demonstration."""
    dishes, demonstration = describe_public_dishes()
    counts = Counter(code for dish in dishes for code in dish.entry.countries)
    known = {country.code: country for country in Country.objects.all()}
    figures = internet_use()
    found = [
        Line(code, known[code].name if code in known else use.country, use, counts[code], is_african(known.get(code)))
        for code, use in sorted(figures.items(), key=lambda item: item[1].country)
    ]
    without = {known[code].name if code in known else code: n for code, n in counts.items() if code not in figures}
    return found, without, demonstration


def is_african(country: Country | None) -> bool:
    return country is not None and Continent.AFRICA.value in country.continents


def compute_access_correlations(filters: Filters) -> TidyTable:
    """Spearman's ρ of dishes and internet use over countries, in four scopes."""
    found, without, demonstration = collect_country_lines()
    represented = any(line.dishes for line in found)
    rows = [
        TidyRow({"scope": scope}, "rho", estimate_correlation([line for line in found if inside(line)]))
        for scope, inside in SCOPES.items()
        if represented
    ]
    return build_access_table(ACCESS, rows, without, demonstration, represented)


def estimate_correlation(found: list[Line]) -> Estimate:
    n = len(found)
    dishes, use = [line.dishes for line in found], [line.use.percent for line in found]
    rho = spearman(dishes, use)
    if rho is None:
        return Estimate(None, n, n, reason="fewer than two countries, or all alike")
    interval = spearman_interval(dishes, use, "countries")
    return Estimate(rho, n, n, interval.low, interval.high, interval.method, interval.reason)


def tabulate_internet_use(filters: Filters) -> TidyTable:
    """Each country with a figure: its dishes and its internet use."""
    found, without, demonstration = collect_country_lines()
    represented = any(line.dishes for line in found)
    rows: list[TidyRow] = []
    for line in found if represented else ():
        groups = {"country": line.name, "iso3": line.code, "year": str(line.use.year)}
        rows.append(TidyRow(groups, "dishes", Estimate(line.dishes, line.dishes, line.dishes, reason=COUNT)))
        rows.append(TidyRow(groups, "internet_use", Estimate(line.use.percent, 1, 1, reason="as the ITU states it")))
    return build_access_table(COUNTRIES, rows, without, demonstration, represented)


def build_access_table(
    spec: TableSpec, rows: Iterable[TidyRow], without: Mapping[str, int], demonstration: bool, represented: bool
) -> TidyTable:
    notes = [APPROXIMATED, RECRUITMENT] if represented else [NO_DISHES]
    if without:
        named = ", ".join(f"{name} ({n})" for name, n in sorted(without.items()))
        notes.append(f"Countries with dishes and without a figure, left out: {named}.")
    return TidyTable(spec.name, spec.version, spec.columns, tuple(rows), tuple(notes), demonstration)


SOURCE = "World Wide recipe App. D, Fig. D.1 (approximated)"
ACCESS = TableSpec(
    name="novelty.access",
    title="Dishes and internet use over countries",
    source=SOURCE,
    version="2",
    columns=("scope",),
    metrics={"rho": "Spearman’s ρ of the number of dishes and the share of people who use the internet; n: countries."},
    inputs=INPUTS,
    filters=("scope",),
    compute=compute_access_correlations,
)
COUNTRIES = TableSpec(
    name="novelty.countries",
    title="Dishes and internet use of each country",
    source=SOURCE,
    version="1",
    columns=("country", "iso3", "year"),
    metrics={
        "dishes": "Public dishes of the country.",
        "internet_use": "Individuals using the internet, per cent of the population, in the year shown.",
    },
    inputs=INPUTS,
    filters=("country",),
    figure=False,
    compute=tabulate_internet_use,
)
