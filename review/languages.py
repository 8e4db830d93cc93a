"""The languages of the review's pages: those in which reviewers can read what they agree to or what is asked."""

from django.conf import settings

from review.models import ReviewerConsent
from review.seed_data import asked_in
from wwd.base.languages import Spoken


def review_languages() -> tuple[Spoken, ...]:
    """The languages of public pages that the review has too, in the order of all pages."""
    texts = set(ReviewerConsent.objects.order_by().values_list("language", flat=True).distinct())
    return tuple(
        Spoken(code, name) for code, name in settings.LANGUAGES if code in {settings.LANGUAGE_CODE, *texts, *asked_in()}
    )
