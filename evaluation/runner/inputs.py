"""What a study is given to execute leased units: the bytes of images, vectors that are stored already."""

from collections.abc import Sequence

from evaluation.contracts.study import Result, Work
from evaluation.runner.stages.fetching import FetchedBatch
from evaluation.runner.transport import WorkUnit


def load_works(fetched: FetchedBatch, units: Sequence[WorkUnit], preprocessing: str) -> tuple[list[Work], list[Result]]:
    """The work of these units, all of one model, and the failures of those whose image is gone."""
    vectors = fetched.get_vectors(units, preprocessing)
    fetched.hurry()
    works, failures = [], []
    for unit in units:
        try:
            content = fetched.get_content(unit)
        except LookupError as error:
            failures.append(Result(unit.key, "failed", reason=str(error.args[0])))
            continue
        works.append(
            Work(
                key=unit.key,
                subject=unit.subject,
                model=unit.model,
                payload=unit.payload,
                image_bytes=content,
                stored_vector=vectors.get(unit.image_id or str(unit.payload.get("text", ""))),
            )
        )
    return works, failures
