"""Pages of plans: write a draft, freeze it, show it, lift its mask."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluation import unmasking
from evaluation.models import Plan
from evaluation.models.plans import PlanFrozenError
from evaluation.plans import freezing
from evaluation.plans.evidence import count_existing_data
from evaluation.presentation.plan import Shown, data_named
from evaluation.presentation.plan_form import Draft
from evaluation.registry.names import TABLES
from evaluation.views.tables import build_admin_context, get_staff_user, require_permission


def plan_of(slug: str) -> Plan:
    return get_object_or_404(Plan.objects.select_related("amends", "created_by", "frozen_by"), slug=slug)


@require_permission("view_plan")
@require_safe
def plan_list(request: HttpRequest) -> HttpResponse:
    """All plans, drafts too."""
    plans = Plan.objects.select_related("amends", "created_by").prefetch_related("acts")
    return render(
        request, "evaluation/plans/list.html", build_admin_context(request, "Plans", plans=[*map(Shown, plans)])
    )


@require_permission("view_plan")
@require_safe
def show_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """One plan, to be printed or cited; its hash is computed again each time."""
    shown = Shown(plan_of(slug))
    return render(request, "evaluation/plans/plan.html", build_admin_context(request, shown.plan.title, shown=shown))


@require_permission("view_plan")
@require_safe
def as_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The plan with its hash, and how to compute it again."""
    plan = plan_of(slug)
    answer = JsonResponse(freezing.build_published_plan(plan), json_dumps_params={"ensure_ascii": False, "indent": 1})
    answer.headers["Content-Disposition"] = f'attachment; filename="plan-{plan.slug}.json"'
    return answer


@require_permission("add_plan")
@require_http_methods(["GET", "HEAD", "POST"])
def edit_plan(request: HttpRequest, slug: str = "") -> HttpResponse:
    """A new draft, or one that is not frozen yet."""
    plan = plan_of(slug) if slug else None
    if plan and plan.frozen_at:
        messages.error(request, "A frozen plan is never changed. Make a new plan that names this one.")
        return redirect("evaluation:plan", plan.slug)
    if request.method != "POST":
        copied = Plan.objects.exclude(frozen_at=None).filter(slug=request.GET.get("amends", "")).first()
        return form_page(request, plan, Draft(plan, copied=copied))
    draft = Draft(plan, request.POST)
    if not draft.is_valid():
        return form_page(request, plan, draft, status=422)
    try:
        saved = draft.save(get_staff_user(request))
    except PlanFrozenError as error:
        messages.error(request, str(error))
        return redirect("evaluation:plans")
    return redirect("evaluation:plan", saved.slug)


def form_page(request: HttpRequest, plan: Plan | None, draft: Draft, status: int = 200) -> HttpResponse:
    title = "Change the draft" if plan else "New plan"
    more = build_admin_context(request, title, plan=plan, draft=draft, names=sorted(TABLES))
    return render(request, "evaluation/plans/write.html", more, status=status)


@require_permission("change_plan")
@require_http_methods(["GET", "HEAD", "POST"])
def freeze_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Says what there is already and what freezing means; freezes."""
    plan = plan_of(slug)
    try:
        if request.method == "POST":
            freezing.freeze_plan(plan, get_staff_user(request))
            messages.success(request, "The plan is frozen.")
        elif not plan.frozen_at:
            counts = [(data_named(found), found["count"]) for found in count_existing_data(plan)]
            more = build_admin_context(
                request, "Freeze the plan", plan=plan, counts=counts, any=any(n for _name, n in counts)
            )
            return render(request, "evaluation/plans/freeze.html", more)
    except PlanFrozenError as error:
        messages.error(request, str(error))
    return redirect("evaluation:plan", plan.slug)


@require_permission("unmask_plan")
@require_http_methods(["GET", "HEAD", "POST"])
def unmask_plan(request: HttpRequest, slug: str) -> HttpResponse:
    """Says whether the analyses ran; lifts the mask, with a reason where they did not."""
    shown = Shown(plan_of(slug))
    if not shown.masked:
        return redirect("evaluation:plan", slug)
    problem = ""
    if request.method == "POST":
        try:
            complete = bool(request.POST.get("complete"))
            unmasking.lift_mask(
                shown.plan, get_staff_user(request), request.POST.get("reason", "")[:2000], complete=complete
            )
            return redirect("evaluation:plan", slug)
        except unmasking.ReasonMissingError as error:
            problem = str(error)
    more = build_admin_context(request, "Show the names", shown=shown, problem=problem)
    return render(request, "evaluation/plans/unmask.html", more, status=422 if problem else 200)
