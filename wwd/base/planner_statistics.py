"""Statistics of PostgreSQL's planner after bulk writes.

Autovacuum refreshes them a minute after a commit. Until then, and inside the importing transaction for ever, the
planner takes a table that was vacuumed while empty for one that holds a single row, and joins it in nested loops.
"""

from django.db import OperationalError, connection
from django.db.models import Model
from psycopg2.errors import QueryCanceled

from wwd.base.packages import list_models

TIMEOUT_SENTENCE = (
    "The database ended a query that ran too long. What this step had not finished is undone. Try a smaller "
    "selection, or allow more time with WWD_STATEMENT_SECONDS (0: no bound)."
)


def refresh_statistics(*models: type[Model]) -> None:
    """Run ANALYZE on the tables of `models`, or of all apps where none are named.

    Works inside the caller's transaction, on the rows that it wrote. Does nothing on SQLite.
    """
    if connection.vendor != "postgresql":
        return
    chosen = models or list_models()
    tables = ", ".join(connection.ops.quote_name(model._meta.db_table) for model in chosen)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {tables}")


def is_statement_timeout(error: BaseException | None) -> bool:
    """Whether PostgreSQL ended a query because it ran longer than WWD_STATEMENT_SECONDS."""
    return isinstance(error, OperationalError) and isinstance(error.__cause__, QueryCanceled)
