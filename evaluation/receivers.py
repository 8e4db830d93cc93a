"""What follows here when a dish is withdrawn: its units stop at once, tables count anew without it; once it is
erased, prompts, payloads, answers, vectors and images go. Ids stay."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from operator import or_
from typing import Any

from django.db.models import CharField, F, Model, Q, QuerySet, Value
from django.db.models.functions import Cast, Concat

from collection.models import Dish
from collection.withdrawal.erase import forget_in_admin
from collection.withdrawal.withdraw import heir_of
from evaluation import content_store
from evaluation.counters import bump_input_counters
from evaluation.models import EarlierOutcome, Embedding, GeneratedImage, Outcome, Role, Run, RunLabel, Subject, Unit
from evaluation.signals import images_erased, images_renamed
from evaluation.subjects import subject_for
from evaluation.tables.scrubbing import own_words, scrub_tables

Removals = list[Callable[[], None]]


def fail_pending_units(dishes: Sequence[int], **signal: Any) -> None:
    """Units that nobody works on yet fail without an outcome; tables are computed without the dish."""
    Unit.objects.filter(subject__dish__in=dishes, state=Unit.State.PENDING).update(state=Unit.State.FAILED)
    bump_input_counters("withdrawals")


def go_on(dishes: Sequence[int], **signal: Any) -> None:
    """Stopped units wait again, and their runs go on."""
    stopped = Unit.objects.filter(subject__dish__in=dishes, state=Unit.State.FAILED, outcome=None)
    runs = list(stopped.values_list("run", flat=True).distinct())
    stopped.update(state=Unit.State.PENDING)
    Run.objects.filter(pk__in=runs, state=Run.State.DONE).update(state=Run.State.RUNNING, finished_at=None)
    bump_input_counters("withdrawals")


def erase_dish_results(dishes: Sequence[int], removals: Removals, **signal: Any) -> None:
    """Everything derived from these dishes; what removes the files comes to `removals`."""
    for dish in Dish.objects.filter(pk__in=dishes):
        scrub_tables(dish)
        subjects = Subject.objects.filter(dish=dish)
        give_to_heir(dish, subjects)
        erase_subjects(list(subjects.values_list("pk", flat=True)), removals)
    bump_input_counters("withdrawals")


def give_to_heir(dish: Dish, subjects: QuerySet[Subject]) -> None:
    """Images of a dish that other contributors described too are theirs; only words of the withdrawn one go."""
    heir = heir_of(dish)
    images = GeneratedImage.objects.filter(subject__in=subjects)
    if heir is None or not images.exists():
        return
    ids = list(images.values_list("pk", flat=True))
    if heir.local_name != dish.local_name:
        images.update(prompt_sent="", prompt_revised="")
        # The key of a real photograph says whose photo it is. Others were given by anyone who imported a file.
        named = [Q(source_key__icontains=word) for word in own_words(dish)]
        if named:
            images.exclude(model__role=Role.CAMERA).filter(reduce(or_, named)).update(source_key=erased_key())
    images.update(subject=subject_for(heir))
    images_renamed.send(sender=GeneratedImage, images=ids, name=heir.local_name)


def erase_subjects(subjects: list[int], removals: Removals) -> None:
    images = GeneratedImage.objects.filter(subject__in=subjects)
    ids = list(images.values_list("pk", flat=True))
    hashes = set(images.exclude(sha256="").values_list("sha256", flat=True))
    images_erased.send(sender=GeneratedImage, images=ids, removals=removals)
    erase_units(Unit.objects.filter(Q(subject__in=subjects) | Q(payload__image__in=ids)))
    Embedding.objects.filter(image__in=ids).delete()
    images.update(
        state=GeneratedImage.State.ERASED,
        sha256="",
        prompt_sent="",
        prompt_revised="",
        source_key=erased_key(),
    )
    RunLabel.objects.filter(subject__in=subjects).delete()
    Subject.objects.filter(pk__in=subjects).update(name="", labels={}, source_key=erased_key())
    forget_admin_entries(Subject, subjects)
    forget_admin_entries(GeneratedImage, ids)
    removals.append(partial(content_store.remove_unnamed, hashes))


def erase_units(units: QuerySet[Unit]) -> None:
    """What was asked and answered. The vectors of words that only these units used go too."""
    pks = list(units.values_list("pk", flat=True))
    outcomes = Outcome.objects.filter(unit__in=pks)
    vectors = set(outcomes.exclude(embedding=None).values_list("embedding", flat=True))
    shared = Outcome.objects.filter(embedding__in=vectors).exclude(unit__in=pks).values_list("embedding", flat=True)
    for rows in (outcomes, EarlierOutcome.objects.filter(unit__in=pks)):
        rows.update(text="", reason="", numbers={}, circumstances={})
    Embedding.objects.filter(pk__in=vectors - set(shared), image=None).delete()
    mine = Unit.objects.filter(pk__in=pks)
    mine.filter(state__in=[Unit.State.PENDING, Unit.State.LEASED]).update(state=Unit.State.FAILED, batch=None)
    mine.update(payload={}, key=erased_key(), affinity="erased")
    forget_admin_entries(Unit, pks)


def erased_key() -> Concat:
    """A key that says nothing but that the row was erased, unique by its id."""
    return Concat(Value("erased:"), Cast(F("pk"), CharField()))


def forget_admin_entries(model: type[Model], pks: Iterable[int]) -> None:
    forget_in_admin(model, list(pks), "erased")


def count_anew(dishes: Sequence[int], **signal: Any) -> None:
    """Tables about dishes (input "dishes") are stale."""
    bump_input_counters("dishes")
