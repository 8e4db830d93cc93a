"""Removes the demonstration: its rows, what people did with it, and its files. Everything else stays."""

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Q, QuerySet

from collection.models import Contributor, Dish, DishIngredient, Photo, Source
from collection.photos import process
from collection.vocabularies.ingredients import recount_ingredients
from evaluation import content_store
from evaluation.counters import bump_input_counters
from evaluation.models import Embedding, GeneratedImage, ReferenceList, Run, Subject
from review.models import Campaign, CampaignImage, Reviewer
from wwd.exchange.demo.loading import RUNS

DEMONSTRATION = Q(source=Source.DEMONSTRATION)


def select_demo_subjects() -> "QuerySet[Subject]":
    return Subject.objects.filter(Q(demonstration=True) | Q(dish__source=Source.DEMONSTRATION))


def select_demo_runs() -> "QuerySet[Run]":
    """The runs of the demonstration, and those that somebody started on its dishes."""
    about = Run.objects.filter(units__subject__in=select_demo_subjects())
    return Run.objects.filter(Q(slug__in=RUNS) | Q(pk__in=about.values("pk")))


def count_demo_rows() -> dict[str, int]:
    """How many rows of the demonstration there are, by kind."""
    return {
        "dishes": Dish.objects.filter(DEMONSTRATION).count(),
        "images": GeneratedImage.objects.filter(subject__in=select_demo_subjects()).count(),
        "runs": select_demo_runs().count(),
        "campaigns": Campaign.objects.filter(DEMONSTRATION).count(),
        "reviewers": Reviewer.objects.filter(campaign__source=Source.DEMONSTRATION).count(),
    }


def clear_demo() -> dict[str, int]:
    """Removes all of it and says how much there was. Files go after the rows that name them."""
    found = count_demo_rows()
    hashes, photo_files = file_hashes(), photo_paths()
    with transaction.atomic():
        remove_rows()
        if any(found.values()):
            bump_input_counters(
                "reviews", "dishes", "references", *(f"runs.{study}" for study, _config in RUNS.values())
            )
    remove_files(hashes)
    process.delete_stored_files(*photo_files)
    return found


def file_hashes() -> set[str]:
    """SHA-256 of every image and review copy of the demonstration."""
    images = GeneratedImage.objects.filter(subject__in=select_demo_subjects())
    shown = CampaignImage.objects.filter(Q(image__in=images) | Q(campaign__source=Source.DEMONSTRATION))
    found = {*images.values_list("sha256", flat=True), *shown.values_list("copy_sha256", flat=True)}
    found |= set(shown.values_list("large_sha256", flat=True))
    return found - {""}


def photo_paths() -> list[str]:
    pairs = Photo.objects.filter(dish__source=Source.DEMONSTRATION).values_list("file", "thumbnail")
    return [path for pair in pairs for path in pair]


def remove_rows() -> None:
    """Rows that belong to these go with them. Vectors of words go where no other run has them, ingredients where no
    other dish does."""
    indexed = DishIngredient.objects.filter(dish__source=Source.DEMONSTRATION)
    touched = set(indexed.values_list("spelling__ingredient", flat=True))
    Campaign.objects.filter(DEMONSTRATION).delete()
    select_demo_runs().delete()
    select_demo_subjects().delete()
    ReferenceList.objects.filter(demonstration=True).delete()
    Embedding.objects.filter(model__demonstration=True, image=None, outcome=None).delete()
    Dish.objects.filter(DEMONSTRATION).delete()
    recount_ingredients(touched)
    Contributor.objects.filter(DEMONSTRATION).delete()


def remove_files(hashes: set[str]) -> None:
    """Deletes contents that no row names any more."""
    for name in hashes - content_store.named_by_rows(sorted(hashes)):
        default_storage.delete(content_store.path_of(name))
