import warnings
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate
from PIL import Image

MOST_PIXELS = 64_000_000


def exports_go(dishes: Sequence[int], **signal: Any) -> None:
    """Bundles and reports that were made before a dish was withdrawn may hold it."""
    from wwd.exchange.bundles import jobs

    jobs.remove_all(dishes)


def limit_decoded_pixels() -> None:
    """No decoder of this process touches an image of more than 128 million pixels, anyone who opens it.

    Anyone who reads images of strangers says from 64 million on, in words, that they are too large.
    """
    # Pillow warns above its limit and refuses above twice as much.
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS
    warnings.simplefilter("ignore", Image.DecompressionBombWarning)


def hide_devices() -> None:
    """Keys and recovery codes of staff have no page in the admin: who could read them could use them."""
    from django.contrib import admin
    from django_otp.plugins.otp_static.models import StaticDevice
    from django_otp.plugins.otp_totp.models import TOTPDevice

    admin.site.unregister([TOTPDevice, StaticDevice])


class WwdConfig(AppConfig):
    name = "wwd"
    verbose_name = "World Wide Dishes"

    def ready(self) -> None:
        from collection.signals import dish_withdrawn
        from wwd import checks  # noqa: F401
        from wwd.groups import load_groups

        limit_decoded_pixels()
        hide_devices()
        dish_withdrawn.connect(exports_go)
        # After the last app: all permissions exist by then.
        post_migrate.connect(load_groups, sender=apps.get_app_config("review"), dispatch_uid="wwd.groups")
