from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def analyse(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """PostgreSQL knows nothing of the values of a new expression index before it has counted them once."""
    if editor.connection.vendor == "postgresql":
        editor.execute("ANALYZE evaluation_unit")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0008_pictures_behind_cells")]

    operations = [migrations.RunPython(analyse, migrations.RunPython.noop, elidable=True)]
