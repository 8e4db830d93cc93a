from django.apps import AppConfig


class CollectionConfig(AppConfig):
    name = "collection"
    verbose_name = "Collection"
