"""Long content is kept in chunks. Content of before, which waits for an hour, is dropped."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def delete_contents(apps: Any, schema_editor: Any) -> None:
    model = apps.get_model("drf_mcp", "ArchivedContent")
    model.objects.using(schema_editor.connection.alias).all().delete()


class Migration(migrations.Migration):
    """Moves the content out of the table."""

    dependencies = [
        ("drf_mcp", "0002_call_of_archived_content"),
    ]

    operations = [
        migrations.RunPython(delete_contents, delete_contents),
        migrations.RemoveField(model_name="archivedcontent", name="content"),
        migrations.AddField(
            model_name="archivedcontent",
            name="size",
            field=models.PositiveBigIntegerField(default=0, verbose_name="characters"),
            preserve_default=False,
        ),
        migrations.CreateModel(
            name="ArchivedChunk",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("position", models.PositiveIntegerField(verbose_name="position")),
                ("text", models.TextField(verbose_name="text")),
                (
                    "content",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chunks",
                        to="drf_mcp.archivedcontent",
                    ),
                ),
            ],
            options={
                "verbose_name": "archived chunk",
                "verbose_name_plural": "archived chunks",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("content", "position"), name="drf_mcp_chunk_position"
                    )
                ],
            },
        ),
    ]
