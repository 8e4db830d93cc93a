"""PostgreSQL plans with statistics of the rows that a bulk write left, and ends queries that run too long."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from evaluation.novelty.reference import import_reference
from tests.wwd.make import make_published
from wwd.base.planner_statistics import TIMEOUT_SENTENCE, is_statement_timeout
from wwd.exchange.demo import loading
from wwd.exchange.published.importer import import_all

pytestmark = [pytest.mark.django_db, pytest.mark.postgres, pytest.mark.embedded]
LARGE = {"evaluation_unit", "evaluation_outcome", "evaluation_embedding", "evaluation_referencedish"}


def import_published(folder: Path) -> None:
    make_published(folder)
    import_all(folder)


def import_list_of_dishes(folder: Path) -> None:
    import_reference(loading.REFERENCE, "list", "plain")


BULK: dict[str, Callable[[Path], None]] = {
    "published data": import_published,
    "a list of dishes": import_list_of_dishes,
}


def tables_without_statistics(statements: list[str]) -> set[str]:
    """Tables that got rows after the last ANALYZE that named them."""
    left: set[str] = set()
    for statement in statements:
        if inserted := re.match(r'INSERT INTO "(\w+)"', statement):
            left.add(inserted[1])
        elif statement.startswith("ANALYZE"):
            left -= set(re.findall(r'"(\w+)"', statement))
    return {name for name in left if name.startswith(("collection_", "review_")) or name in LARGE}


@pytest.mark.parametrize("name", BULK)
def test_a_bulk_import_leaves_statistics_of_every_table_that_it_filled(name: str, tmp_path: Path) -> None:
    with CaptureQueriesContext(connection) as captured, transaction.atomic():
        BULK[name](tmp_path)
    statements = [query["sql"] for query in captured.captured_queries]
    assert any(statement.startswith("INSERT") for statement in statements)
    assert tables_without_statistics(statements) == set()


def test_a_query_that_runs_too_long_is_ended_and_known_by_its_kind() -> None:
    with pytest.raises(OperationalError) as failed, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 20; SELECT pg_sleep(5)")
    assert is_statement_timeout(failed.value)
    assert not is_statement_timeout(OperationalError("no such table"))


def test_tests_have_a_bound_of_their_own() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        assert cursor.fetchone() == ("2min",)


def test_a_command_says_what_to_do_when_the_database_ends_its_query() -> None:
    code = "from django.db import connection; connection.cursor().execute('SELECT pg_sleep(9)')"
    ended = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        cwd=settings.BASE_DIR,
        env={**os.environ, "WWD_STATEMENT_SECONDS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr.strip()) == (1, TIMEOUT_SENTENCE)
