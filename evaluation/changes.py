"""What follows here when public dishes change without being withdrawn."""

from collections.abc import Sequence
from typing import Any

from evaluation.tables import bump


def count_anew(dishes: Sequence[int], **signal: Any) -> None:
    """Tables about dishes (input "dishes") are stale."""
    bump("dishes")
