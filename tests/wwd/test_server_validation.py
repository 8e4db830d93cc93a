"""The server's page says what is missing, in the visitor's language and beside the field: no browser's own bubble."""

import re

import pytest

from tests.public_pages import SPOKEN_BY_REVIEW, render_public_pages

pytestmark = pytest.mark.django_db

FORM = re.compile(r"<form\b[^>]*>")
# Of the page that is stored for no network: there only the browser can say what is missing.
KEPT = "data-consent="


@pytest.mark.parametrize("language", SPOKEN_BY_REVIEW[:1])
def test_no_public_form_lets_the_browser_refuse_what_the_server_would_explain(language: str) -> None:
    forms = {
        (name, form)
        for name, response in render_public_pages(language).items()
        for form in FORM.findall(response.content.decode())
        if KEPT not in form
    }
    assert len({name for name, _form in forms}) > 50
    assert {name for name, form in forms if " novalidate" not in form} == set()
