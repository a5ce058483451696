from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="AuditedCall",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("time", models.DateTimeField(db_index=True, verbose_name="time")),
                (
                    "user_pk",
                    models.CharField(blank=True, max_length=64, verbose_name="user's primary key"),
                ),
                ("user_label", models.CharField(blank=True, max_length=150, verbose_name="user")),
                (
                    "credential",
                    models.CharField(
                        blank=True, max_length=100, verbose_name="authentication class"
                    ),
                ),
                (
                    "token_prefix",
                    models.CharField(blank=True, max_length=40, verbose_name="prefix of the token"),
                ),
                (
                    "oauth_client",
                    models.CharField(blank=True, max_length=100, verbose_name="OAuth client"),
                ),
                ("client_name", models.CharField(blank=True, max_length=80, verbose_name="client")),
                (
                    "client_version",
                    models.CharField(
                        blank=True, max_length=40, verbose_name="version of the client"
                    ),
                ),
                (
                    "user_agent",
                    models.CharField(blank=True, max_length=200, verbose_name="user agent"),
                ),
                ("address", models.CharField(blank=True, max_length=64, verbose_name="address")),
                ("messages", models.PositiveIntegerField(default=1, verbose_name="messages")),
                (
                    "endpoint",
                    models.CharField(
                        blank=True, max_length=200, verbose_name="path of the endpoint"
                    ),
                ),
                ("method", models.CharField(blank=True, max_length=64, verbose_name="MCP method")),
                ("tool", models.CharField(blank=True, max_length=64, verbose_name="tool")),
                ("arguments", models.TextField(blank=True, verbose_name="arguments")),
                ("intent", models.CharField(blank=True, max_length=500, verbose_name="intent")),
                ("wanted", models.CharField(blank=True, max_length=200, verbose_name="wanted")),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("success", "success"),
                            ("soft_failure", "soft failure"),
                            ("asked", "asked first"),
                            ("failed", "failed"),
                            ("denied", "denied at the door"),
                            ("unanswered", "without an answer"),
                        ],
                        default="unanswered",
                        max_length=20,
                        verbose_name="verdict",
                    ),
                ),
                ("is_trial", models.BooleanField(default=False, verbose_name="dry run")),
                ("code", models.CharField(blank=True, max_length=64, verbose_name="error code")),
                ("argument", models.CharField(blank=True, max_length=200, verbose_name="argument")),
                ("sentence", models.CharField(blank=True, max_length=300, verbose_name="sentence")),
                ("status", models.PositiveSmallIntegerField(null=True, verbose_name="HTTP status")),
                (
                    "rows_changed",
                    models.PositiveBigIntegerField(null=True, verbose_name="rows changed"),
                ),
                (
                    "request_id",
                    models.CharField(
                        blank=True, db_index=True, max_length=64, verbose_name="request id"
                    ),
                ),
                ("duration_ms", models.FloatField(null=True, verbose_name="milliseconds")),
                (
                    "result_tokens",
                    models.PositiveIntegerField(null=True, verbose_name="tokens of the result"),
                ),
            ],
            options={
                "verbose_name": "audited call",
                "verbose_name_plural": "audited calls",
                "indexes": [
                    models.Index(fields=["user_pk", "time"], name="drf_mcp_audit_user"),
                    models.Index(fields=["tool", "time"], name="drf_mcp_audit_tool"),
                ],
            },
        ),
        migrations.CreateModel(
            name="WantedTool",
            fields=[],
            options={
                "verbose_name": "wanted tool",
                "verbose_name_plural": "wanted tools",
                "proxy": True,
                "indexes": [],
                "constraints": [],
            },
            bases=("drf_mcp_audit.auditedcall",),
        ),
    ]
