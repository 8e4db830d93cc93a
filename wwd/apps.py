from django.apps import AppConfig, apps
from django.db.models.signals import post_migrate


class WwdConfig(AppConfig):
    name = "wwd"
    verbose_name = "World Wide Dishes"

    def ready(self) -> None:
        from wwd import checks  # noqa: F401
        from wwd.groups import load_groups

        # After the last app: all permissions exist by then.
        post_migrate.connect(load_groups, sender=apps.get_app_config("review"), dispatch_uid="wwd.groups")
