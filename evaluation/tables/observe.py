"""What the numbers of a table are means of: its observations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import overload
import numpy as np
import numpy.typing as npt
from evaluation.table_spec import Filters, TableSpec
from evaluation.study_tables import study_observations
from evaluation.observations import Observations



def observe_table(table: TableSpec, filters: Filters) -> Observations | None:
    """The observations of a table under `filters`; None where its numbers are no means of any."""
    if table.observe:
        found = table.observe(filters)
    elif table.observed:
        found = study_observations(table, filters)
    else:
        return None
    return found.only({column: value for column, value in filters.items() if column in found.groups})
