"""The languages of the review's pages: those in which reviewers can read what they agree to or what is asked."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation.trans_real import parse_accept_lang_header

from review.models import ReviewerConsent
from review.seed_data import asked_in
from wwd.base.languages import Spoken

DEFAULT = "en"


def review_languages() -> tuple[Spoken, ...]:
    """The languages of public pages that the review has too, in the order of all pages."""
    texts = set(ReviewerConsent.objects.order_by().values_list("language", flat=True).distinct())
    return tuple(Spoken(code, name) for code, name in settings.LANGUAGES if code in {DEFAULT, *texts, *asked_in()})


def spoken_by(request: HttpRequest, languages: tuple[Spoken, ...]) -> str:
    """The one of `languages` that the address names, else the first that the browser asks for, else English."""
    codes = [language.code for language in languages]
    header = parse_accept_lang_header(request.headers.get("Accept-Language", "")[:500])
    asked = [getattr(request, "chosen_language", ""), *(tag.split("-")[0] for tag, _weight in header)]
    return next((code for code in asked if code in codes), DEFAULT)
