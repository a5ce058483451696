import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import drf_mcp.contrib.tokens.models


class Migration(migrations.Migration):
    initial = True

    dependencies = [migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="AgentToken",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        help_text="Which agent has it, and on which machine.",
                        max_length=100,
                        verbose_name="name",
                    ),
                ),
                (
                    "prefix",
                    models.CharField(
                        editable=False, max_length=8, unique=True, verbose_name="prefix"
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, verbose_name="digest")),
                (
                    "tools",
                    models.JSONField(
                        blank=True,
                        default=list,
                        validators=[drf_mcp.contrib.tokens.models.validate_patterns],
                        verbose_name="tools",
                    ),
                ),
                (
                    "read_only",
                    models.BooleanField(
                        default=False,
                        help_text="Only tools that change nothing.",
                        verbose_name="read-only",
                    ),
                ),
                (
                    "networks",
                    models.JSONField(
                        blank=True,
                        default=list,
                        validators=[drf_mcp.contrib.tokens.models.validate_networks],
                        verbose_name="networks",
                    ),
                ),
                (
                    "expires",
                    models.DateTimeField(
                        blank=True, help_text="Empty for never.", null=True, verbose_name="expires"
                    ),
                ),
                ("created", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                (
                    "last_used",
                    models.DateTimeField(editable=False, null=True, verbose_name="last used"),
                ),
                (
                    "revoked",
                    models.DateTimeField(editable=False, null=True, verbose_name="revoked"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        help_text="Whose rights the agent has, as far as the token leaves them.",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="agent_tokens",
                        to=settings.AUTH_USER_MODEL,
                        verbose_name="user",
                    ),
                ),
            ],
            options={
                "verbose_name": "token",
                "verbose_name_plural": "tokens",
                "ordering": ["-created", "-pk"],
            },
        )
    ]
