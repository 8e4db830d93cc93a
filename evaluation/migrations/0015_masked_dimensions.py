from django.db import migrations, models


class Migration(migrations.Migration):
    """Masked names of any dimension: which there are is data, see `evaluation/metrics/dimensions.py`."""

    dependencies = [
        ("evaluation", "0014_seconds_of_batches"),
    ]

    operations = [
        migrations.AlterField(model_name="maskedname", name="kind", field=models.CharField(max_length=20)),
    ]
