from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CollectionConfig(AppConfig):
    name = "collection"
    verbose_name = "Collection"

    def ready(self) -> None:
        from collection.seed_data import load_reference

        post_migrate.connect(load_reference, sender=self, dispatch_uid="collection.seed_data")
