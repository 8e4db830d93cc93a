"""The public list of what was withdrawn: ids only, so that anyone who holds a release can remove these rows."""

from collections import defaultdict
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from collection.withdrawal.withdraw import withdrawn_publicly


def by_month() -> dict[str, list[int]]:
    """Month of the withdrawal, newest first → numbers of dishes, which are their ids in releases."""
    months: dict[str, list[int]] = defaultdict(list)
    for row in withdrawn_publicly():
        assert row.dish is not None
        months[f"{row.at:%Y-%m}"].append(row.dish.number)
    return dict(sorted(months.items(), reverse=True))


@require_safe
def show_withdrawn_dishes(request: HttpRequest) -> HttpResponse:
    return render(request, "collection/withdrawn.html", {"months": by_month()})


@require_safe
def as_json(request: HttpRequest) -> JsonResponse:
    """{"months": {"2026-11": [10001]}, "withdrawn": [{"dish": 10001, "month": "2026-11"}]}"""
    months = by_month()
    rows: list[dict[str, Any]] = [{"dish": dish, "month": month} for month in months for dish in months[month]]
    return JsonResponse({"months": months, "withdrawn": rows})
