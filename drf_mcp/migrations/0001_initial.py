"""The table of archived content."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Makes the table."""

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="ArchivedContent",
            fields=[
                (
                    "archive_id",
                    models.CharField(
                        max_length=64, primary_key=True, serialize=False, verbose_name="archive id"
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=255, verbose_name="owner")),
                ("tool", models.CharField(max_length=64, verbose_name="tool")),
                ("content", models.TextField(verbose_name="content")),
                ("content_hash", models.CharField(max_length=71, verbose_name="content hash")),
                ("created", models.DateTimeField(verbose_name="created")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "archived content",
                "verbose_name_plural": "archived contents",
                "indexes": [
                    models.Index(fields=["owner", "content_hash"], name="drf_mcp_owner_hash")
                ],
            },
        ),
    ]
