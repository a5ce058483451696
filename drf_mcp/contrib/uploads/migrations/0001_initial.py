from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="WaitingFile",
            fields=[
                (
                    "reference",
                    models.CharField(
                        max_length=64, primary_key=True, serialize=False, verbose_name="reference"
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=255, verbose_name="owner")),
                ("holder", models.CharField(max_length=64, verbose_name="holder")),
                ("path", models.CharField(max_length=255, verbose_name="path in the storage")),
                ("name", models.CharField(max_length=255, verbose_name="name")),
                (
                    "content_type",
                    models.CharField(blank=True, max_length=255, verbose_name="content type"),
                ),
                ("size", models.PositiveBigIntegerField(verbose_name="bytes")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "uploaded file",
                "verbose_name_plural": "uploaded files",
                "indexes": [models.Index(fields=["holder"], name="drf_mcp_upload_holder")],
            },
        )
    ]
