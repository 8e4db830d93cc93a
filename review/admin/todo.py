"""What of the review waits for somebody of the staff: `evaluation/overview/todo.py` shows it on the overview."""

from django.utils.translation import gettext_lazy as _

from evaluation.overview.todo import Kind, listed, register, with_permission
from review.models import Assignment, Note


def register_kinds() -> None:
    register(
        Kind(
            _("notes of reviewers"),
            with_permission("review.view_note", lambda: Note.objects.filter(answered_at=None)),
            listed("review_note", "answered_at__isempty=1"),
        )
    )
    register(
        Kind(
            _("reported pictures"),
            with_permission(
                "review.view_assignment", lambda: Assignment.objects.filter(state=Assignment.State.REPORTED)
            ),
            listed("review_assignment", "state__exact=reported"),
        )
    )
