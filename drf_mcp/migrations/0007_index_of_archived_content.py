"""Archived content says which chunk holds which item. Content of before is read as a whole."""

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the index."""

    dependencies = [
        ("drf_mcp", "0006_call_tasks"),
    ]

    operations = [
        migrations.AddField(
            model_name="archivedcontent",
            name="index",
            field=models.JSONField(
                default=list,
                verbose_name="numbers of chunks and of the items they begin with",
            ),
        ),
    ]
