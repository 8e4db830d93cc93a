"""Pages of bundles and reports: who may open them, what they start and hand out, what they answer to nonsense."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from evaluation import content_store
from evaluation.images import download_log
from evaluation.models import ExportJob, ImageDownload, StoredTable
from tests.evaluation.make_tables import make_staff
from tests.wwd.bundles.make import make_world
from wwd.exchange.bundles import build, jobs
from wwd.exchange.bundles.table_views import ChosenError

pytestmark = pytest.mark.django_db
BUNDLE, REPORT = "/admin/evaluation/bundle/", "/admin/evaluation/report/"
READ = f"{REPORT}read/?name=kenya&view=generation.counts"
PAGES = (BUNDLE, REPORT, READ)
ASKED = {"name": "kenya", "table": ["generation.counts"], "filtered": "review.quality?country=Kenya"}


@pytest.fixture(autouse=True)
def unannounced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "announce_export_job", lambda pk: None)


@pytest.fixture
def researcher(client: Client) -> Client:
    client.force_login(make_staff())
    return client


def allow_images() -> None:
    User.objects.get(username="researcher").user_permissions.add(
        Permission.objects.get(codename=download_log.PERMISSION)
    )


def make_done(**values: Any) -> ExportJob:
    given = {"kind": "bundle", "name": "kenya", "views": ["generation.counts"], "asked": "a", "state": "done", **values}
    return ExportJob.objects.create(sha256=content_store.store_content(b"PK the file"), **given)


def body(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.mark.parametrize("address", [*PAGES, "/admin/evaluation/exports/1/"])
def test_strangers_sign_in_and_other_staff_are_refused(client: Client, address: str) -> None:
    assert client.get(address).status_code == 302
    client.force_login(make_staff(may_see_tables=False))
    assert client.get(address).status_code == 403


@pytest.mark.parametrize("address", [BUNDLE, REPORT])
def test_a_form_starts_one_job_however_often_it_is_sent(researcher: Client, address: str) -> None:
    for _time in range(2):
        assert researcher.post(address, ASKED).status_code == 302
    job = ExportJob.objects.get()
    assert job.views == ["generation.counts", "review.quality?country=Kenya"]
    assert (job.state, job.by) == ("waiting", User.objects.get(username="researcher"))
    assert "waiting for a worker" in researcher.get(address).content.decode()


@pytest.mark.parametrize("address", [BUNDLE, REPORT])
def test_the_address_of_a_table_page_fills_the_form(researcher: Client, address: str) -> None:
    query = "?view=generation.counts&view=review.quality%3Fcountry%3DKenya"
    page = researcher.get(address + query).content.decode()
    assert 'value="generation.counts" checked' in page
    assert "review.quality?country=Kenya</textarea>" in page


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "../../x"},
        {"name": ""},
        {"name": "\x00"},
        {"table": ["nothing"]},
        {"table": [], "filtered": ""},
        {"filtered": "review.quality?contry=x"},
        {"filtered": "review.quality?country=%00"},
        {"filtered": "<script>alert(1)</script>"},
        {"plan": "no-such-plan"},
        {"filtered": "x" * 30_000},
    ],
)
@pytest.mark.parametrize("address", [BUNDLE, REPORT])
def test_nonsense_starts_nothing_and_is_answered_with_a_sentence(
    researcher: Client, address: str, wrong: dict[str, Any]
) -> None:
    response = researcher.post(address, {**ASKED, **wrong})
    assert response.status_code == 422
    page = response.content.decode()
    assert "Nothing was started." in page
    assert "<script>alert" not in page
    assert not ExportJob.objects.exists()


def test_masked_tables_are_in_no_bundle(researcher: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def masked(views: Any) -> None:
        raise ChosenError("review.quality is masked by the plan “Before”.")

    monkeypatch.setattr(build, "refuse_masked", masked)
    assert "is masked by the plan" in researcher.post(BUNDLE, ASKED).content.decode()
    assert not ExportJob.objects.exists()


def test_the_file_is_handed_out_under_its_name(researcher: Client) -> None:
    response = researcher.get(f"/admin/evaluation/exports/{make_done().pk}/")
    assert response.headers["Content-Disposition"] == 'attachment; filename="wwd-kenya.zip"'
    assert body(response) == b"PK the file"
    assert not ImageDownload.objects.exists()


@pytest.mark.parametrize("state", ["waiting", "working", "failed", "removed"])
def test_what_is_not_ready_cannot_be_fetched(researcher: Client, state: str) -> None:
    assert researcher.get(f"/admin/evaluation/exports/{make_done(state=state).pk}/").status_code == 404


def test_a_file_that_is_gone_is_a_page_that_says_so(researcher: Client) -> None:
    job = make_done()
    ExportJob.objects.update(sha256="0" * 64)
    assert researcher.get(f"/admin/evaluation/exports/{job.pk}/").status_code == 404


def test_images_are_handed_out_under_their_terms_and_noted(researcher: Client) -> None:
    address = f"/admin/evaluation/exports/{make_done(picture_count=7).pk}/"
    assert researcher.get(address).status_code == 403
    allow_images()
    page = researcher.get(address)
    assert (page.status_code, "not for training" in page.content.decode()) == (200, True)
    assert researcher.post(address).status_code == 200
    assert not ImageDownload.objects.exists()
    assert body(researcher.post(address, {"terms": download_log.TERMS_VERSION})) == b"PK the file"
    assert ImageDownload.objects.get().number == 7


def test_only_people_who_may_take_images_can_ask_for_them(researcher: Client) -> None:
    researcher.post(BUNDLE, {**ASKED, "pictures": "on"})
    assert ExportJob.objects.get().pictures is False
    allow_images()
    researcher.post(BUNDLE, {**ASKED, "pictures": "on"})
    assert ExportJob.objects.filter(pictures=True).count() == 1


def test_a_report_is_read_from_what_is_stored_and_asks_for_the_rest(
    researcher: Client, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    response = researcher.post(REPORT, {**ASKED, "do": "read"}, follow=True)
    page = response.content.decode()
    assert "Content warning." in page
    assert page.count("This table is being computed.") == 2
    assert StoredTable.objects.exclude(wanted_at=None).count() == 2
    assert "<style" not in page


def test_a_report_shows_numbers_methods_and_reasons(researcher: Client) -> None:
    make_world()
    from evaluation.tables import compute

    compute.compute_and_store("review.quality", {})
    page = researcher.get(f"{REPORT}read/?view=review.quality").content.decode()
    assert "Board of Nairobi, 2026/17" in page
    assert 'src="/admin/evaluation/tables/review.quality/figure.svg"' in page
    assert "Exploratory: no plan was made before the data." in page
    assert "The same numbers: manage.py tables review.quality" in page
    assert "not up to date" not in page


@pytest.mark.parametrize("query", ["", "?view=nothing", "?name=A&view=review.quality", "?view=review.quality%3Fx%3D1"])
def test_a_report_of_nonsense_is_a_page_that_says_so(researcher: Client, query: str) -> None:
    response = researcher.get(f"{REPORT}read/{query}")
    assert response.status_code == 404
    assert "This report cannot be shown" in response.content.decode()
