"""Counters of changed inputs: a stored table is stale once one of its inputs was counted on."""

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
from evaluation.registry.lookup import UnknownFilter, UnknownTable, checked_filters, names, spec
from evaluation.tables import fresh



def bump(*names: str) -> None:
    """Counts a change of the inputs `names` ("reviews", "runs.association"), inside the change's own transaction.

    The counter moves if and only if the change is kept, so no table can look fresh that is not. Names are locked
    in one order: two transactions that bump the same ones cannot wait for each other.
    """
    for name in sorted(set(names)):
        counter = InputCounter.objects.filter(name=name)
        if not counter.update(value=F("value") + 1):
            InputCounter.objects.bulk_create([InputCounter(name=name)], ignore_conflicts=True)
            counter.update(value=F("value") + 1)
