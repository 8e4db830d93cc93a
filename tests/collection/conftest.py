"""The collection is open in these tests; those of the other states close it themselves (`unopened`)."""

import pytest

from tests.collection.make import open_collection


@pytest.fixture(autouse=True)
def opened(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("db")
        open_collection()
