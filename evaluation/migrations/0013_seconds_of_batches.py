from django.db import migrations, models


class Migration(migrations.Migration):
    """How long cards computed and how long they waited, batch by batch. Null: from before this was measured."""

    dependencies = [
        ("evaluation", "0012_texts_by_hash"),
    ]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="seconds_computed",
            field=models.FloatField(help_text="How long its units were executed.", null=True),
        ),
        migrations.AddField(
            model_name="batch",
            name="seconds_waited",
            field=models.FloatField(help_text="How long its worker executed nothing before it.", null=True),
        ),
    ]
