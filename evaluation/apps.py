from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from evaluation.reference import load_reference

        post_migrate.connect(load_reference, sender=self, dispatch_uid="evaluation.reference")
