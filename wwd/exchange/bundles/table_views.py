"""Which views of which tables a bundle or a report holds: `review.quality?country=Kenya&interval=wilson`."""

import hashlib
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from django.utils.http import urlencode

from evaluation.contracts.table import TableSpec
from evaluation.metrics.tidy import TidyTable
from evaluation.models import Plan
from evaluation.plans.mask import mask_for
from evaluation.registry import lookup
from evaluation.suggestions import describe_unknown_name
from evaluation.tables.filter_values import describe_wrong_value

MOST_VIEWS = 100
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")


class ChosenError(ValueError):
    """What was chosen cannot be bundled; the text says why and what is accepted."""


@dataclass(frozen=True, order=True)
class View:
    """A named table with filters, both known to exist."""

    table: str
    filters: tuple[tuple[str, str], ...] = ()

    @property
    def spec(self) -> TableSpec:
        return lookup.find_table_spec(self.table)

    @property
    def values(self) -> Mapping[str, str]:
        return dict(self.filters)

    @property
    def address(self) -> str:
        """As it is chosen: the name, and the filters as in an address."""
        return f"{self.table}?{urlencode(self.filters)}" if self.filters else self.table

    @property
    def stem(self) -> str:
        """A file name: filters may hold any sign, so that their hash stands for them."""
        if not self.filters:
            return self.table
        return f"{self.table}.{hashlib.sha256(json.dumps(self.filters).encode()).hexdigest()[:8]}"


def check_bundle_name(text: str) -> str:
    """`text` as the name of a bundle. Raises ChosenError."""
    if not NAME.fullmatch(text):
        raise ChosenError("A name has at most 60 small letters, digits and hyphens, such as kenya-2026.")
    return text


def parse_views(texts: Iterable[str]) -> tuple[View, ...]:
    """The views, each once, in one order. Raises ChosenError."""
    found = sorted({parse_view(text) for text in texts})
    if not found:
        raise ChosenError("Choose at least one table.")
    if len(found) > MOST_VIEWS:
        raise ChosenError(f"Choose at most {MOST_VIEWS} tables with their filters at once.")
    return tuple(found)


def parse_view(text: str) -> View:
    """The view that `text` names: `table`, or `table?filter=value&…` as in the address of its page."""
    table, _mark, query = text.strip().partition("?")
    try:
        # A lone surrogate stands for bytes that are no text, and can be stored nowhere.
        text.encode()
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query), errors="strict")
        return build_view(table, dict(pairs))
    except ChosenError:
        raise
    except ValueError:
        raise ChosenError(
            "“{text}” cannot be read. Write table?filter=value, as in the address of the table's page.".format(
                text=text.encode(errors="replace").decode()[:100]
            )
        ) from None


def build_view(table: str, filters: Mapping[str, str]) -> View:
    """The view of a table and filters. Raises ChosenError."""
    try:
        checked = lookup.checked_filters(lookup.find_table_spec(table), filters)
    except (lookup.TableNotFound, lookup.FilterNotFound) as error:
        raise ChosenError(str(error)) from None
    return View(table, tuple(checked.items()))


def refuse_nothing(view: View, found: TidyTable | None) -> None:
    """Raises ChosenError, with the near names, where a filter of the view has a value that nothing has."""
    if sentence := describe_wrong_value(view.spec, view.values, found, None, mask_for(view.table, view.values)):
        raise ChosenError(f"{view.address}: {sentence}")


def split_view_lines(text: str) -> Sequence[str]:
    """One view a line, as a form sends them; blank lines dropped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def list_plan_views(slug: str) -> list[str]:
    """The views that a frozen plan lists, as lines. Raises ChosenError."""
    frozen = Plan.objects.exclude(frozen_at=None)
    found = frozen.filter(slug=slug).first()
    if found is None:
        raise ChosenError(describe_unknown_name("frozen plan", slug, list(frozen.values_list("slug", flat=True))))
    return [f"{listed['table']}?{urlencode(listed['filters'])}".rstrip("?") for listed in found.tables]


def add_arguments(parser: ArgumentParser) -> None:
    """The arguments of every command that takes chosen views: a name, the views, and plans that list some."""
    parser.add_argument("name", help="small letters, digits and hyphens, such as kenya-2026")
    parser.add_argument(
        "views", nargs="*", metavar="table?filter=value", help="tables, filters as in the address of their page"
    )
    parser.add_argument("--plan", action="append", default=[], metavar="SLUG", help="everything that a plan lists")


def read_command_options(options: Mapping[str, Any]) -> tuple[str, tuple[View, ...]]:
    """The name and the views of a command that has `add_arguments`. Raises ChosenError."""
    lines = [*options["views"], *(line for slug in options["plan"] for line in list_plan_views(slug))]
    return check_bundle_name(options["name"]), parse_views(lines)
