import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
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
                (
                    "holder",
                    models.CharField(
                        blank=True, db_index=True, max_length=255, verbose_name="holder"
                    ),
                ),
                ("tool", models.CharField(max_length=64, verbose_name="tool")),
                ("content_hash", models.CharField(max_length=71, verbose_name="content hash")),
                ("size", models.PositiveBigIntegerField(verbose_name="characters")),
                ("terms", models.JSONField(default=dict, verbose_name="rights that it is read by")),
                ("text", models.TextField(blank=True, verbose_name="first chunk")),
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
