"""A lease in one statement: units are found, locked, counted and returned in one way to the database and back."""

import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.db import connection
from django.db.models import JSONField
from django.db.models import Model as DatabaseModel

from evaluation.models import Batch, Model, Run, Subject, Unit

Row = TypeVar("Row", bound=DatabaseModel)

# `heads`: the lowest units of the affinities ahead, those that nobody else has locked. Their holder has the whole
# affinity (`whole`). The lateral steps keep the planner at one look into an index for each row, whatever it believes
# of a table that changes by the second. What another worker changed since this statement began is looked at again
# when it is locked, so none is taken that was taken.
# A lease that a power failure takes back is a unit that waits: its commit need not wait for the disk. What a worker
# then delivers for it comes late, as after any lease that is gone.
LEASE = """
WITH ahead AS MATERIALIZED (
    SELECT affinity, id FROM evaluation_unit
    WHERE run_id = %(run)s AND state = 'pending' AND deliveries = 0 AND affinity >= %(after)s
        AND EXISTS (SELECT FROM evaluation_run WHERE id = %(run)s AND state = ANY (%(states)s))
    ORDER BY affinity, id LIMIT %(size)s
), heads AS MATERIALIZED (
    SELECT locked.affinity
    FROM (SELECT affinity, min(id) AS id FROM ahead GROUP BY affinity) AS lowest
    CROSS JOIN LATERAL (
        SELECT affinity FROM evaluation_unit
        WHERE id = lowest.id AND state = 'pending' AND deliveries = 0
        FOR UPDATE SKIP LOCKED
    ) AS locked
), whole AS MATERIALIZED (
    SELECT locked.id FROM heads CROSS JOIN LATERAL (
        SELECT id FROM evaluation_unit
        WHERE run_id = %(run)s AND state = 'pending' AND deliveries = 0 AND affinity = heads.affinity
        FOR UPDATE SKIP LOCKED
    ) AS locked
), lease AS (
    INSERT INTO evaluation_batch (token, run_id, worker, until)
    SELECT %(token)s, %(run)s, %(worker)s, statement_timestamp() + make_interval(secs => %(seconds)s)
    FROM set_config('synchronous_commit', %(commit)s, true)
    WHERE EXISTS (SELECT FROM whole)
), unit AS (
    UPDATE evaluation_unit SET state = 'leased', deliveries = deliveries + 1, batch_id = %(token)s
    WHERE id = ANY (ARRAY(SELECT id FROM whole))
    RETURNING *
)
SELECT {columns} FROM unit
JOIN evaluation_model AS model ON model.id = unit.model_id
LEFT JOIN evaluation_subject AS subject ON subject.id = unit.subject_id
ORDER BY unit.id
"""


def lease_waiting_units(
    run: Run, worker: str, size: int, after: str, states: Iterable[str]
) -> tuple[Batch, list[Unit]] | None:
    """Leases about `size` units that were never delivered, whole affinities from `after` on, in the order of ids.

    They come with their subjects and models. None where the run is in none of `states`, and where no unit can be
    locked: others may hold all that was looked at.
    """
    token = uuid.uuid4()
    # Inside a transaction of the caller the setting would hold for all that it commits.
    commit = "on" if connection.in_atomic_block else "off"
    values: dict[str, Any] = {"run": run.pk, "after": after, "size": size, "token": token, "worker": worker}
    tables = {"unit": Unit, "subject": Subject, "model": Model}
    columns = ", ".join(f"{name}.{column}" for name, table in tables.items() for column in list_columns(table))
    with connection.cursor() as cursor:
        cursor.execute(
            LEASE.format(columns=columns),
            {**values, "commit": commit, "seconds": settings.LEASE_SECONDS, "states": list(states)},
        )
        rows = cursor.fetchall()
    if not rows:
        return None
    batch = Batch.from_db(connection.alias, ("token", "run_id", "worker"), (token, run.pk, worker))
    return batch, make_units(rows)


def list_columns(table: type[DatabaseModel]) -> list[str]:
    return [field.column for field in table._meta.concrete_fields]


def make_units(rows: Iterable[Sequence[Any]]) -> list[Unit]:
    """Units with subjects and models as the ORM would have read them: columns of the unit, the subject, the model."""
    to_subject = len(list_columns(Unit))
    to_model = to_subject + len(list_columns(Subject))
    units, subjects, models = list[Unit](), dict[int, Subject](), dict[int, Model]()
    for row in rows:
        unit = make_instance(Unit, row[:to_subject])
        if unit.model_id not in models:
            models[unit.model_id] = make_instance(Model, row[to_model:])
        if unit.subject_id and unit.subject_id not in subjects:
            subjects[unit.subject_id] = make_instance(Subject, row[to_subject:to_model])
        found = subjects[unit.subject_id] if unit.subject_id else None
        unit._state.fields_cache.update(subject=found, model=models[unit.model_id])
        units.append(unit)
    return units


def make_instance(table: type[Row], values: Sequence[Any]) -> Row:
    """An instance from the values of all its columns; JSON comes as text."""
    fields = table._meta.concrete_fields
    read = [
        json.loads(value) if isinstance(field, JSONField) else value
        for field, value in zip(fields, values, strict=True)
    ]
    return table.from_db(connection.alias, [field.attname for field in fields], read)
