from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from collection.signals import dish_erased, dish_restored, dish_withdrawn, dishes_changed
        from evaluation import withdrawals
        from evaluation.reference import load_reference

        post_migrate.connect(load_reference, sender=self, dispatch_uid="evaluation.reference")
        dish_withdrawn.connect(withdrawals.stop)
        dish_restored.connect(withdrawals.go_on)
        dish_erased.connect(withdrawals.erase)
        dishes_changed.connect(withdrawals.count_anew)
