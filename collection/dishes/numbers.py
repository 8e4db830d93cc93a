"""Numbers of dishes: each is given once and never again, not even after an erasure.

On PostgreSQL a sequence gives them, so that nobody waits for the dish of somebody else to be stored; a number whose
dish is not stored after all stays unused. SQLite has one writer at a time in any case and counts in a row. That row
(`Counter`) also holds the sequence up on PostgreSQL: no number up to it is given, anyone who has moved it.
"""

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef

from collection.models import Counter, Dish, Source

FIRST_NUMBER = 10_001
# Demonstrations never use up a number that a dish of somebody could get.
FIRST_OF_DEMONSTRATION = 1_000_100_001
# Name of the counter's row → its sequence; migration 0006 makes them.
SEQUENCES = {"dish": "collection_dish_number", "demonstration": "collection_demonstration_number"}
NEXT = """SELECT given.number, COALESCE((SELECT value FROM collection_counter WHERE name = %(name)s), 0),
  EXISTS (SELECT 1 FROM collection_dish WHERE collection_dish.number = given.number)
  FROM (SELECT nextval(%(sequence)s) AS number) AS given"""
# Never `setval`: it could go back behind a number that was given meanwhile.
CATCH_UP = "SELECT COUNT(nextval(%(sequence)s)) FROM generate_series(1, %(behind)s)"


def next_number(source: str = Source.FORM) -> int:
    """A dish number that nobody had before."""
    demonstration = source == Source.DEMONSTRATION
    name, first = ("demonstration", FIRST_OF_DEMONSTRATION) if demonstration else ("dish", FIRST_NUMBER)
    return from_sequence(name) if connection.vendor == "postgresql" else from_row(name, first)


def from_sequence(name: str) -> int:
    asked = {"sequence": SEQUENCES[name], "name": name}
    with connection.cursor() as cursor:
        while True:
            cursor.execute(NEXT, asked)
            number, counted, taken = cursor.fetchone()
            if number <= counted:
                cursor.execute(CATCH_UP, {**asked, "behind": counted - number})
            elif not taken:
                return int(number)


@transaction.atomic(savepoint=False)
def from_row(name: str, first: int) -> int:
    """Counts in a row, which stays locked until the caller's transaction ends."""
    rows = Counter.objects.filter(name=name)
    taken = Exists(Dish.objects.filter(number=OuterRef("value")))
    while True:
        if not rows.update(value=F("value") + 1):
            Counter.objects.create(name=name, value=first)
        number, is_taken = rows.annotate(taken=taken).values_list("value", "taken").get()
        if not is_taken:
            return number
