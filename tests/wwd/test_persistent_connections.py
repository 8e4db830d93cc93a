"""Connections that a web process keeps between requests: handed on when they are as new, otherwise closed."""

import os
import threading
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.test import Client
from django.test.utils import override_settings

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True), pytest.mark.embedded]


@pytest.fixture(autouse=True)
def keeping() -> Iterator[None]:
    """This process keeps two, as a web process does; none is left behind."""
    from wwd.base.postgresql.base import kept

    connection.close()
    kept.most = 2
    try:
        yield
    finally:
        kept.most = 0
        connection.close()
        while kept.idle:
            kept.idle.pop().connection.close()


def backend() -> int:
    """The process in the database that serves this thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def idle() -> int:
    from wwd.base.postgresql.base import kept

    return len(kept.idle)


def test_the_next_request_of_any_thread_goes_on_with_it() -> None:
    found = [backend()]
    connection.close()
    assert idle() == 1

    def other() -> None:
        found.append(backend())
        connections.close_all()

    thread = threading.Thread(target=other)
    thread.start()
    thread.join(30)
    assert found[0] == found[1] == backend()


def test_two_requests_at_once_never_share_one() -> None:
    mine, others = backend(), []

    def other() -> None:
        others.append(backend())
        connections.close_all()

    for _ in range(3):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join(30)
    assert mine not in others and len(set(others)) == 1


def test_a_connection_in_the_middle_of_something_is_closed() -> None:
    mine = backend()
    connection.set_autocommit(False)
    backend()
    connection.close()
    assert idle() == 0
    assert backend() != mine
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        connection.close()
        raise ZeroDivisionError
    assert idle() == 0


def test_one_that_the_server_ended_is_not_handed_on() -> None:
    ended = backend()
    connection.close()
    assert idle() == 1
    from wwd.base.postgresql.base import kept

    [opened] = kept.idle
    kept.idle = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [ended])
    connection.close()
    kept.idle.append(opened)
    assert backend() != ended


def test_no_more_are_kept_than_wished_and_none_unless_wished() -> None:
    from wwd.base.postgresql.base import kept

    kept.most = 0
    backend()
    connection.close()
    assert idle() == 0


def test_an_old_one_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    from wwd.base.postgresql import base

    former = backend()
    connection.close()
    monkeypatch.setattr(base, "LONGEST", -1.0)
    assert backend() != former


def test_one_that_was_opened_otherwise_is_not_taken() -> None:
    former = backend()
    connection.close()
    options = connection.settings_dict["OPTIONS"]
    connection.settings_dict["OPTIONS"] = {**options, "application_name": "another"}
    try:
        assert backend() != former
        connection.close()
    finally:
        connection.settings_dict["OPTIONS"] = options


def test_a_child_process_leaves_those_of_its_parent_alone() -> None:
    former = backend()
    connection.close()
    child = os.fork()
    if child == 0:
        os._exit(idle())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert backend() == former


def test_pages_keep_theirs_and_see_what_was_stored_meanwhile() -> None:
    with override_settings(ALLOWED_HOSTS=["*"]):
        for _ in range(3):
            assert Client().get("/leaderboard/").status_code == 200
    assert settings.DATABASE_VENDOR == "postgresql"


def test_one_that_was_closed_from_within_is_not_kept() -> None:
    backend()
    connection.connection.close()
    connection.close()
    assert idle() == 0
