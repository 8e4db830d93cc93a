"""What staff fill in before anything is collected: consent texts, the opening, ambassadors. The package imports it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from collection.consent import recordings
from collection.consent.readiness import Accepting, current_opening, get_collection_status, list_missing_steps
from collection.models import Ambassador, ConsentText, Opening
from wwd.base.admin_lists import StaffList

STATES = {
    Accepting.OPEN: "The collection is open.",
    Accepting.DEMONSTRATION: "The collection takes demonstrations only:",
    Accepting.CLOSED: "The collection is closed: the ethics approval is over.",
}


def show_collection_state(request: HttpRequest) -> None:
    """On top of the lists: what the collection takes now, and what is still to be done."""
    state = get_collection_status()
    todo = list_missing_steps(current_opening()) if state is Accepting.DEMONSTRATION else []
    level = messages.SUCCESS if state is Accepting.OPEN else messages.WARNING
    messages.add_message(request, level, " ".join([STATES[state], *todo]))


class ConfirmForm(forms.ModelForm):
    """A name and a date, or neither."""

    def clean(self) -> dict[str, Any]:
        answers = super().clean() or {}
        if bool(answers.get("confirmed_by", "").strip()) != bool(answers.get("confirmed_on")):
            raise forms.ValidationError("Give the name of the person who confirmed the text, and the day.")
        return answers


@admin.register(ConsentText)
class ConsentTextAdmin(StaffList):
    """A text is added once and then only confirmed; what changes is a new version."""

    form = ConfirmForm
    list_display = ("version", "language", "confirmed_by", "confirmed_on", "recording_bytes")
    list_filter = ("version", "language")
    ordering = ("-version", "language")
    change_form_template = "collection/admin/consent_text.html"
    fields = (
        "version",
        "language",
        "sentences",
        "unpaid",
        "paid",
        "questions",
        "aloud",
        "licence_words",
        "licence_photos",
        "confirmed_by",
        "confirmed_on",
    )

    def get_readonly_fields(self, request: HttpRequest, obj: ConsentText | None = None) -> list[str]:
        return [name for name in self.fields or () if obj and not str(name).startswith("confirmed")]

    def get_urls(self) -> list[URLPattern]:
        upload = self.admin_site.admin_view(require_POST(self.upload))
        own = path("<int:pk>/recording/", upload, name="collection_consenttext_recording")
        return [own, *super().get_urls()]

    def upload(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A recording for one text. A view of its own, because the change form works inside a transaction."""
        # Asked before anything is looked up: anyone who may not change texts learns nothing of which there are.
        if not self.has_change_permission(request):
            raise PermissionDenied
        text = get_object_or_404(ConsentText, pk=pk)
        file = request.FILES.get("recording")
        try:
            if not isinstance(file, UploadedFile):
                raise recordings.RecordingError("Choose an MP3 file.")
            recordings.attach_recording(text, file.read(recordings.MOST_BYTES + 1))
        except recordings.RecordingError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, "The recording is stored.", messages.SUCCESS)
        return redirect("admin:collection_consenttext_change", pk)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        show_collection_state(request)
        return super().changelist_view(request, extra_context)


@admin.register(Opening)
class OpeningAdmin(StaffList):
    """Rows are added, never changed: the form of a new one is filled with what holds now."""

    list_display = ("created_at", "controller", "contact", "ethics_reference", "ethics_until", "made_by")
    fields = (
        "controller",
        "contact",
        "ethics_reference",
        "ethics_until",
        "thanks",
        "kilobytes",
        "megabytes",
    )

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        current = current_opening()
        return {str(name): getattr(current, str(name)) for name in self.fields or ()} if current else {}

    def has_change_permission(self, request: HttpRequest, obj: Opening | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Opening, form: forms.ModelForm, change: bool) -> None:
        obj.made_by = request.user if request.user.is_authenticated else None
        super().save_model(request, obj, form, change)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        show_collection_state(request)
        return super().changelist_view(request, extra_context)


@admin.register(Ambassador)
class AmbassadorAdmin(StaffList):
    """Named by country and until a day. The invitation shows until it was opened."""

    list_display = ("label", "country", "until", "opened_at", "account", "named_by")
    list_select_related = ("country", "named_by", "account")
    search_fields = ("label__istartswith", "country__name__istartswith")
    fields = ("label", "country", "until", "account", "link")
    readonly_fields = ("link",)

    @admin.display(description="invitation")
    def link(self, ambassador: Ambassador) -> SafeString | str:
        if ambassador.pk is None:
            return "Is made when you save."
        if ambassador.opened_at:
            return "Opened on {day}. It cannot be opened again.".format(day=f"{ambassador.opened_at:%Y-%m-%d}")
        return format_html("<code>{}</code>", reverse("collection:invitation", args=[ambassador.invitation]))

    def save_model(self, request: HttpRequest, obj: Ambassador, form: forms.ModelForm, change: bool) -> None:
        if not change:
            obj.named_by = request.user if request.user.is_authenticated else None
        super().save_model(request, obj, form, change)
