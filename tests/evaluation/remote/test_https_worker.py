"""Workers over HTTPS against a real server: the same outcomes as beside the database, whatever happens on the way."""

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from evaluation.contracts.study import Result
from evaluation.models import Batch, EarlierOutcome, GeneratedImage, Outcome, Run, Unit, WorkerUpload
from evaluation.remote.client import WorkerClient, WorkerRefusedError, check_server
from evaluation.remote.https_transport import HttpsTransport
from evaluation.remote.worker import serve_runs
from evaluation.runner import cancel_run, create_run, leases, process_run
from evaluation.runner.transport import TransportLostError
from tests.evaluation.make import make_demonstration_dishes, make_model
from tests.evaluation.remote_workers import (
    Answer,
    assert_equal_outcomes,
    describe_outcomes,
    make_token,
    make_transport,
    standing_between,
)

# A server in threads beside the test: SQLite in memory has one writer and no patience.
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.embedded, pytest.mark.postgres]
CONFIG = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}, "images_per_subject": 3}
PAGE = (200, {"Content-Type": "text/html"}, b"<h1>Please log in to the network</h1>")


def plan_images(slug: str = "images", dishes: int = 4) -> Run:
    if not Unit.objects.exists():
        make_demonstration_dishes(dishes)
    make_model("sketch", parameters={"size": 32})
    return create_run("generation", CONFIG, slug=slug)


@pytest.fixture
def run(transactional_db: None) -> Run:
    return plan_images()


def test_a_chain_of_studies_gives_the_same_over_https_as_beside_the_database(live_server: LiveServer, run: Run) -> None:
    make_model("encoder", "encoder", "standin")
    transport = make_transport(live_server.url, make_token()[1])
    assert serve_runs(transport, "node1", until_empty=True) == 12
    direct = plan_images("direct")
    process_run(direct.pk, "direct", seconds=600)
    assert_equal_outcomes(describe_outcomes(run), describe_outcomes(direct))
    assert GeneratedImage.objects.exclude(sha256="").count() == 24
    scores = {"encoder": "encoder", "images": "images"}
    remote = create_run("association", scores, slug="scores")
    assert serve_runs(transport, "node1", until_empty=True) == Unit.objects.filter(run=remote).count()
    remote.refresh_from_db()
    assert (remote.state, remote.problem) == (Run.State.DONE, "")
    assert set(Unit.objects.filter(run=remote).values_list("state", flat=True)) == {"done"}
    assert Batch.objects.filter(access=None, run=remote).count() == 0


def test_an_answer_that_is_lost_leases_nothing_twice_and_counts_once(live_server: LiveServer, run: Run) -> None:
    lost: dict[str, int] = {}

    def lose(method: str, path: str, body: bytes) -> Answer:
        """Every kind of call reaches the server, but its first answer does not come back."""
        kind = path.partition("?")[0].rpartition("/")[2] if method == "POST" else ""
        if kind in ("leases", "results", "release") and not lost.get(kind):
            lost[kind] = 1
            make_transport(live_server.url, secret).client.session().request(
                method, live_server.url + path, data=body, headers={"Content-Type": "application/json"}, timeout=30
            )
            return 0, {}, b""
        return None

    _, secret = make_token()
    with standing_between(live_server.url, lose) as url:
        assert serve_runs(make_transport(url, secret, 10), "node1", until_empty=True) == 12
    assert set(lost) >= {"leases", "results"}
    assert Outcome.objects.count() == GeneratedImage.objects.count() == 12
    assert set(Unit.objects.values_list("deliveries", flat=True)) == {1}


def test_a_page_of_a_proxy_says_nothing_about_a_unit(live_server: LiveServer, run: Run) -> None:
    asked: list[str] = []

    def answer(method: str, path: str, body: bytes) -> Answer:
        asked.append(path)
        return PAGE if len(asked) % 3 == 0 else None

    with standing_between(live_server.url, answer) as url:
        assert serve_runs(make_transport(url, make_token()[1], 20), "node1", until_empty=True) == 12
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}


def test_a_proxy_that_answers_everything_itself_is_named(live_server: LiveServer, run: Run) -> None:
    with standing_between(live_server.url, lambda *_: PAGE) as url:
        transport = make_transport(url, make_token()[1], 0)
        with pytest.raises(TransportLostError, match=r"answered itself \(200, text/html\)"):
            transport.list_runs()
    assert set(Unit.objects.values_list("state", flat=True)) == {"pending"}


def test_bodies_become_smaller_where_something_on_the_way_refuses_them(live_server: LiveServer, run: Run) -> None:
    sizes: list[int] = []

    def small(method: str, path: str, body: bytes) -> Answer:
        sizes.append(len(body))
        return (413, {"Content-Type": "text/html"}, b"Too large") if len(body) > 20_000 else None

    make_model("large", "image_generator", "sketch", parameters={"size": 256})
    create_run("generation", {**CONFIG, "model": "large"}, slug="large")
    Run.objects.filter(pk=run.pk).delete()
    transport = make_transport(live_server.url, make_token()[1])
    with standing_between(live_server.url, small) as url:
        transport = make_transport(url, make_token()[1])
        transport.most = 60_000
        content = bytes(50_000)
        with pytest.raises(Exception, match="no image"):
            transport.store_content(content)
        assert serve_runs(transport, "node1", until_empty=True) == 12
    assert max(sizes) > 20_000 and transport.most <= 30_000
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}


def test_a_way_that_takes_almost_nothing_pauses_the_run_with_what_to_do(live_server: LiveServer, run: Run) -> None:
    def tiny(method: str, path: str, body: bytes) -> Answer:
        return (413, {}, b"") if method == "POST" and "uploads" in path else None

    with standing_between(live_server.url, tiny) as url:
        serve_runs(make_transport(url, make_token()[1]), "node1", until_empty=True)
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED and "client_max_body_size" in run.problem
    assert set(Unit.objects.values_list("state", "deliveries")) == {("pending", 0)}


def test_a_cut_upload_goes_on_where_it_stopped(live_server: LiveServer, run: Run) -> None:
    starts: list[str] = []

    def cut(method: str, path: str, body: bytes) -> Answer:
        if method == "POST" and "uploads" in path:
            starts.append(path.partition("start=")[2])
            return (0, {}, b"") if len(starts) == 3 else None
        return None

    content = noisy_image()
    _, secret = make_token()
    with standing_between(live_server.url, cut) as url:
        transport = make_transport(url, secret, 0)
        transport.most = len(content) // 4
        with pytest.raises(TransportLostError):
            transport.store_content(content)
    again = make_transport(live_server.url, secret)
    again.most = len(content) // 4
    assert WorkerUpload.objects.get().complete is False
    sha256 = again.store_content(content)
    row = WorkerUpload.objects.get()
    assert (row.sha256, row.complete, row.parts) == (sha256, True, [])
    assert again.store_content(content) == sha256


def noisy_image() -> bytes:
    from tests.evaluation.provider import png

    return png() + bytes(range(256)) * 200


def test_a_token_that_is_revoked_in_the_middle_costs_what_is_in_hand_alone(live_server: LiveServer, run: Run) -> None:
    Run.objects.all().delete()
    make_demonstration_dishes(4)
    plan_images()
    token, secret = make_token()
    done: list[int] = []

    class Revoking(HttpsTransport):
        def deliver_results(self, *given: Any, **more: Any) -> int:
            if done:
                type(token).objects.filter(pk=token.pk).update(revoked_at=timezone.now())
            done.append(1)
            return super().deliver_results(*given, **more)

    with pytest.raises(WorkerRefusedError, match="unknown or was revoked"):
        serve_runs(Revoking(WorkerClient(live_server.url, secret, patience=1)), "node1", until_empty=True)
    states = list(Unit.objects.values_list("state", flat=True))
    # The batch in hand, and where there was time the one that was leased ahead.
    assert states.count("done") == 12 and states.count("leased") in (12, 24)
    Batch.objects.filter(finished_at=None).update(until=timezone.now() - timedelta(seconds=1))
    assert leases.release_expired() == states.count("leased") / 12
    left = len(states) - 12
    assert serve_runs(make_transport(live_server.url, make_token()[1]), "node2", until_empty=True) == left
    assert Outcome.objects.count() == len(states)


def test_what_was_done_or_cancelled_meanwhile_is_not_stored_twice(live_server: LiveServer, run: Run) -> None:
    transport = make_transport(live_server.url, make_token()[1])
    data = transport.read_run(run.pk)
    lease = transport.lease_units(data, "slow", 3, "")
    assert lease and len(lease.units) == 3
    Batch.objects.filter(finished_at=None).update(until=timezone.now() - timedelta(seconds=1))
    leases.release_expired()
    process_run(run.pk, "direct", seconds=600)
    pairs = [(unit, Result(unit.key, "failed", reason="late")) for unit in lease.units]
    assert transport.deliver_results(lease, pairs, {}, last=True) == 0
    assert transport.renew_leases([lease.id]) == set()
    assert set(Unit.objects.values_list("state", flat=True)) == {"done"}
    assert Outcome.objects.filter(reason="late").count() == EarlierOutcome.objects.count() == 0


def test_what_is_leased_of_a_cancelled_run_is_finished_and_nothing_more_is(live_server: LiveServer, run: Run) -> None:
    transport = make_transport(live_server.url, make_token()[1])
    data = transport.read_run(run.pk)
    lease = transport.lease_units(data, "node1", 3, "")
    assert lease
    cancel_run(run)
    assert transport.lease_units(data, "node1", 3, "") is None
    pairs = [(unit, Result(unit.key, "refused", reason="no")) for unit in lease.units]
    assert transport.deliver_results(lease, pairs, {}, last=True) == 3
    assert transport.list_runs() == [] and not transport.run_goes_on(run.pk)


@pytest.mark.parametrize("hours", [24, -24])
def test_a_clock_that_is_a_day_off_costs_nothing_and_is_named(
    live_server: LiveServer, run: Run, hours: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evaluation.remote import client, preflight

    class Clock:
        monotonic, sleep = staticmethod(time.monotonic), staticmethod(time.sleep)

        @staticmethod
        def time() -> float:
            return time.time() + hours * 3600

    monkeypatch.setattr(client, "time", Clock)
    transport = make_transport(live_server.url, make_token()[1])
    notes = [found.note for found in preflight.check_connection(transport.client)]
    assert [note for note in notes if f"24 hours {'ahead' if hours > 0 else 'behind'}" in note]
    assert serve_runs(transport, "node1", until_empty=True) == 12


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("dishes.example", "an address such as"),
        ("ftp://dishes.example", "an address such as"),
        ("http://dishes.example", "over https only"),
        ("https://me:secret@dishes.example", "an address such as"),
    ],
)
def test_a_token_is_sent_to_no_address_that_others_could_read(address: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check_server(address)


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from evaluation.remote import client

    monkeypatch.setattr(client, "PAUSE", 0.01)
    yield
