from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="UsedConfirmation",
            fields=[
                (
                    "nonce",
                    models.CharField(
                        max_length=32, primary_key=True, serialize=False, verbose_name="nonce"
                    ),
                ),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "used confirmation",
                "verbose_name_plural": "used confirmations",
            },
        ),
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
                ("holder", models.CharField(max_length=64, verbose_name="holder")),
                ("key", models.CharField(blank=True, max_length=255, verbose_name="key")),
                ("operation", models.CharField(max_length=255, verbose_name="operation")),
                (
                    "arguments",
                    models.JSONField(default=dict, verbose_name="hashes of the arguments"),
                ),
                ("answer", models.TextField(blank=True, verbose_name="answer")),
                ("size", models.PositiveBigIntegerField(default=0, verbose_name="characters")),
                (
                    "rights",
                    models.CharField(
                        blank=True, max_length=64, verbose_name="hash of the caller's rights"
                    ),
                ),
                ("created", models.DateTimeField(verbose_name="created")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "idempotency record",
                "verbose_name_plural": "idempotency records",
                "indexes": [models.Index(fields=["holder"], name="drf_mcp_key_holder")],
            },
        ),
    ]
