"""The packages of this project, and the models of their apps. Every other list of them is this one."""

from typing import TYPE_CHECKING

from django.apps import apps

if TYPE_CHECKING:
    # The settings import this module, and models need the settings.
    from django.db.models import Model

PACKAGES = ("wwd", "collection", "evaluation", "review")


def list_models() -> "tuple[type[Model], ...]":
    """Every model of the project, app by app; none of Django's or of other packages."""
    return tuple(model for name in PACKAGES for model in apps.get_app_config(name).get_models())
