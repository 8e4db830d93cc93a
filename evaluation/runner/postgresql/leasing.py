"""A lease in one statement: units are found, locked, counted and returned in one way to the database and back."""

import json
import uuid
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection

from evaluation.models import Batch, Run, Unit

# In the order of the model: `from_db` takes values so.
FIELDS = ("id", "run_id", "key", "subject_id", "model_id", "payload", "affinity", "state", "deliveries", "batch_id")
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
)
UPDATE evaluation_unit SET state = 'leased', deliveries = deliveries + 1, batch_id = %(token)s
WHERE id = ANY (ARRAY(SELECT id FROM whole))
RETURNING id, run_id, key, subject_id, model_id, payload, affinity, state, deliveries, batch_id
"""


def lease_waiting_units(run: Run, worker: str, size: int, after: str) -> tuple[Batch, list[Unit]] | None:
    """Leases about `size` units that were never delivered, whole affinities from `after` on, in the order of ids.

    None where none can be locked: others may hold all that was looked at.
    """
    token = uuid.uuid4()
    # Inside a transaction of the caller the setting would hold for all that it commits.
    commit = "on" if connection.in_atomic_block else "off"
    values: dict[str, Any] = {"run": run.pk, "after": after, "size": size, "token": token, "worker": worker}
    with connection.cursor() as cursor:
        cursor.execute(LEASE, {**values, "commit": commit, "seconds": settings.LEASE_SECONDS})
        rows = cursor.fetchall()
    if not rows:
        return None
    batch = Batch.from_db(connection.alias, ("token", "run_id", "worker"), (token, run.pk, worker))
    return batch, sorted((make_unit(row) for row in rows), key=lambda unit: unit.pk)


def make_unit(row: Sequence[Any]) -> Unit:
    """A row of `FIELDS` as the ORM would have read it."""
    values = [json.loads(value) if name == "payload" else value for name, value in zip(FIELDS, row, strict=True)]
    return Unit.from_db(connection.alias, FIELDS, values)
