"""The call that content came from, whose permissions are asked again on every read."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds what the call sent."""

    dependencies = [
        ("drf_mcp", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="archivedcontent",
            name="kwargs",
            field=models.JSONField(default=dict, verbose_name="kwargs of the call"),
        ),
        migrations.AddField(
            model_name="archivedcontent",
            name="query_string",
            field=models.TextField(blank=True, verbose_name="query of the call"),
        ),
    ]
