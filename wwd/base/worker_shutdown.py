"""Tells all processes of a worker that it was asked to stop."""

import mmap

# One byte that all processes of a worker share: set once it was told to stop.
ENDING = mmap.mmap(-1, 1)


def is_stopping() -> bool:
    """True once the worker was told to stop: anyone who works in slices ends after what is in hand."""
    return ENDING[0] == 1
