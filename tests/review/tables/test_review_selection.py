"""What tables read of reviews: JSON only where it is asked for, and one pass for all that is left out."""

import pytest

from review.tables.selection import Said

pytestmark = pytest.mark.embedded


def test_what_was_said_is_a_mapping_like_the_json_itself() -> None:
    said = Said('{"food": "yes", "seen": "it says \\"quality\\"", "checks": ["indoors"]}')
    assert said == {"food": "yes", "seen": 'it says "quality"', "checks": ["indoors"]}
    assert (said.get("food"), said.get("match"), said["checks"]) == ("yes", None, ["indoors"])
    assert ("food" in said, "quality" in said, "nothing" in said) == (True, False, False)
    assert (len(said), list(said)) == (3, ["food", "seen", "checks"])
    with pytest.raises(KeyError):
        said["quality"]


def test_json_is_not_read_for_a_key_that_cannot_be_there() -> None:
    said = Said('{"food": "yes"}')
    assert said.get("match") is None
    assert said.held is None
    assert Said("null") == {}
