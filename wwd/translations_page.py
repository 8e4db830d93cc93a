"""For staff: how much of the public pages each language says, and what it lacks."""

from typing import NamedTuple

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from wwd.base.languages import Spoken, is_draft, list_languages
from wwd.message_catalogues import Text, list_texts, list_untranslated_texts

MOST_SHOWN = 20


class Coverage(NamedTuple):
    """A language with the number of texts of the public pages, and those that it lacks."""

    language: Spoken
    texts: int
    lacking: list[Text]
    draft: bool

    @property
    def said(self) -> int:
        return self.texts - len(self.lacking)

    @property
    def shown(self) -> list[Text]:
        return self.lacking[:MOST_SHOWN]


def list_coverage() -> list[Coverage]:
    """All languages but the one that the texts are written in."""
    return [
        Coverage(
            language,
            len(list_texts(language.code)),
            list(list_untranslated_texts(language.code)),
            is_draft(language.code),
        )
        for language in list_languages()
        if language.code != settings.LANGUAGE_CODE
    ]


@require_safe
def show_translations(request: HttpRequest) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": "Translations", "coverage": list_coverage()}
    return render(request, "admin/translations.html", context)


translations = admin.site.admin_view(show_translations)
