"""Results of texts and numbers in one statement: the lease, the states of the units and their outcomes together."""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection

from evaluation.contracts.study import Result
from evaluation.models import Unit
from evaluation.runner.transport import Spent

# Each part goes on only with what the one before returned: nothing is stored where the lease is gone, and no unit
# ends twice. Whoever else would end the lease waits for its row, and then finds it ended.
FINISH = """
WITH held AS (
    UPDATE evaluation_batch SET {lease} WHERE token = %(token)s AND finished_at IS NULL RETURNING token
), given AS MATERIALIZED (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(states)s::text[], %(texts)s::text[], %(numbers)s::text[], %(reasons)s::text[],
        %(circumstances)s::text[]
    ) AS results (id, state, text, numbers, reason, circumstances)
), ended AS (
    UPDATE evaluation_unit AS unit SET state = given.state FROM given, held
    WHERE unit.id = given.id AND unit.batch_id = held.token AND unit.state = 'leased'
    RETURNING unit.id
), stored AS (
    INSERT INTO evaluation_outcome (unit_id, batch_id, text, numbers, reason, circumstances)
    SELECT id, %(token)s, text, numbers::jsonb, reason, circumstances::jsonb FROM ended JOIN given USING (id)
){back}
SELECT count(*) FROM ended
"""
CLOSE = """finished_at = statement_timestamp(), seconds_computed = coalesce(%(computed)s, seconds_computed),
        seconds_waited = coalesce(%(waited)s, seconds_waited)"""
RENEW = "until = statement_timestamp() + make_interval(secs => %(seconds)s)"
GIVE_BACK = """, back AS (
    UPDATE evaluation_unit AS unit SET state = 'pending', deliveries = deliveries - 1, batch_id = NULL FROM held
    WHERE unit.batch_id = held.token AND unit.state = 'leased' AND unit.id <> ALL (%(ids)s::bigint[])
)"""
LAST = FINISH.format(lease=CLOSE, back=GIVE_BACK)
NOT_LAST = FINISH.format(lease=RENEW, back="")


def finish_plain_results(
    batch: UUID, pairs: Sequence[tuple[Unit, Result]], *, last: bool, spent: Spent | None = None
) -> int:
    """As `leases.finish_units`, for results without images and vectors. Stores all of them or none.

    Raises what storing a row raises where one of the results cannot be stored.
    """
    results = [result for _, result in pairs]
    values: dict[str, Any] = {
        "token": batch,
        "seconds": settings.LEASE_SECONDS,
        "computed": spent.computed if spent else None,
        "waited": spent.waited if spent else None,
        "ids": [unit.pk for unit, _ in pairs],
        "states": [result.state for result in results],
        "texts": [result.text for result in results],
        "numbers": [json.dumps(dict(result.numbers)) for result in results],
        "reasons": [result.reason for result in results],
        "circumstances": [json.dumps(dict(result.circumstances)) for result in results],
    }
    with connection.cursor() as cursor:
        cursor.execute(LAST if last else NOT_LAST, values)
        [(ended,)] = cursor.fetchall()
    return int(ended)
