"""What of the review waits for somebody of the staff: `evaluation/overview/todo.py` shows it on the overview."""

from evaluation.overview.todo import TodoKind, make_admin_list_address, register_todo_kind, with_permission
from review.models import Assignment, Note


def register_kinds() -> None:
    register_todo_kind(
        TodoKind(
            "notes of reviewers",
            with_permission("review.view_note", lambda: Note.objects.filter(answered_at=None)),
            make_admin_list_address("review_note", "answered_at__isempty=1"),
        )
    )
    register_todo_kind(
        TodoKind(
            "reported images",
            with_permission(
                "review.view_assignment", lambda: Assignment.objects.filter(state=Assignment.State.REPORTED)
            ),
            make_admin_list_address("review_assignment", "state__exact=reported"),
        )
    )
