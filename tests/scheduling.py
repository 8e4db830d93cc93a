"""Which tests run in one process, and in which order: files that share something expensive together, long ones first.

pytest-xdist's `--dist loadfile` begins with the files of the most tests, so that a long file of few ends the run alone.
"""

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).resolve().parent.parent
# What these share is made once a process: rows of tests/shared_rows.py, the public pages, one server.
TOGETHER = {
    "demonstration": (
        *("tests/wwd/test_drilldown.py", "tests/wwd/test_filter_values.py"),
        *("tests/wwd/test_label_filters.py", "tests/wwd/test_observations.py"),
    ),
    "public pages": (
        "tests/test_boundaries.py",
        "tests/browser/test_public_pages.py",
        "tests/wwd/test_server_validation.py",
    ),
    "published answers": ("tests/replication/test_import_twice.py", "tests/replication/test_knowledge.py"),
    "published": ("tests/replication/",),
}
# Longest first: the tests at the end are short, and no process waits long for another.
ORDER = ("tests/faults/", "tests/browser/", "tests/replication/", "tests/test_", "tests/wwd/", "tests/evaluation/")


def scope_of(path: str) -> str:
    """What runs in one process with the test file `path` (from the project's folder): a name of TOGETHER, or itself."""
    return next((name for name, starts in TOGETHER.items() if path.startswith(starts)), path)


def scope_of_item(item: pytest.Item) -> str:
    return scope_of(path_of(item))


def path_of(item: pytest.Item) -> str:
    path = item.path
    return (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()


def rank_of(path: str) -> tuple[int, str]:
    """Where a test file stands in the run; what shares something stands where the first of it does."""
    scope = scope_of(path)
    first = min((place for place, start in enumerate(ORDER) if path.startswith(start)), default=len(ORDER))
    if scope in TOGETHER:
        starts = TOGETHER[scope]
        first = min(place for place, start in enumerate(ORDER) if any(each.startswith(start) for each in starts))
    return first, scope


def sort_items(items: list[pytest.Item]) -> None:
    """Puts tests in the order of `rank_of`; those of a file stay as they are."""
    items.sort(key=lambda item: (*rank_of(path_of(item)), path_of(item)))


class ScopeScheduling(LoadScopeScheduling):
    """Hands out what `scope_of` keeps together, in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid.partition("::")[0])
