"""Units that are leased to a worker, as it sees them."""

import uuid
from collections.abc import Sequence

from evaluation.contracts.study import Result, Work
from evaluation.models import Unit
from evaluation.runner import inputs
from evaluation.runner.direct_transport import DirectTransport, describe_units
from evaluation.runner.stages.byte_budget import ByteBudget
from evaluation.runner.stages.fetching import FetchedBatch
from evaluation.runner.transport import Lease, RunData


def describe_lease(units: Sequence[Unit]) -> Lease:
    """A lease of these rows, which the database knows nothing of."""
    run = units[0].run
    data = RunData(run.pk, run.slug, run.study, run.study_version, run.queue)
    return Lease(uuid.uuid4(), data, tuple(describe_units(units)), 60)


def load_leased(units: Sequence[Unit], preprocessing: str) -> tuple[list[Work], list[Result]]:
    """What their study is given of these rows, all of one model."""
    lease = describe_lease(units)
    fetched = FetchedBatch(DirectTransport(), lease, ByteBudget(1_000_000))
    try:
        return inputs.load_works(fetched, lease.units, preprocessing)
    finally:
        fetched.close()
