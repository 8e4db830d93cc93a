"""Numbers of dishes come from sequences on PostgreSQL. They go on where the rows of counters stand; the rows stay,
so that processes of the former version can go on beside this one, and so that one can go back."""

from django.db import migrations

SEQUENCES = {"dish": ("collection_dish_number", 10_001), "demonstration": ("collection_demonstration_number", 1_000_100_001)}


def begin(apps, schema_editor):
    """Sequences that begin after the last number that was given."""
    if schema_editor.connection.vendor != "postgresql":
        return
    counted = dict(apps.get_model("collection", "Counter").objects.values_list("name", "value"))
    for name, (sequence, first) in SEQUENCES.items():
        schema_editor.execute(f"CREATE SEQUENCE {sequence} START WITH {max(first, counted.get(name, 0) + 1)}")


def go_back(apps, schema_editor):
    """The rows count on from the last number that a sequence gave."""
    if schema_editor.connection.vendor != "postgresql":
        return
    counters = apps.get_model("collection", "Counter").objects
    for name, (sequence, first) in SEQUENCES.items():
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(f"SELECT nextval('{sequence}') - 1")
            last = cursor.fetchone()[0]
        row, _created = counters.get_or_create(name=name, defaults={"value": first - 1})
        counters.filter(name=name, value__lt=last).update(value=last)
        schema_editor.execute(f"DROP SEQUENCE {sequence}")


class Migration(migrations.Migration):

    dependencies = [("collection", "0007_phone_codes")]

    operations = [migrations.RunPython(begin, go_back)]
