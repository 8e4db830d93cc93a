"""Words that depend on a number, for pages of staff."""


def count_noun(number: int, one: str, many: str) -> str:
    """`one` for exactly one thing, else `many`."""
    return one if number == 1 else many
