"""A form that proved nothing: the sentences that say so, and the page on which its typing can be copied."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from collection.access.guards import finished_form
from collection.dishes.idempotency import content_hash, replayed_receipt
from collection.forms import MoreForm
from wwd.base.middleware import disable_compression


def not_known() -> str:
    return _("We could not tell where this form came from, so nothing was saved. Look through it and send it again.")


def turn_over() -> str:
    return _("The turn of the person before is over, so nothing is saved yet. Look through it and send it again.")


def consent_spent() -> str:
    return _("The turn of the person before is over. If you want to take part, read this and agree for yourself.")


def render_unsaved_page(request: HttpRequest, form: type[forms.Form] | None = None) -> HttpResponse:
    """Nobody is known, so nothing can be saved; what was typed in the fields of `form` is shown to be copied."""
    names = () if form is None or is_typed_by_another(request, form) else form.base_fields
    typed = [value for name in names for value in request.POST.getlist(name) if value.strip()]
    return disable_compression(render(request, "collection/kept.html", {"typed": typed}))


def is_typed_by_another(request: HttpRequest, form: type[forms.Form]) -> bool:
    """The browser sends again (Back, reload) what somebody who has finished sent: not for whoever has the phone now."""
    finished = finished_form(request)
    if finished is None:
        return False
    more = MoreForm(request.POST) if form is MoreForm else None
    if more is None or not more.is_valid():
        return more is None
    return replayed_receipt(finished.form, content_hash(more.content)) is not None
