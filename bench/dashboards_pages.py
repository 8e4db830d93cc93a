"""The pages that `bench/dashboards.py` asks for: found in registry, addresses and list of tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import get_fields_from_path
from django.db.models import Model
from django.http import HttpRequest
from django.urls import NoReverseMatch, URLPattern, reverse

from bench.dashboards_few import DRAFT, FROZEN
from evaluation import urls
from evaluation.drilldown.cells import cell_query
from evaluation.models import GeneratedImage, Outcome, Run, Unit
from evaluation.registry import derived, lookup
from evaluation.registry.names import TABLES
from evaluation.tables import read
from evaluation.views.gallery import has_gallery
from review.models import Campaign, Reviewer
from wwd.base.packages import PACKAGES

OURS = ("auth", *PACKAGES)
# Figures are drawn once and kept; files are no pages.
FILES = {"csv", "figure", "pdf", "png", "image-file", "fetch"}
# Tables of other tables' observations: those of one table of reviews, and of one of a study.
DERIVED = tuple(
    f"{kind}.{base}" for base in ("review.quality", "stereotypes.answers_country") for kind in derived.KINDS
)
READ = "?name=bench&view=review.quality&view=association.scores&view=overview.countries"
PILOT = "?dishes=50&images=2&reviewers=3&people=50&tests=1&pilot=review.quality&metric=food"
SEARCHED = ("bench", "Dish 12", "image:99:Q2", "nothing like this")


@dataclass(frozen=True)
class Page:
    """An address; `stored`: it shows a stored table, so its time must not grow with the data."""

    name: str
    address: str
    stored: bool = False


def lists() -> Iterator[Page]:
    """Every changelist: plain, its second page, each value of its filters, searches; and the first change form."""
    for model, model_admin in admin.site._registry.items():
        meta = model._meta
        if meta.app_label not in OURS:
            continue
        name = f"{meta.app_label}.{meta.model_name}"
        start = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
        yield Page(f"list {name}", start)
        yield Page(f"list {name} p=2", f"{start}?p=2")
        for query in filters(model, model_admin):
            yield Page(f"list {name} {query}", f"{start}?{query}")
        for term in (*SEARCHED, key_of(model)) if model_admin.search_fields else ():
            yield Page(f"search {name} {term[:20]}", f"{start}?q={term}")
        for which, order in (("first", "pk"), ("last", "-pk")):
            if row := model._default_manager.order_by(order).values_list("pk", flat=True).first():
                yield Page(
                    f"form {name} {which}", reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row])
                )


def key_of(model: type[Model]) -> str:
    return str(model._default_manager.order_by("pk").values_list("pk", flat=True).first() or "none")


def filters(model: type[Model], model_admin: Any) -> Iterator[str]:
    """A query for some values of each filter of the list."""
    for entry in model_admin.list_filter:
        if not isinstance(entry, str):
            yield from other_filter(model, model_admin, entry)
            continue
        field: Any = get_fields_from_path(model, entry)[-1]
        if field.choices:
            yield from (f"{entry}__exact={value}" for value, _ in field.choices)
        elif field.remote_field:
            ids = field.related_model._default_manager.order_by("pk").values_list("pk", flat=True)[:3]
            yield from (f"{entry}__{field.target_field.name}__exact={pk}" for pk in ids)
        elif field.get_internal_type() == "BooleanField":
            yield from (f"{entry}__exact={value}" for value in (0, 1))


def other_filter(model: type[Model], model_admin: Any, entry: Any) -> Iterator[str]:
    """The same of a filter that is no plain field: a pair of field and class, or a class of our own."""
    if isinstance(entry, tuple):
        yield from (f"{entry[0]}__isempty={value}" for value in (0, 1))
    else:
        made = entry(HttpRequest(), {}, model, model_admin)
        yield from (f"{made.parameter_name}={value}" for value, _ in made.lookup_choices)


def of_staff() -> Iterator[Page]:
    """What staff open beside lists and forms: the first page, one app's, pages of campaigns and people, both sides."""
    for name in ("index", "takeback", "translations"):
        yield Page(f"page {name}", reverse(f"admin:{name}" if name == "index" else name))
    for app in OURS:
        yield Page(f"page app {app}", reverse("admin:app_list", args=[app]))
    for campaign in (Campaign.objects.order_by("pk").first(), Campaign.objects.order_by("pk").last()):
        if campaign is None:
            continue
        look = reverse("admin:review_campaign_look", args=[campaign.pk, 1001])
        yield Page(f"page look {campaign.pk}", look)
        yield Page(f"page look {campaign.pk} page=50", f"{look}?page=50")
        for name in ("images", "preview"):
            yield Page(f"page {name} {campaign.pk}", reverse(f"admin:review_campaign_{name}", args=[campaign.pk]))
    if reviewer := Reviewer.objects.order_by("pk").first():
        yield Page("page reviewer report", reverse("admin:review_reviewer_report", args=[reviewer.pk]))
    units = reverse("admin:evaluation_unit_changelist")
    for run in Run.objects.order_by("pk"):
        for state in Unit.State.values:
            yield Page(f"list units of {run.slug} {state}", f"{units}?run__id__exact={run.pk}&state__exact={state}")
    yield from made("takeback", {}, namespace="", query="?network=bench")
    for name, query in (("bundle", ""), ("reports", ""), ("read", READ)):
        yield from made(name, {}, namespace="bundles", query=query)


def researchers() -> Iterator[Page]:
    """Every researcher's page by its name in `evaluation/urls.py`, with values that exist."""
    for pattern in urls.urlpatterns:
        if isinstance(pattern, URLPattern) and pattern.name not in FILES:
            yield from pages_of(str(pattern.name), list(pattern.pattern.converters))
    yield from made("precision", {}, query=PILOT)
    yield from made("plan-new", {}, query=f"?amends={FROZEN}")


def pages_of(name: str, arguments: list[str]) -> Iterator[Page]:
    """The pages of one address: of every table, of every run, or one where it takes something else."""
    if name in ("drilldown", "take-cell"):
        yield from cells(name)
    elif name == "subject-images":
        yield from made(name, {"pk": value_of("subject")})
    elif arguments == ["name"]:
        for table in (
            names() if name != "gallery" else [each for each in names() if has_gallery(lookup.find_table_spec(each))]
        ):
            yield from made(name, {"name": table}, stored=True)
    elif arguments == ["slug"] and name.startswith("plan"):
        for slug in (DRAFT, FROZEN):
            yield from made(name, {"slug": slug})
    elif arguments == ["slug"]:
        for run in Run.objects.order_by("pk"):
            yield from made(name, {"slug": run.slug})
    else:
        yield from made(name, {argument: value_of(argument) for argument in arguments}, stored=name == "overview")


def made(
    name: str, arguments: dict[str, Any], *, stored: bool = False, namespace: str = "evaluation", query: str = ""
) -> Iterator[Page]:
    try:
        address = reverse(f"{namespace}:{name}" if namespace else name, kwargs=arguments)
        yield Page(f"page {name} {' '.join(map(str, arguments.values()))}{query}", address + query, stored)
    except NoReverseMatch as error:
        print(f"not measured: {name}: {error}")


def cells(name: str) -> Iterator[Page]:
    """What is behind the first and the last cell of every table, each with its second page."""
    for table in names():
        stored = read.read_stored_table(table, {}).table
        for row in (stored.rows[0], stored.rows[-1]) if stored and stored.rows else ():
            query = cell_query({}, row.groups, row.metric)
            for page in made(name, {"name": table}):
                yield Page(f"{page.name} {query}", page.address + query)
                if name == "drilldown":
                    yield Page(f"{page.name} {query} on", f"{page.address}{query}&after=5000")


def value_of(argument: str) -> Any:
    """A value that exists for an argument of an address."""
    found = {
        "name": lambda: "review.quality",
        "slug": lambda: "bench-1",
        "image": lambda: GeneratedImage.objects.latest("pk").pk,
        "pk": lambda: GeneratedImage.objects.latest("pk").pk,
        "subject": lambda: GeneratedImage.objects.latest("pk").subject_id,
        "unit": lambda: Outcome.objects.order_by("pk").values_list("pk", flat=True).first(),
    }
    return found[argument]() if argument in found else 1


def names() -> list[str]:
    """The named tables and some derived from them."""
    return [*TABLES, *DERIVED]


def unseen(name: str) -> Iterator[dict[str, str]]:
    """Filters of a table that nobody asked for yet: one that keeps some of its rows, and one that is counted anew."""
    spec = lookup.find_table_spec(name)
    whole = read.read_stored_table(name, {}).table
    options = whole.about.get("options", {}) if whole else {}
    values = {"country": "Angola", "continent": "Africa", "model": "bench-one", "run": "bench-4", "label": "any"}
    for keeps in (True, False):
        for wanted, value in values.items():
            if wanted in spec.filters and spec.only_selects_rows(wanted) == keeps:
                known = options.get(wanted, [value])
                yield {wanted: value if value in known else known[0]}
                break
