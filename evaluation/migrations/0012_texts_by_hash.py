from hashlib import sha256

from django.db import migrations, models


def hash_texts(apps, schema_editor):
    """Texts of vectors are few and shared: one statement for each."""
    Embedding = apps.get_model("evaluation", "Embedding")
    rows = Embedding.objects.using(schema_editor.connection.alias).exclude(text="")
    for text in list(rows.values_list("text", flat=True).distinct()):
        rows.filter(text=text).update(text_hash=sha256(text.encode("utf-8", "replace")).hexdigest())


class Migration(migrations.Migration):
    """Texts of any length have vectors: they are told apart by their hash."""

    dependencies = [
        ("evaluation", "0011_units_by_state"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="embedding", name="one_embedding_per_text"),
        migrations.AlterField(model_name="embedding", name="text", field=models.TextField(blank=True)),
        migrations.AddField(
            model_name="embedding",
            name="text_hash",
            field=models.CharField(
                blank=True, default="", help_text="Of the text: no index holds long ones.", max_length=64
            ),
            preserve_default=False,
        ),
        migrations.RunPython(hash_texts, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="embedding",
            constraint=models.UniqueConstraint(
                condition=models.Q(("image", None)),
                fields=("model", "preprocessing", "text_hash"),
                name="one_embedding_per_text",
            ),
        ),
    ]
