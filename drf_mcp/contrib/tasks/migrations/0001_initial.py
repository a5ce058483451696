from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="CallTask",
            fields=[
                (
                    "task_id",
                    models.CharField(
                        max_length=64, primary_key=True, serialize=False, verbose_name="task id"
                    ),
                ),
                ("owner", models.CharField(blank=True, max_length=255, verbose_name="owner")),
                ("holder", models.CharField(blank=True, max_length=64, verbose_name="holder")),
                ("tool", models.CharField(max_length=64, verbose_name="tool")),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("working", "Working"),
                            ("input_required", "Waiting for an answer"),
                            ("completed", "Completed"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        max_length=16,
                        verbose_name="status",
                    ),
                ),
                ("message", models.TextField(blank=True, verbose_name="message")),
                ("is_cancelled", models.BooleanField(default=False, verbose_name="asked to stop")),
                ("created", models.DateTimeField(verbose_name="created")),
                ("updated", models.DateTimeField(verbose_name="updated")),
                ("started", models.DateTimeField(null=True, verbose_name="started")),
                ("leased", models.DateTimeField(null=True, verbose_name="alive until")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
                ("request", models.JSONField(default=dict, verbose_name="request")),
                ("input_requests", models.JSONField(default=dict, verbose_name="questions")),
                ("answer", models.JSONField(null=True, verbose_name="answer")),
                ("terms", models.JSONField(default=dict, verbose_name="rights that it is read by")),
            ],
            options={
                "verbose_name": "task",
                "verbose_name_plural": "tasks",
                "indexes": [models.Index(fields=["holder"], name="drf_mcp_task_holder")],
            },
        )
    ]
