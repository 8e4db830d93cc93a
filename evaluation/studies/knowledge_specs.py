"""The named tables of what language models know, and the definitions of their numbers."""

from collections.abc import Mapping

from django.utils.translation import gettext_noop as _

from evaluation.table_spec import TableSpec

INPUTS = ("runs.knowledge", "withdrawals")
SOURCE = "World Wide recipe §3.2.4, App. H"

FIELD_METRICS = {
    "as_published": _(
        "Per cent. Country: share of the answers that a judge model accepted. Time of day, kind, utensils: mean "
        "intersection over union of the options found as parts of the text, over the answers about dishes whose "
        "contributor named one. Ingredients: a judge model's intersection ÷ its union, not clipped."
    ),
    "sem": _("Standard error of *as published* the way the paper computes it: population deviation ÷ √rows."),
}
FAILURE_METRICS = {
    "share": _(
        "Per cent of the descriptions in which a listed word shows this failure (App. H.3); *refused*: per cent of "
        "the descriptions asked for that the provider refused or held back."
    ),
    "sem": _("Standard error of the share the way the paper computes it: population deviation ÷ √rows."),
}


def spec(
    name: str, title: str, columns: tuple[str, ...], metrics: Mapping[str, str], undrawn: tuple[str, ...]
) -> TableSpec:
    filters = ("run", *columns)
    return TableSpec(
        f"knowledge.{name}", title, SOURCE, "1", columns, metrics, INPUTS, filters, study="knowledge", undrawn=undrawn
    )


def of_fields(name: str, title: str, place: str) -> TableSpec:
    return spec(name, title, ("field", place, "model"), FIELD_METRICS, ("sem",))


def of_failures(name: str, title: str, place: str) -> TableSpec:
    return spec(name, title, ("failure", place, "model"), FAILURE_METRICS, ("sem",))


FIELDS_CONTINENT = of_fields("fields", _("What language models know about dishes, by continent"), "continent")
FIELDS_COUNTRY = of_fields("fields_country", _("What language models know about dishes, by country"), "country")
FIELDS_LANGUAGE = of_fields(
    "fields_language", _("What language models know about dishes, by the language of their name"), "language"
)
FAILURES_CONTINENT = of_failures("failures", _("How descriptions of dishes fail, by continent"), "continent")
FAILURES_COUNTRY = of_failures("failures_country", _("How descriptions of dishes fail, by country"), "country")
FAILURES_LANGUAGE = of_failures(
    "failures_language", _("How descriptions of dishes fail, by the language of their name"), "language"
)
