from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_delete, post_migrate, post_save


def removed_review_makes_tables_stale(**signal: Any) -> None:
    """However a review goes (withdrawal, admin, cascade), its image wants one more and tables are not fresh."""
    from evaluation import counters
    from review.campaigns.service import recount_opinions
    from review.models import CampaignImage

    recount_opinions(CampaignImage.objects.filter(pk=signal["instance"].image_id))
    counters.bump_input_counters("reviews")


def exclusion_makes_tables_stale(**signal: Any) -> None:
    """Somebody was left out of the tables, or counts again."""
    from evaluation import counters

    counters.bump_input_counters("reviews")


class ReviewConfig(AppConfig):
    name = "review"
    verbose_name = "Review"

    def ready(self) -> None:
        from collection.signals import dish_restored, dish_withdrawn
        from evaluation.registry import names
        from evaluation.signals import images_erased, images_renamed
        from review import receivers, registration
        from review.admin.todo import register_kinds
        from review.models import Exclusion, Review
        from review.seed_data import load_all
        from review.tables import metadata  # noqa: F401 (registers what describes tables of reviews)

        names.register_app_entries(
            registration.TABLES, registration.DRILLDOWNS, registration.EVIDENCE, registration.OPINIONS
        )
        register_kinds()
        post_migrate.connect(load_all, sender=self)
        post_delete.connect(removed_review_makes_tables_stale, sender=Review)
        post_save.connect(exclusion_makes_tables_stale, sender=Exclusion)
        post_delete.connect(exclusion_makes_tables_stale, sender=Exclusion)
        dish_withdrawn.connect(receivers.release_reserved_images)
        dish_restored.connect(receivers.show_again)
        images_erased.connect(receivers.erase_campaign_images)
        images_renamed.connect(receivers.rename_image_dish)
