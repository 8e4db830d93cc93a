"""The staff's page of translations."""

from django.test import Client


def test_staff_see_how_much_each_language_says(admin_client: Client, client: Client) -> None:
    text = admin_client.get("/admin/translations/").content.decode()
    assert "Hausa" in text and "draft, confirmed by nobody" in text
    assert "/admin/translations/" in admin_client.get("/admin/").content.decode()
    assert client.get("/admin/translations/").status_code == 302
    assert admin_client.post("/admin/translations/").status_code == 405
