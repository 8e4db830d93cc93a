"""Images that leave the platform: the terms that are before each download, and the log of who took what.

A page that hands out images includes `evaluation/terms.html` in a form that is sent by POST, asks `accepted`, and
calls `record` before the first byte leaves. The permission is `evaluation.add_imagedownload`.
"""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.http import HttpRequest

from evaluation.models import ImageDownload

PERMISSION = "add_imagedownload"
# A changed word is a new version: the log says which words somebody accepted.
TERMS_VERSION = "1"
TERMS = (
    "The images are for evaluation only: to study, compare and report how models depict dishes.",
    "They are not for training: no model is trained, tuned or adapted with them.",
    "They are not passed on, and not shown without saying which model made them. Withdrawn dishes are deleted.",
    "The download is logged: who, when, what and how many images.",
)


def is_terms_accepted(request: HttpRequest) -> bool:
    """Whether the form that was sent accepts the terms of today."""
    return request.method == "POST" and request.POST.get("terms") == TERMS_VERSION


def record_download(user: AbstractBaseUser | AnonymousUser, what: str, count: int) -> ImageDownload:
    """Notes that `user` takes `count` images away; `what` names page or archive and its filters.

    Call it before anything is sent. Raises ValueError for somebody who is not signed in, or a negative number.
    """
    if not isinstance(user, AbstractBaseUser) or user.pk is None:
        raise ValueError("Images are handed out to people who are signed in.")
    if count < 0:
        raise ValueError(f"{count} images cannot be taken.")
    row = ImageDownload.objects.create(by_id=user.pk, what=what[:300], number=count, terms=TERMS_VERSION)
    row.refresh_from_db(fields=["at"])
    return row


def build_terms_context() -> dict[str, object]:
    """What `evaluation/terms.html` needs."""
    return {"terms": TERMS, "terms_version": TERMS_VERSION}
