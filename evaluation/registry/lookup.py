"""Looks tables and their filters up by name."""

import hashlib
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal
from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Now
from django.utils.module_loading import import_string
from evaluation import derived
from evaluation.about import about, with_narrowing
from evaluation.claims import within_claims
from evaluation.filter_values import canonical, wrong
from evaluation.masking import NO_MASK, Mask, UnknownMaskedName, mask_for
from evaluation.metrics.tidy import TidyRow, TidyTable
from evaluation.models import InputCounter, Plan, StoredTable
from evaluation.names import unknown
from evaluation.ordering import in_order
from evaluation.plan_marks import Standing
from evaluation.plan_standing import frozen_plans, marked
from evaluation.table_scrubbing import without_withdrawn
from evaluation.table_spec import Filters, TableSpec
from evaluation.table_text import from_content, to_content
from evaluation.study_tables import study_table
from wwd.planner_statistics import is_statement_timeout
from wwd.tables import TABLES

LONGEST_FILTER = 120


class UnknownTable(KeyError):
    """No table has this name; the text lists the near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownFilter(ValueError):
    """The table has no such filter; the text lists those it has."""


def spec(name: str) -> TableSpec:
    """The table named `name`. Raises UnknownTable."""
    if name not in TABLES:
        if found := derived.derived(name, spec):
            return found
        raise UnknownTable(unknown("table", name, names()))
    found = import_string(TABLES[name].replace(":", "."))
    assert isinstance(found, TableSpec)
    return with_narrowing(found)


def names() -> list[str]:
    """All names of tables, those derived from a table after it."""
    return [name for base in sorted(TABLES) for name in (base, *derived.names_of(base, spec))]


def checked_filters(table: TableSpec, filters: Filters) -> dict[str, str]:
    """`filters` in one order and spelling, empty ones dropped. Raises UnknownFilter."""
    for name, value in filters.items():
        if name not in table.filters:
            raise UnknownFilter(unknown("filter", name, table.filters))
        if value and name in table.choices and value not in table.choices[name]:
            raise UnknownFilter(unknown(f"value of the filter {name} named", value, table.choices[name]))
        if len(value) > LONGEST_FILTER or "\x00" in value:
            raise UnknownFilter(f"The value of the filter {name} is too long or holds signs that no value has.")
    return canonical(table, {name: value for name, value in sorted(filters.items()) if value})
