"""Numbers of tables as text."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote_plus
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from evaluation.behind import cell_query
from evaluation.figures import drawable
from evaluation.metrics.tidy import Estimate, TidyTable
from evaluation.palette import Palette, colour
from evaluation.table_spec import TableSpec

MINUS = "−"


def number(value: float, digits: int) -> str:
    """`value` rounded for reading, a count as it is, with a true minus sign and none before a zero."""
    text = str(value) if isinstance(value, int) else f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", MINUS)
