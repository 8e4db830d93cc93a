"""Which card this process sees, for the preflight of workers."""

from typing import NamedTuple


class Card(NamedTuple):
    """A card: its name, free and whole memory in bytes."""

    name: str
    free: int
    total: int


def describe_card() -> Card | None:
    """The first card that is visible; None where there is none, or torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    free, total = torch.cuda.mem_get_info()
    return Card(torch.cuda.get_device_name(), free, total)
