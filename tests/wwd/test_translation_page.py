"""The staff's page of translations."""

from django.test import Client

from wwd.base.languages import list_languages
from wwd.message_catalogues import Text
from wwd.translations_page import MOST_SHOWN, Coverage


def test_staff_see_how_much_each_language_says(admin_client: Client, client: Client) -> None:
    text = admin_client.get("/admin/translations/").content.decode()
    assert "Hausa" in text and "draft, confirmed by nobody" in text
    assert "/admin/translations/" in admin_client.get("/admin/").content.decode()
    assert client.get("/admin/translations/").status_code == 302
    assert admin_client.post("/admin/translations/").status_code == 405


def test_of_many_texts_that_a_language_lacks_some_are_shown() -> None:
    lacking = [Text(f"Text {number}") for number in range(MOST_SHOWN + 5)]
    found = Coverage(list_languages()[0], 100, lacking, draft=True)
    assert (found.said, found.shown) == (75, lacking[:MOST_SHOWN])
