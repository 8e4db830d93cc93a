"""Tokens of workers that reach no database: made, shown once, limited, revoked. The package imports it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.http import HttpRequest

from evaluation.models import WorkerToken
from evaluation.models.worker_tokens import QUEUES, hash_secret, make_worker_secret
from wwd.base.admin_lists import StaffList


class WorkerTokenForm(forms.ModelForm):
    queues = forms.MultipleChoiceField(
        choices=[(name, name) for name in QUEUES],
        widget=forms.CheckboxSelectMultiple,
        help_text="The queues that its workers may take work from.",
    )

    class Meta:
        model = WorkerToken
        fields = ("name", "queues", "runs", "provider_keys", "other_versions")


@admin.register(WorkerToken)
class WorkerTokenAdmin(StaffList):
    """The token is shown once, to the person who makes it: its hash alone is stored."""

    form = WorkerTokenForm
    list_display = ("name", "limited_to", "provider_keys", "made_by", "created_at", "used_at", "revoked_at")
    list_select_related = ("made_by",)
    search_fields = ("name__startswith",)
    raw_id_fields = ("runs",)
    readonly_fields = ("created_at", "used_at", "revoked_at")
    actions = ("revoke",)

    def save_model(self, request: HttpRequest, obj: WorkerToken, form: Any, change: bool) -> None:
        if not change:
            secret = make_worker_secret()
            obj.secret_hash, obj.made_by_id = hash_secret(secret), request.user.pk
            messages.warning(
                request,
                f"The token, which is never shown again: {secret} Write it into a file that you alone may read.",
            )
        super().save_model(request, obj, form, change)

    @admin.display(description="limited to")
    def limited_to(self, token: WorkerToken) -> str:
        runs = token.runs.count()
        return f"{', '.join(token.queues)}{f'; {runs} runs' if runs else ''}"

    @admin.action(description="Revoke: its workers get and deliver nothing more", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[WorkerToken]) -> None:
        number = queryset.filter(revoked_at=None).update(revoked_at=Now())
        messages.success(request, f"{number} tokens were revoked.")
