"""What a worker's token opens: its runs' units and inputs, and nothing else of the whole site."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from evaluation import content_store
from evaluation.models import Batch, GeneratedImage, Run, Unit, WorkerToken, WorkerUpload
from evaluation.models.worker_tokens import PREFIX, hash_secret
from evaluation.remote.client import describe_worker
from evaluation.runner import create_run, process_run
from evaluation.worker_api import uploads, urls
from tests.evaluation.make import make_demonstration_dishes, make_model
from tests.evaluation.provider import png
from tests.evaluation.remote_workers import make_token
from tests.wwd import staff_rows
from tests.wwd.test_single_permissions import filled

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
CONFIG = {"model": "sketch", "subjects": {"kind": "dish", "demonstration": True}, "images_per_subject": 3}
OWN = "worker/v1/"


@pytest.fixture
def run() -> Run:
    make_demonstration_dishes(2)
    make_model("sketch", parameters={"size": 32})
    return create_run("generation", CONFIG, slug="images")


def caller(secret: str) -> Client:
    return Client(headers={"authorization": f"Bearer {secret}"})


def post(client: Client, path: str, **content: Any) -> Any:
    return client.post(f"/{OWN}{path}", json.dumps(content), content_type="application/json")


def lease(client: Client, run: Run, **changes: Any) -> Any:
    call = {"request": str(uuid.uuid4()), "worker": "node", "size": 3, "after": "", **describe_worker(), **changes}
    return post(client, f"runs/{run.pk}/leases", **call)


def every_address(resolver: Any = None, prefix: str = "") -> Iterator[str]:
    """Every address of the site but those of workers; any value stands for what an address names."""
    for found in (resolver or get_resolver()).url_patterns:
        if isinstance(found, URLResolver):
            yield from every_address(found, prefix + str(found.pattern))
        elif isinstance(found, URLPattern) and not prefix.startswith(OWN):
            yield "/" + (prefix + filled(found)).replace("^", "").replace("$", "").replace("\\", "")


def test_no_other_address_answers_a_token_otherwise_than_a_stranger() -> None:
    """Slow: every address of the site, twice, by three methods."""
    staff_rows.make_world()
    addresses = sorted(set(every_address()))
    assert len(addresses) > 150
    with_token, stranger = caller(make_token(("cpu", "gpu", "api"), provider_keys=True)[1]), Client()
    for address in addresses:
        for method in ("get", "post", "put"):
            one, other = (getattr(client, method)(address) for client in (with_token, stranger))
            assert one.status_code == other.status_code, (method, address)
            assert one.headers.get("Location") == other.headers.get("Location"), address
            if address.startswith("/admin/"):
                assert one.status_code in (301, 302, 404, 403, 405) or address == "/admin/login/", address


def test_no_address_of_workers_answers_without_a_token(run: Run) -> None:
    _, secret = make_token(revoked_at=timezone.now())
    staff = Client()
    staff.force_login(User.objects.create_superuser("chief"))
    for client in (Client(), caller(secret), caller(PREFIX + "guess"), caller(""), staff):
        for pattern in urls.urlpatterns:
            for method in ("get", "post", "put", "delete"):
                found = getattr(client, method)(f"/{OWN}{filled(pattern)}")
                assert found.status_code == 401, pattern
                assert json.loads(found.content)["problem"].startswith("This token is unknown or was revoked")
    assert not Batch.objects.exists()


@pytest.mark.parametrize("kind", ["queue", "run", "keys"])
def test_a_token_sees_no_run_outside_of_its_limits(kind: str, run: Run) -> None:
    other = create_run("generation", {**CONFIG, "seed": 7}, slug="other")
    limits: dict[str, Any] = {"queue": {"queues": ("gpu",)}, "run": {"runs": (other,)}, "keys": {"queues": ("api",)}}
    if kind == "keys":
        Run.objects.filter(pk=run.pk).update(queue="api")
    client = caller(make_token(**limits[kind])[1])
    assert run.pk not in [row["id"] for row in client.get(f"/{OWN}runs").json()["runs"]]
    for answer in (
        client.get(f"/{OWN}runs/{run.pk}"),
        lease(client, run),
        post(client, f"runs/{run.pk}/pause", problem="no"),
        post(client, f"runs/{run.pk}/complete"),
        post(client, f"runs/{run.pk}/call"),
    ):
        assert answer.status_code == 404
    run.refresh_from_db()
    assert run.state == Run.State.PLANNED


def test_a_batch_is_its_own_tokens_alone(run: Run) -> None:
    mine, other = caller(make_token()[1]), caller(make_token()[1])
    held = lease(mine, run).json()["lease"]
    address = f"leases/{held['id']}"
    result = {"key": held["units"][0]["key"], "state": "failed"}
    assert post(other, f"{address}/results", results=[result], last=True).status_code == 404
    assert post(other, f"{address}/release").status_code == 404
    assert post(other, f"{address}/vectors", units=[1], preprocessing="").status_code == 404
    assert post(other, "leases/renew", leases=[held["id"]]).json() == {"held": []}
    assert post(mine, "leases/renew", leases=[held["id"]]).json() == {"held": [held["id"]]}
    assert Unit.objects.filter(state="leased").count() == 3


def test_a_worker_reads_the_images_that_its_batch_asks_about_and_no_others(run: Run) -> None:
    process_run(run.pk, "direct", seconds=600)
    make_model("encoder", "encoder", "standin")
    scores = create_run("association", {"encoder": "encoder", "images": "images"}, slug="scores")
    secret_image = content_store.store_content(png(9))
    _, secret = make_token()
    client = caller(secret)
    seen: set[str] = set()
    held = lease(client, scores, size=1).json()["lease"]
    for unit in held["units"]:
        if unit["image_sha256"]:
            found = client.get(f"/{OWN}leases/{held['id']}/inputs/{unit['image_sha256']}")
            assert found.status_code == 200 and found.content == content_store.read_content(unit["image_sha256"])
            seen.add(unit["image_sha256"])
    for sha256 in {secret_image, *GeneratedImage.objects.values_list("sha256", flat=True)} - seen:
        assert client.get(f"/{OWN}leases/{held['id']}/inputs/{sha256}").status_code == 404
    post(client, f"leases/{held['id']}/release")
    for sha256 in seen:
        assert client.get(f"/{OWN}leases/{held['id']}/inputs/{sha256}").status_code == 404


def test_what_a_worker_gets_names_no_person() -> None:
    staff_rows.make_world()
    make_demonstration_dishes(1)
    make_model("sketch", parameters={"size": 32})
    chief = User.objects.get(username="chief")
    private = (staff_rows.PERSONAL, staff_rows.BACKGROUND, staff_rows.NOTE, staff_rows.PHONE, staff_rows.OWN_WORDS)
    run = create_run("generation", {**CONFIG, "subjects": {"kind": "dish"}}, slug="images", started_by=chief)
    client = caller(make_token()[1])
    text = lease(client, run, size=99).content.decode() + client.get(f"/{OWN}runs/{run.pk}").content.decode()
    assert [words for words in (*private, "chief") if words in text] == []
    assert "Thieboudienne" in text


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ({"state": "leased"}, 400),
        ({"state": "done", "text": 7}, 400),
        ({"state": "done", "vector": {"vector": "AAAA", "image_id": 1}}, 400),
        ({"state": "done", "vector": {"vector": "AAAAgD8=", "text": "another"}}, 400),
        ({"state": "done", "image": {"media_type": "text/html"}}, 400),
        ({"state": "done", "image": {"sha256": "a" * 64}}, 424),
        ({"state": "done", "image": {"prompt_id": 99}}, 400),
    ],
)
def test_results_that_are_none_are_refused_whole(result: dict[str, Any], status: int, run: Run) -> None:
    client = caller(make_token()[1])
    held = lease(client, run).json()["lease"]
    if "image" in result:
        plain = {"sha256": "", "media_type": "image/png", "width": 1, "height": 1, "prompt_sent": ""}
        result = {**result, "image": {**plain, **result["image"]}}
    sent = [{"key": held["units"][1]["key"], "state": "done"}, {"key": held["units"][0]["key"], **result}]
    answer = post(client, f"leases/{held['id']}/results", results=sent, last=True)
    assert (answer.status_code, answer.json()["problem"].endswith(".")) == (status, True)
    assert Unit.objects.filter(state="leased").count() == 3


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'{"leases": 3}', b'{"leases": ["x"]}', b"[" * 50_000])
def test_bodies_that_cannot_be_read_get_a_sentence(body: bytes) -> None:
    client = caller(make_token()[1])
    answer = client.post(f"/{OWN}leases/renew", body, content_type="application/json")
    assert answer.status_code == 400 and answer.json()["problem"].endswith(".")
    assert answer.headers["WWD-Worker"] == "1"


def test_a_body_of_an_absurd_size_is_refused(run: Run) -> None:
    client = caller(make_token()[1])
    assert post(client, "leases/renew", leases=["x" * 9_000_000]).status_code == 413


@pytest.mark.parametrize("kind", ["project", "protocol", "torch", "study", "definition"])
def test_an_older_worker_is_refused_with_both_versions_named(kind: str, run: Run) -> None:
    said = describe_worker()
    wanted = {"project": "0.0.1", "torch": "1.0"}.get(kind, "")
    if kind == "protocol":
        said["protocol"] = 0
    elif kind == "study":
        Run.objects.filter(pk=run.pk).update(study_version="0")
    elif kind == "definition":
        Run.objects.filter(pk=run.pk).update(definition={"versions": {"python": "2.7"}})
    else:
        said["versions"][kind] = wanted
    answer = lease(caller(make_token(other_versions=kind == "definition")[1]), run, **said)
    assert answer.status_code == 409
    assert wanted in answer.json()["problem"] and answer.json()["problem"].endswith(".")
    assert not Batch.objects.exists()


def test_another_torch_is_accepted_where_the_token_says_so(run: Run) -> None:
    said = describe_worker()
    said["versions"]["torch"] = "1.0"
    assert lease(caller(make_token(other_versions=True)[1]), run, **said).status_code == 200


def test_keys_of_providers_leave_only_where_the_token_says_so(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    make_model("paid", backend="openai", parameters={"queue": "api", "seeds": False})
    paid = create_run("generation", {**CONFIG, "model": "paid"}, slug="paid")
    Run.objects.filter(pk=paid.pk).update(queue="cpu")
    refused = lease(caller(make_token()[1]), paid)
    assert (refused.status_code, "sk-secret" in refused.content.decode()) == (403, False)
    assert set(Unit.objects.filter(run=paid).values_list("state", "deliveries")) == {("pending", 0)}
    given = lease(caller(make_token(provider_keys=True)[1]), paid)
    assert given.json()["keys"] == {"OPENAI_API_KEY": "sk-secret"}
    plain = lease(caller(make_token(provider_keys=True)[1]), run)
    assert plain.json()["keys"] == {}


@pytest.mark.parametrize(
    ("query", "body", "status"),
    [
        ("start=0&size=4", b"text", 422),
        ("start=5&size=4", b"x", 400),
        ("start=0&size=999999999", b"x", 400),
        ("start=-1&size=4", b"x", 400),
        ("start=x&size=4", b"x", 400),
        ("start=2&size=4", b"xt", 200),
        ("start=0&size=4", b"", 200),
    ],
)
def test_parts_that_do_not_fit_leave_nothing(query: str, body: bytes, status: int) -> None:
    client = caller(make_token()[1])
    answer = client.post(f"/{OWN}uploads/{'a' * 64}?{query}", body, content_type="application/octet-stream")
    assert answer.status_code == status
    if status == 200:
        assert answer.json() == {"arrived": 0, "complete": False}


def test_a_file_that_nobody_went_on_with_is_removed_after_a_day() -> None:
    token, secret = make_token()
    caller(secret).post(f"/{OWN}uploads/{'a' * 64}?start=0&size=9", b"text", content_type="application/octet-stream")
    assert uploads.delete_stale_uploads() == 0
    WorkerUpload.objects.update(created_at=timezone.now() - 2 * uploads.LIFE)
    assert uploads.delete_stale_uploads() == 1
    assert not WorkerUpload.objects.filter(access=token).exists()


def test_a_token_is_shown_once_and_only_its_hash_is_stored() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("chief"))
    given = {"name": "cluster", "queues": ["gpu"], "runs": ""}
    page = client.post(reverse("admin:evaluation_workertoken_add"), given, follow=True).content.decode()
    secret = PREFIX + page.partition(PREFIX)[2].split()[0]
    row = WorkerToken.objects.get()
    assert (row.secret_hash, row.made_by and row.made_by.username) == (hash_secret(secret), "chief")
    assert secret not in client.get(reverse("admin:evaluation_workertoken_change", args=[row.pk])).content.decode()
    assert caller(secret).get(f"/{OWN}runs").status_code == 200
    acted = {"action": "revoke", "_selected_action": [row.pk]}
    client.post(reverse("admin:evaluation_workertoken_changelist"), acted)
    assert caller(secret).get(f"/{OWN}runs").status_code == 401
