"""Runs, units and models in the admin: what there is, how far it is, what went wrong."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.html import format_html

from evaluation import cached_counts
from evaluation.admin import image_downloads as image_downloads
from evaluation.admin import plans as plans
from evaluation.admin import reference_lists as reference_lists
from evaluation.admin import worker_tokens as worker_tokens
from evaluation.models import (
    DescriptorSet,
    EarlierOutcome,
    Model,
    Outcome,
    PromptTemplate,
    QuestionSet,
    Run,
    Subject,
    Unit,
)
from evaluation.plans.mask_pages import reader_mask
from evaluation.presentation.run import KIND
from wwd.base.admin_lists import ReadOnly, StaffList

OPEN = (Unit.State.PENDING, Unit.State.LEASED)
IDENTIFYING_FIELDS = ("circumstances", "image", "prompt_sent", "prompt_revised")


class RunList(ChangeList):
    """The runs of a page with the numbers of their units by state: counted for small runs, kept for large ones."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        runs = list(self.result_list)
        states: dict[int, dict[str, int]] = {run.pk: {} for run in runs if not run.large}
        rows = Unit.objects.filter(run__in=states).values_list("run", "state").annotate(Count("pk")).order_by()
        for pk, state, n in rows:
            states[pk][state] = n
        settled = {run.pk: run.finished_at for run in runs if run.large}
        for pk, held in (
            cached_counts.read_cached_counts(KIND, list(settled), settled=settled).items() if settled else ()
        ):
            states[pk] = dict(held.content["states"]) if held.content else {}
        mask = reader_mask(request)
        for run in runs:
            run.by_state = states[run.pk]
            run.shown = not mask.active or bool(mask.plain([run.slug]))
        self.result_list = runs


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ("name", "study", "state", "progress", "failed", "demonstration", "imported", "created_at")
    list_filter = ("study", "state", "demonstration", "imported")
    search_fields = ("slug__startswith",)
    list_per_page = 20
    change_list_template = "evaluation/runs.html"
    list_display_links = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        return super().get_queryset(request).annotate(large=cached_counts.is_large(Unit.objects.all(), "run"))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Run], search_term: str
    ) -> tuple[QuerySet[Run], bool]:
        """While names are masked, a run that is called by one is not found by it."""
        found, more = super().get_search_results(request, queryset, search_term)
        mask = reader_mask(request)
        if search_term.strip() and mask.active:
            slugs = mask.plain(found.values_list("slug", flat=True))
            found = found.filter(slug__in=slugs)
        return found, more

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return RunList

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """A run has a page of its own. Who may not see runs learns no name of one."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return redirect("evaluation:run", get_object_or_404(Run, pk=object_id).slug)

    @admin.display(description="run", ordering="slug")
    def name(self, run: Run) -> str:
        """A run that is called by a masked name is named by its number."""
        if not getattr(run, "shown", True):
            return f"run {run.pk}, whose name is masked"
        return format_html('<a href="{}">{}</a>', reverse("evaluation:run", args=[run.slug]), run.slug)

    @admin.display(description="progress")
    def progress(self, run: Any) -> str:
        if run.large and not run.by_state:
            return "being counted"
        total = sum(run.by_state.values())
        ended = total - sum(run.by_state.get(state, 0) for state in OPEN)
        return f"{ended} of {total}"

    @admin.display(description="failed")
    def failed(self, run: Any) -> int | str:
        return "–" if run.large and not run.by_state else run.by_state.get(Unit.State.FAILED, 0)


class ReadOnlyInline(admin.StackedInline):
    """What units gave: nobody writes it by hand."""

    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """While names are masked: without what leads to the model, such as seconds, prices and the image."""
        masked = reader_mask(request).active
        return [name for name in self.readonly_fields if not (masked and name in IDENTIFYING_FIELDS)]


class OutcomeInline(ReadOnlyInline):
    model = Outcome
    readonly_fields = (
        "text",
        "numbers",
        "reason",
        "circumstances",
        "image",
        "prompt_sent",
        "prompt_revised",
        "created_at",
    )

    @admin.display(description="prompt as sent")
    def prompt_sent(self, outcome: Outcome) -> str:
        return outcome.image.prompt_sent if outcome.image else ""

    @admin.display(description="prompt as the provider rewrote it")
    def prompt_revised(self, outcome: Outcome) -> str:
        return outcome.image.prompt_revised if outcome.image else ""


class EarlierOutcomeInline(ReadOnlyInline):
    """What it gave before somebody had it tried again."""

    model = EarlierOutcome
    readonly_fields = ("number", "state", "text", "numbers", "reason", "circumstances", "image", "created_at")


@admin.register(Unit)
class UnitAdmin(ReadOnly):
    dish_path = "subject__dish"
    list_display = ("key", "run", "subject", "model", "state", "deliveries")
    list_filter = ("state",)
    list_select_related = ("run", "subject", "model")
    search_fields = ("key__startswith", "run__slug__startswith", "subject__name__startswith")
    inlines = (OutcomeInline, EarlierOutcomeInline)

    # While names are masked, nothing here leads from a run or a model to what it gave.
    def get_list_display(self, request: HttpRequest) -> Any:
        return ("pk", "subject", "state", "deliveries") if reader_mask(request).active else self.list_display

    def get_search_fields(self, request: HttpRequest) -> Any:
        return ("subject__name__startswith",) if reader_mask(request).active else self.search_fields

    def get_fields(self, request: HttpRequest, obj: Unit | None = None) -> Any:
        return ("subject", "state", "deliveries") if reader_mask(request).active else super().get_fields(request, obj)

    def lookup_allowed(self, lookup: str, value: str, request: Any = None) -> bool:
        if reader_mask(request).active and lookup.partition("__")[0] not in ("state", "id", "pk"):
            return False
        return super().lookup_allowed(lookup, value, request)


@admin.register(Model)
class ModelAdmin(StaffList):
    """While names are masked, models open to those alone who steer runs: settings and prices tell which is which."""

    list_display = ("slug", "title", "role", "backend", "identifier", "revision", "demonstration")
    list_filter = ("role", "backend", "demonstration")
    search_fields = ("slug__icontains", "title__icontains", "identifier__icontains")

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_view_permission(request, obj) and not reader_mask(request).active

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return super().has_change_permission(request, obj) and not reader_mask(request).active


@admin.register(PromptTemplate, DescriptorSet, QuestionSet)
class VersionedAdmin(StaffList):
    """A version that exists is never changed: a changed word is a new version."""

    list_display = ("slug", "version", "source")
    search_fields = ("slug__icontains", "version__startswith")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Subject)
class SubjectAdmin(ReadOnly):
    dish_path = "dish"
    list_display = ("name", "kind", "source_key", "demonstration")
    list_filter = ("kind", "demonstration")
    search_fields = ("name__startswith", "source_key__startswith")
