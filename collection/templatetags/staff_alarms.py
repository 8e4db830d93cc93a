"""`{% alarms %}`: what stewards are told at the top of their first pages."""

from typing import Any

from django import template

from collection.access import alarms as found

register = template.Library()


@register.inclusion_tag("collection/admin/alarms.html", takes_context=True)
def alarms(context: template.Context) -> dict[str, Any]:
    return {"alarms": found.list_alarms(context["request"].user)}
