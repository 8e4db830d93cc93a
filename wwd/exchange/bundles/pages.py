"""Researchers' pages: ask for a bundle or a report, see how far it is, fetch it, read a report on the screen."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from evaluation import content_store
from evaluation.images import download_log
from evaluation.models import ExportJob
from evaluation.views.tables import build_admin_context, require_permission
from wwd.exchange.bundles import jobs, report, table_views
from wwd.exchange.bundles.build import Request
from wwd.exchange.bundles.request_form import BundleForm, ExportForm
from wwd.exchange.bundles.table_views import ChosenError

RECENT = 30
ENDINGS = {ExportJob.Kind.BUNDLE: "zip", ExportJob.Kind.REPORT: "pdf"}
READ = "view_storedtable"


def may_download_images(request: HttpRequest) -> bool:
    return request.user.has_perm(f"evaluation.{download_log.PERMISSION}")


@require_permission(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def request_bundle(request: HttpRequest) -> HttpResponse:
    """Ask for a bundle, and see those that were asked for."""
    label = "Images too, those that may leave the platform" if may_download_images(request) else ""
    form = BundleForm(get_post_data(request), views=request.GET.getlist("view"), images_label=label)
    return handle_export_form(request, ExportJob.Kind.BUNDLE, form, "Bundles")


@require_permission(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def request_report(request: HttpRequest) -> HttpResponse:
    """Ask for a report as PDF, and see those that were asked for."""
    label = "Some images behind each table, blurred" if may_download_images(request) else ""
    form = ExportForm(get_post_data(request), views=request.GET.getlist("view"), images_label=label)
    return handle_export_form(request, ExportJob.Kind.REPORT, form, "Reports")


def get_post_data(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None


def handle_export_form(request: HttpRequest, kind: ExportJob.Kind, form: ExportForm, title: str) -> HttpResponse:
    """Starts the job of a valid form, or shows the form with what is wrong."""
    if form.is_bound and form.is_valid():
        if kind == ExportJob.Kind.REPORT and request.POST.get("do") == "read":
            return redirect(f"{reverse('bundles:read')}?{query_of(form.request())}")
        user = request.user if isinstance(request.user, AbstractBaseUser) else None
        job = jobs.start_export_job(kind, form.request(), user)
        messages.success(request, f"A worker makes it (number {job.pk}). Open this page again in a minute.")
        return redirect(f"bundles:{'bundle' if kind == ExportJob.Kind.BUNDLE else 'reports'}")
    held = ExportJob.objects.filter(kind=kind).select_related("by")[:RECENT]
    more = build_admin_context(
        request, title, form=form, kind=kind.value, jobs=held, **download_log.build_terms_context()
    )
    return render(request, "bundles/ask.html", more, status=422 if form.is_bound else 200)


def query_of(wanted: Request) -> str:
    return urlencode([("name", wanted.name), *(("view", view.address) for view in wanted.views)])


@require_permission(READ)
@require_http_methods(["GET", "HEAD", "POST"])
def download_export(request: HttpRequest, pk: int) -> HttpResponseBase:
    """The file of a job. Images are handed out to people who accept their terms, and that is noted."""
    job = get_object_or_404(ExportJob, pk=pk, state=ExportJob.State.DONE)
    with_images = job.kind == ExportJob.Kind.BUNDLE and job.picture_count > 0
    if with_images and not (may_download_images(request) and download_log.is_terms_accepted(request)):
        more = build_admin_context(
            request, job.name, job=job, may=may_download_images(request), **download_log.build_terms_context()
        )
        return render(request, "bundles/terms.html", more, status=200 if may_download_images(request) else 403)
    try:
        file = default_storage.open(content_store.path_of(job.sha256))
    except FileNotFoundError:
        raise Http404 from None
    if with_images:
        download_log.record_download(request.user, f"bundle {job.name} ({job.pk})", job.picture_count)
    name = f"wwd-{job.name}.{ENDINGS[ExportJob.Kind(job.kind)]}"
    return FileResponse(file, as_attachment=True, filename=name)


@require_permission(READ)
@require_safe
def show_report(request: HttpRequest) -> HttpResponse:
    """A report on the screen, from what is stored; images are in the PDF only."""
    try:
        wanted = Request(
            table_views.check_bundle_name(request.GET.get("name", "report")),
            table_views.parse_views(request.GET.getlist("view")),
        )
        made = report.build_report_context(wanted, report.as_stored, on_site=True)
    except ChosenError as error:
        more = build_admin_context(request, "This report cannot be shown", sentence=str(error))
        return render(request, "evaluation/no_table.html", more, status=404)
    back = f"{reverse('bundles:reports')}?{query_of(wanted)}"
    style = report.build_stylesheet_link(static(report.STYLE))
    return render(request, "bundles/report.html", {**made, "style": style, "back": back})
