"""Images that are taken away: logged before they leave, under terms that was on the page."""

import pytest
from django.contrib.auth.models import AnonymousUser, Permission
from django.test import Client, RequestFactory
from django.urls import reverse

from evaluation.images import download_log
from evaluation.models import ImageDownload
from tests.evaluation.make_tables import make_staff

pytestmark = pytest.mark.django_db


def test_a_download_is_logged_with_who_when_what_and_how_many() -> None:
    person = make_staff()
    row = download_log.record_download(person, "review.quality?country=Ghana", 12)
    kept = ImageDownload.objects.get()
    assert (kept.by, kept.what, kept.number, kept.terms) == (person, "review.quality?country=Ghana", 12, "1")
    assert kept.at == row.at is not None


def test_a_long_description_is_cut_and_still_logged() -> None:
    assert len(download_log.record_download(make_staff(), "x" * 2000, 1).what) == 300


def test_nothing_is_handed_out_to_strangers_or_by_negative_numbers() -> None:
    with pytest.raises(ValueError, match="signed in"):
        download_log.record_download(AnonymousUser(), "all", 3)
    with pytest.raises(ValueError, match="cannot be taken"):
        download_log.record_download(make_staff(), "all", -1)
    assert not ImageDownload.objects.exists()


def test_terms_count_only_where_todays_were_accepted_in_a_form() -> None:
    requests = RequestFactory()
    assert download_log.is_terms_accepted(requests.post("/", {"terms": download_log.TERMS_VERSION}))
    assert not download_log.is_terms_accepted(requests.post("/", {"terms": "0"}))
    assert not download_log.is_terms_accepted(requests.post("/"))
    assert not download_log.is_terms_accepted(requests.get("/", {"terms": download_log.TERMS_VERSION}))


def test_the_log_can_be_read_and_never_written(client: Client) -> None:
    person = make_staff(may_see_tables=False)
    person.user_permissions.add(*Permission.objects.filter(content_type__model="imagedownload"))
    row = download_log.record_download(person, "all images of run painted", 4)
    client.force_login(person)
    assert "all images of run painted" in client.get(reverse("admin:evaluation_imagedownload_changelist")).text
    change = reverse("admin:evaluation_imagedownload_change", args=[row.pk])
    assert client.get(change).status_code == 200
    assert client.post(change, {"what": "nothing"}).status_code == 403
    assert client.post(reverse("admin:evaluation_imagedownload_delete", args=[row.pk])).status_code == 403
    assert client.get(reverse("admin:evaluation_imagedownload_add")).status_code == 403
