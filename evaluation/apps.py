from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvaluationConfig(AppConfig):
    name = "evaluation"
    verbose_name = "Evaluation"

    def ready(self) -> None:
        from collection.signals import dish_erased, dish_restored, dish_withdrawn, dishes_changed
        from evaluation import receivers
        from evaluation.seed_data import load_reference

        post_migrate.connect(load_reference, sender=self, dispatch_uid="evaluation.seed_data")
        dish_withdrawn.connect(receivers.fail_pending_units)
        dish_restored.connect(receivers.go_on)
        dish_erased.connect(receivers.erase_dish_results)
        dishes_changed.connect(receivers.count_anew)
