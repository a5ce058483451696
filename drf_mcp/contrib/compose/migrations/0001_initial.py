from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="KeptProgram",
            fields=[
                (
                    "nonce",
                    models.CharField(
                        max_length=32, primary_key=True, serialize=False, verbose_name="nonce"
                    ),
                ),
                ("owner", models.CharField(max_length=64, verbose_name="hash of the owner")),
                ("holder", models.CharField(max_length=64, verbose_name="holder")),
                ("state", models.TextField(verbose_name="state")),
                ("created", models.DateTimeField(verbose_name="created")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={
                "verbose_name": "kept program",
                "verbose_name_plural": "kept programs",
                "indexes": [models.Index(fields=["holder"], name="drf_mcp_program_holder")],
            },
        ),
    ]
