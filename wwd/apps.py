from django.apps import AppConfig


class WwdConfig(AppConfig):
    name = "wwd"
    verbose_name = "World Wide Dishes"

    def ready(self) -> None:
        from wwd import checks  # noqa: F401
