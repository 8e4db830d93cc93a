from django.db import migrations, models


class Migration(migrations.Migration):
    """What waits has a small index of its own, in the order in which it is leased."""

    dependencies = [("evaluation", "0001_initial")]

    operations = [
        migrations.AddIndex(
            model_name="unit",
            index=models.Index(
                condition=models.Q(("state", "pending")), fields=["run", "affinity", "id"], name="waiting_units"
            ),
        ),
        migrations.AddIndex(
            model_name="unit",
            index=models.Index(fields=["run", "state"], name="evaluation__run_id_95e9a4_idx"),
        ),
        migrations.RemoveIndex(model_name="unit", name="evaluation__run_id_31246a_idx"),
    ]
