from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate


def removed_review_makes_tables_stale(**signal: Any) -> None:
    """However a review goes (withdrawal, admin, cascade), the tables made of it are no longer fresh."""
    from evaluation import tables

    tables.bump("reviews")


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = "Review"

    def ready(self) -> None:
        from review.loading import load_all
        from review.models import Review

        post_migrate.connect(load_all, sender=self)
        post_delete.connect(removed_review_makes_tables_stale, sender=Review)
