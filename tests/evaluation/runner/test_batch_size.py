"""Sizes of leases: from measured time and memory, in whole passes of the model."""

from evaluation.runner.stages.batch_size import MOST_UNITS, BatchSizer


class Painter:
    """Draws 16 images in one pass."""

    preferred_batch = 16


ROOM = 10**9


def test_the_first_lease_is_the_guess_of_the_study() -> None:
    assert BatchSizer(10).choose(ROOM) == 10


def test_leases_become_whole_passes_of_the_model() -> None:
    sizer = BatchSizer(10)
    for _ in range(5):
        sizer.note(sizer.choose(ROOM), 0.125 * sizer.choose(ROOM), 0, Painter())
    assert sizer.choose(ROOM) == 64


def test_quick_units_are_leased_in_batches_that_double_up_to_a_bound() -> None:
    sizer = BatchSizer(16)
    sizes = []
    for _ in range(10):
        sizes.append(sizer.choose(ROOM))
        sizer.note(sizes[-1], 0.00001 * sizes[-1], 0, None)
    assert sizes[:4] == [16, 32, 64, 128]
    assert sizes[-1] == MOST_UNITS


def test_slow_units_are_leased_one_by_one() -> None:
    sizer = BatchSizer(16)
    sizer.note(16, 16 * 60.0, 0, None)
    assert sizer.choose(ROOM) == 1


def test_two_batches_fit_into_the_memory() -> None:
    sizer = BatchSizer(256)
    sizer.note(256, 0.1, 256 * 1_000_000, None)
    assert sizer.choose(100_000_000) == 50
