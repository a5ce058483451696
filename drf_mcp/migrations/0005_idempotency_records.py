"""The answers to changes that have a key, or were sent twice."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Makes the table."""

    dependencies = [
        ("drf_mcp", "0004_used_confirmations"),
    ]

    operations = [
        migrations.CreateModel(
            name="IdempotencyRecord",
            fields=[
                (
                    "digest",
                    models.CharField(
                        max_length=32, primary_key=True, serialize=False, verbose_name="digest"
                    ),
                ),
                ("owner", models.CharField(max_length=255, verbose_name="owner")),
                ("key", models.CharField(blank=True, max_length=255, verbose_name="key")),
                ("operation", models.CharField(max_length=255, verbose_name="operation")),
                (
                    "arguments",
                    models.JSONField(default=dict, verbose_name="hashes of the arguments"),
                ),
                ("answer", models.TextField(blank=True, verbose_name="answer")),
                ("created", models.DateTimeField(verbose_name="created")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "idempotency record",
                "verbose_name_plural": "idempotency records",
            },
        ),
    ]
