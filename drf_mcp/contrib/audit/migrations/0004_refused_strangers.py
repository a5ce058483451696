from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("drf_mcp_audit", "0003_dry_run"),
    ]

    operations = [
        migrations.AddField(
            model_name="auditedcall",
            name="address",
            field=models.CharField(blank=True, max_length=64, verbose_name="address"),
        ),
        migrations.AddField(
            model_name="auditedcall",
            name="messages",
            field=models.PositiveIntegerField(default=1, verbose_name="messages"),
        ),
    ]
