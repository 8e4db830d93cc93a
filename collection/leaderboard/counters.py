"""The leaderboard's counters: changed by one function, in the transaction of whatever changed the dish.

`recount` compares what dishes stand for now with what is counted of them, and moves the counters by the difference. It
may be called as often as one likes, for dishes of any state.
"""

import logging
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Count, F, Prefetch, Q, QuerySet
from django.db.models.functions import TruncDate

from collection.models import BoardName, Contributor, Dish, DishCountry, Heard, Source, Tally
from collection.text import fold_spelling, split_list
from collection.vocabularies.languages import UNKNOWN

EVER = date(1970, 1, 1)
CHUNK, NAMES_AT_ONCE = 500, 100
LONGEST_KEY, LONGEST_LABEL = 240, 200
MOST_REGIONS = 10
CountKind = BoardName.Kind
Period = Tally.Period
Slot = tuple[int, str, date]

logger = logging.getLogger(__name__)


class CountedName(NamedTuple):
    """A name that a dish counts for, in its own spelling."""

    kind: str
    key: str
    label: str


def list_counted_names(dish: Dish) -> dict[tuple[str, str], CountedName]:
    """What a counted dish stands for: each country, language and region once, and its contributor's public name."""
    found = [
        *(
            CountedName(CountKind.COUNTRY, place.country_id or fold_spelling(place.name), shown_place(place))
            for place in dish.places.all()
        ),
        *(
            CountedName(
                CountKind.LANGUAGE,
                language.code if language.code != UNKNOWN else f"~{fold_spelling(language.name)}",
                language.name,
            )
            for language in dish.languages.all()
        ),
        *(
            CountedName(CountKind.REGION, fold_spelling(region), region)
            for region in split_list(dish.regions)[:MOST_REGIONS]
        ),
    ]
    if dish.contributor and dish.contributor.alias and not dish.contributor.alias_hidden:
        found.append(CountedName(CountKind.ALIAS, fold_spelling(dish.contributor.alias), dish.contributor.alias))
    cut = (CountedName(stand.kind, stand.key[:LONGEST_KEY], stand.label[:LONGEST_LABEL]) for stand in found)
    return {(stand.kind, stand.key): stand for stand in cut if stand.key.strip("~")}


def shown_place(place: DishCountry) -> str:
    return place.country.name if place.country else place.name


def update_leaderboard_counters(dishes: Iterable[int]) -> None:
    """Brings the counters in line with these dishes (ids), as they are now."""
    wanted = sorted(set(dishes))
    for start in range(0, len(wanted), CHUNK):
        _recount(wanted[start : start + CHUNK])


# Without a savepoint: anyone who changed the dish fails with its counters.
@transaction.atomic(savepoint=False)
def _recount(pks: Sequence[int]) -> None:
    counted = {dish.pk: dish for dish in select_countable_dishes(pks)}
    wanted = {(pk, *key): stand for pk, dish in counted.items() for key, stand in list_counted_names(dish).items()}
    gone, kept = [], set()
    for row in Heard.objects.filter(dish__in=pks).select_related("name"):
        key = (row.dish_id, row.name.kind, row.name.key)
        stand = wanted.get(key)
        if stand and (stand.label, counted[row.dish_id].contributor_id) == (row.label, row.contributor_id):
            kept.add(key)
        else:
            gone.append(row)
    new = {key: stand for key, stand in wanted.items() if key not in kept}
    if not gone and not new:
        return
    told = [(stand, counted[key[0]].created_at) for key, stand in new.items()]
    names, firsts = lock_board_names(told, {row.name_id for row in gone})
    if gone:
        Heard.objects.filter(pk__in=[row.pk for row in gone]).delete()
    made = [build_heard_row(counted[key[0]], names[stand.kind, stand.key], stand) for key, stand in new.items()]
    Heard.objects.bulk_create(made)
    apply_counter_changes(gone, made)
    begin_anew({row.name_id for row in gone} | {row.name_id for row in made if row.at < firsts[row.name_id]})


def lock_board_names(
    told: Sequence[tuple[CountedName, datetime]], others: set[int]
) -> tuple[dict[tuple[str, str], BoardName], dict[int, datetime]]:
    """The rows of these names, locked together with `others` (ids), and when each of them began.

    What is new becomes a row. A name may go with its last dish between being found and being locked: then it is made
    once more.
    """
    first = {(stand.kind, stand.key): (stand, at) for stand, at in told}
    rows = BoardName.objects.filter(Q(pk__in=others) | Q(key__in={key for _kind, key in first})).order_by("pk")
    while True:
        known = set(rows.values_list("kind", "key"))
        add_names([heard for name, heard in first.items() if name not in known])
        # One order for everybody: two stewards who decide about the same countries wait, and never for each other.
        # What only refers to a name, as another dish's row does, need not wait.
        held = list(rows.select_for_update(no_key=True))
        names = {(row.kind, row.key): row for row in held if (row.kind, row.key) in first}
        if len(names) == len(first):
            return names, {row.pk: row.first_at for row in held}


def add_names(told: Sequence[tuple[CountedName, datetime]]) -> None:
    """Rows for names that are new, where nobody else has just made them."""
    BoardName.objects.bulk_create(
        [BoardName(kind=stand.kind, key=stand.key, label=stand.label, first_at=at) for stand, at in sorted(told)],
        ignore_conflicts=True,
    )


def select_countable_dishes(pks: Sequence[int]) -> QuerySet[Dish]:
    """Those of these dishes that count: accepted, merged into no other one, no demonstration."""
    rows = Dish.objects.released().filter(pk__in=pks).select_related("contributor")
    return rows.prefetch_related(Prefetch("places", DishCountry.objects.select_related("country")), "languages")


def build_heard_row(dish: Dish, name: BoardName, stand: CountedName) -> Heard:
    return Heard(
        dish=dish,
        name=name,
        contributor_id=dish.contributor_id,
        label=stand.label,
        at=dish.created_at,
        imported=dish.source == Source.IMPORT,
    )


def list_counter_slots(row: Heard) -> Iterator[Slot]:
    """The counters of its name that a hearing moves."""
    return ((row.name_id, period, start) for period, start in list_counting_periods(row.at.date(), row.imported))


def list_counting_periods(day: date, imported: bool) -> Iterator[tuple[str, date]]:
    """The periods that a dish of this day counts in, with when they begin."""
    yield Period.EVER, EVER
    if not imported:
        yield Period.MONTH, day.replace(day=1)
        yield Period.DAY, day


def apply_counter_changes(gone: Sequence[Heard], made: Sequence[Heard]) -> None:
    """Moves the counters by what is no longer and what is now counted. The names are locked."""
    steps = Counter(slot for row in made for slot in list_counter_slots(row))
    steps.subtract(Counter(slot for row in gone for slot in list_counter_slots(row)))
    people = new_people(gone, made)
    wanted = {slot for slot, step in steps.items() if step} | {(name, Period.EVER.value, EVER) for name in people}
    kinds = {row.name_id: row.name.kind for row in (*gone, *made)}
    found = Tally.objects.filter(name__in=kinds, start__in={start for _name, _period, start in wanted})
    rows = {(name, period, start): pk for pk, name, period, start in found.values_list("pk", "name", "period", "start")}
    new: list[Tally] = []
    by_step: dict[tuple[int, int], list[int]] = {}
    for slot in sorted(wanted):
        change = (steps[slot], people.get(slot[0], 0) if slot[1] == Period.EVER else 0)
        if slot in rows:
            by_step.setdefault(change, []).append(rows[slot])
        else:
            new.append(tally_of(kinds, slot, change))
    Tally.objects.bulk_create(new)
    for (step, persons), pks in by_step.items():
        Tally.objects.filter(pk__in=pks).update(dishes=F("dishes") + step, people=F("people") + persons)


def new_people(gone: Sequence[Heard], made: Sequence[Heard]) -> dict[int, int]:
    """Country → how many people more tell of it now; countries where that did not change are left out."""
    pairs = Counter(pair for row in made for pair in list_country_contributors(row))
    pairs.subtract(Counter(pair for row in gone for pair in list_country_contributors(row)))
    present = Heard.objects.filter(
        name__in={name for name, _person in pairs}, contributor__in={who for _name, who in pairs}
    )
    counts = {(name, who): n for name, who, n in present.values_list("name", "contributor").annotate(n=Count("pk"))}
    found: Counter[int] = Counter()
    for pair, step in pairs.items():
        now = counts.get(pair, 0)
        found[pair[0]] += (now > 0) - (now - step > 0)
    return {name: step for name, step in found.items() if step}


def list_country_contributors(row: Heard) -> Iterator[tuple[int, uuid.UUID]]:
    if row.contributor_id and row.name.kind == CountKind.COUNTRY:
        yield row.name_id, row.contributor_id


def begin_anew(names: Iterable[int]) -> None:
    """Each name begins with its earliest dish and is written as that one; a name without dishes goes."""
    for name in BoardName.objects.filter(pk__in=names):
        first = Heard.objects.filter(name=name).order_by("at", "pk").first()
        if first is None:
            name.delete()
        elif (first.at, first.label) != (name.first_at, name.label):
            BoardName.objects.filter(pk=name.pk).update(first_at=first.at, label=first.label)


def rebuild_leaderboard() -> int:
    """Counts everything from scratch, mends the counters, and returns how many of them had drifted. A nightly job."""
    key_names()
    last = 0
    while pks := list(Dish.objects.filter(pk__gt=last).order_by("pk").values_list("pk", flat=True)[: 4 * CHUNK]):
        update_leaderboard_counters(pks)
        last = pks[-1]
    names = list(BoardName.objects.order_by("pk").values_list("pk", flat=True))
    drifted = sum(
        correct_counters(names[start : start + NAMES_AT_ONCE]) for start in range(0, len(names), NAMES_AT_ONCE)
    )
    if drifted:
        logger.warning("The leaderboard's counters had drifted in %s places; they are right again.", drifted)
    return drifted


def key_names() -> None:
    """Public names that were given before names were told apart get their one form; the first of several keeps it."""
    for contributor in Contributor.objects.filter(alias_key=None).exclude(alias="").order_by("created_at"):
        key = fold_spelling(contributor.alias)[:LONGEST_KEY]
        if key and not Contributor.objects.filter(alias_key=key).exists():
            Contributor.objects.filter(pk=contributor.pk, alias=contributor.alias).update(alias_key=key)


@transaction.atomic
def correct_counters(names: Sequence[int]) -> int:
    """Sets the counters of these names (ids) to what their dishes say; returns how many were wrong."""
    rows = BoardName.objects.select_for_update(no_key=True).filter(pk__in=names).order_by("pk")
    kinds = dict(rows.values_list("pk", "kind"))
    heard = Heard.objects.filter(name__in=kinds).order_by()
    right: dict[Slot, tuple[int, int]] = {}
    days = heard.values_list("name", TruncDate("at", tzinfo=UTC), "imported").annotate(Count("pk"))
    for name, day, imported, dishes in days:
        for period, start in list_counting_periods(day, imported):
            right[name, period, start] = (right.get((name, period, start), (0, 0))[0] + dishes, 0)
    people = (
        heard.filter(name__kind=CountKind.COUNTRY).values_list("name").annotate(n=Count("contributor", distinct=True))
    )
    for name, persons in people:
        right[name, Period.EVER, EVER] = (right[name, Period.EVER, EVER][0], persons)
    held = {(row.name_id, row.period, row.start): row for row in Tally.objects.filter(name__in=kinds)}
    wrong = [slot for slot in right if slot not in held]
    Tally.objects.bulk_create([tally_of(kinds, slot, right[slot]) for slot in wrong])
    for slot, row in held.items():
        dishes, persons = right.get(slot, (0, 0))
        if (row.dishes, row.people) != (dishes, persons):
            Tally.objects.filter(pk=row.pk).update(dishes=dishes, people=persons)
            wrong.append(slot)
    return len(wrong)


def tally_of(kinds: Mapping[int, str], slot: Slot, counted: tuple[int, int]) -> Tally:
    name, period, start = slot
    dishes, people = counted
    return Tally(name_id=name, kind=kinds[name], period=period, start=start, dishes=dishes, people=people)
