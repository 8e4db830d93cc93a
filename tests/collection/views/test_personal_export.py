"""What somebody takes along can be read on a phone: a page, and a ZIP with the photos, beside the JSON."""

import io
import json
import re
import zipfile
from typing import Any

import pytest
from django.utils import timezone
from PIL import Image

from collection.access import return_codes
from collection.dishes.write import change_dish
from collection.forms import PersonalDetailsForm
from collection.models import AboutYou, Contributor, Country, Dish, Photo
from tests.collection.make import make_contributor, make_dish, make_photo, stranger, tokens

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def with_photos() -> tuple[Contributor, Dish]:
    contributor = make_contributor()
    dish = make_dish("ثريد <b>", contributor=contributor, drink="tea & milk")
    change_dish(dish, {"drink": "tea & mint"}, by_contributor=contributor)
    photo = make_photo(dish, Photo.State.WAITING)
    photo.caption = "A bowl"
    photo.save()
    make_photo(dish, Photo.State.DRAFT).save()
    gone = make_photo(dish, Photo.State.WAITING)
    gone.file = gone.thumbnail = "photos/gone.jpg"
    gone.save()
    make_photo(make_dish("Somebody else's", contributor=make_contributor()), Photo.State.WAITING).save()
    return contributor, dish


def download(contributor: Contributor, how: str, prefix: str = "") -> Any:
    browser = stranger()
    code = return_codes.issue_return_code(contributor.pk, "contributor")
    page = browser.post(f"{prefix}/return/", {"code": code}).content.decode()
    assert f'name="download" value="{how}"' in page
    proof = tokens(page)[f"{prefix}/return/dishes/"]
    return stranger().post(f"{prefix}/return/dishes/", {"proof": proof, "download": how})


def test_page_shows_the_dishes_with_images_within_and_loads_nothing() -> None:
    contributor, _dish = with_photos()
    response = download(contributor, "page")
    assert response.headers["Content-Disposition"] == 'attachment; filename="my-dishes.html"'
    assert response.headers["Cache-Control"] == "no-store"
    page = response.content.decode()
    assert "ثريد &lt;b&gt;" in page and "tea &amp; mint" in page and "tea &amp; milk" in page and "A bowl" in page
    assert "Somebody else" not in page
    addresses = re.findall(r'(?:src|href|action)="([^"]+)"', page)
    assert len(addresses) == 2 and all(address.startswith("data:image/jpeg;base64,/9j/") for address in addresses)


def test_page_speaks_the_language_of_the_person() -> None:
    contributor, _dish = with_photos()
    page = download(contributor, "page", "/ar").content.decode()
    assert '<html lang="ar" dir="rtl">' in page


def test_zip_holds_the_photos_as_jpeg_and_the_page_and_data_that_name_them() -> None:
    contributor, dish = with_photos()
    response = download(contributor, "zip")
    assert response.headers["Content-Type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))
    assert archive.testzip() is None
    photos = sorted(name for name in archive.namelist() if name.endswith(".jpg"))
    assert len(photos) == 2 and all(re.fullmatch(rf"photos/{dish.number}-\d\.jpg", name) for name in photos)
    for name in photos:
        assert Image.open(io.BytesIO(archive.read(name))).format == "JPEG"
    page = archive.read("my-dishes.html").decode()
    assert sorted(re.findall(r'src="([^"]+)"', page)) == photos
    (told,) = json.loads(archive.read("my-dishes.json"))["dishes"]
    assert sorted(photo["file"] for photo in told["photos"] if "file" in photo) == photos
    assert len(told["photos"]) == 3
    assert all("jpeg_base64" not in photo for photo in told["photos"])


def test_somebody_without_dishes_takes_along_an_empty_page() -> None:
    assert "<h1>My dishes</h1>" in download(make_contributor(), "page").content.decode()


def test_page_holds_what_somebody_told_about_themselves_and_no_empty_line() -> None:
    contributor = make_contributor()
    row = AboutYou.objects.create(
        contributor=contributor, agreed_at=timezone.now(), name="Awa <i>", year_of_birth=1990, credit_me=True
    )
    row.nationalities.set([Country.objects.get(pk="SEN")])
    AboutYou.objects.filter(pk=row.pk).update(nationalities_more="Wolof")
    page = download(contributor, "page").content.decode()
    assert all(words in page for words in ("Awa &lt;i&gt;", "1990", "Senegal, Wolof", "yes"))
    labels = {name: str(PersonalDetailsForm.base_fields[name].label) for name in ("year_of_birth", "email")}
    assert labels["year_of_birth"] in page and labels["email"] not in page
