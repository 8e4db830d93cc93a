"""Pages on which researchers start runs, watch them, stop them and have them go on."""

import json
from collections.abc import Callable, Mapping

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluation import runner
from evaluation.contracts.study import ConfigError
from evaluation.models import Run
from evaluation.plans.mask import masks_run
from evaluation.plans.mask_pages import reader_mask
from evaluation.presentation import run_form
from evaluation.presentation.run import get_run_status
from evaluation.runner.control import AGAIN
from evaluation.views.tables import build_admin_context, get_staff_user, require_permission
from wwd.base.text import count_noun


@require_permission("add_run")
@require_http_methods(["GET", "HEAD", "POST"])
def start_run(request: HttpRequest) -> HttpResponse:
    """Choose studies and what they are asked; see what it would be; start it."""
    if request.method != "POST":
        return start_page(request, run_form.step_forms(preset=request.GET.get("preset", "")))
    forms = run_form.step_forms(request.POST)
    try:
        steps = run_form.steps_of(forms)
        plan = run_form.preview_steps(steps)
        if request.POST.get("do") != "start":
            return start_page(request, forms, plan=plan)
        runs = runner.create_chain(steps, started_by=get_staff_user(request))
    except ConfigError as error:
        return start_page(request, forms, problem=str(error), status=422)
    for run in runs:
        if run.state != Run.State.WAITING:
            runner.announce_run(run)
    message = count_noun(len(runs), "%(n)d run was started.", "%(n)d runs were started.")
    messages.success(request, message % {"n": len(runs)})
    return redirect("evaluation:run", runs[0].slug)


def start_page(request: HttpRequest, forms: list[run_form.StepForm], status: int = 200, **more: object) -> HttpResponse:
    values = build_admin_context(request, "Start runs", forms=forms, **more)
    return render(request, "evaluation/start.html", values, status=status)


@require_permission("view_run")
@require_safe
def show_run(request: HttpRequest, slug: str) -> HttpResponse:
    """One run: how far it is, what it costs, what was refused, rewritten and failed, and what to do about it."""
    run = get_object_or_404(Run.objects.select_related("after", "started_by"), slug=slug)
    may = request.user.has_perm("evaluation.change_run")
    more = {
        "now": get_run_status(run),
        "followers": run.followers.order_by("pk"),
        "may": may,
        # Who steers a run has to see what becomes of it.
        "hidden": not may and masks_run(run.study, run.slug),
        **what_was_asked(request, run),
    }
    return render(request, "evaluation/run.html", build_admin_context(request, run.slug, **more))


def what_was_asked(request: HttpRequest, run: Run) -> dict[str, str]:
    """Configuration and definition. Not while names are masked: settings tell a model as its name does."""
    if reader_mask(request).active:
        return {}
    return {"config": format_json_value(run.config), "definition": format_json_value(run.definition)}


def format_json_value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def handle_pause(run: Run) -> str:
    runner.pause_run(run)
    return "Paused. What workers hold at the moment is still finished."


def handle_resume(run: Run) -> str:
    runner.resume_run(run)
    return "The run goes on."


def handle_cancel(run: Run) -> str:
    runner.cancel_run(run)
    return "Cancelled. What is done stays, and the run can go on later."


def make_retry_handler(state: str) -> Callable[[Run], str]:
    def tried(run: Run) -> str:
        n = runner.retry_units(run, (state,))
        return count_noun(n, "%(n)d unit is tried again.", "%(n)d units are tried again.") % {"n": n}

    return tried


ACTS: Mapping[str, Callable[[Run], str]] = {
    "pause": handle_pause,
    "resume": handle_resume,
    "cancel": handle_cancel,
    **{f"again-{state}": make_retry_handler(state) for state in map(str, AGAIN)},
}


@require_permission("change_run")
@require_POST
def control_run(request: HttpRequest, slug: str) -> HttpResponse:
    """Does what the pressed button says, then shows the run."""
    run = get_object_or_404(Run, slug=slug)
    act = ACTS.get(request.POST.get("do", ""))
    if act is None:
        messages.error(request, "Nothing was done: this button is not known here.")
    else:
        try:
            messages.success(request, act(run))
        except ValueError as error:
            messages.error(request, str(error))
    return redirect("evaluation:run", run.slug)
