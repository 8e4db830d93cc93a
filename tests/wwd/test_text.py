"""Words that depend on a number."""

import pytest

from wwd.base.text import count_noun


@pytest.mark.parametrize(("number", "word"), [(0, "runs"), (1, "run"), (2, "runs"), (101, "runs")])
def test_only_one_thing_is_singular(number: int, word: str) -> None:
    assert count_noun(number, "run", "runs") == word
