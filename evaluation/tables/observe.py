"""What the numbers of a table are means of: its observations."""

from evaluation.contracts.table import Filters, TableSpec
from evaluation.metrics.observations import Observations
from evaluation.tables.from_runs import study_observations


def observe_table(table: TableSpec, filters: Filters) -> Observations | None:
    """The observations of a table under `filters`; None where its numbers are no means of any."""
    if table.observe:
        found = table.observe(filters)
    elif table.observed:
        found = study_observations(table, filters)
    else:
        return None
    return found.only({column: value for column, value in filters.items() if column in found.groups})
