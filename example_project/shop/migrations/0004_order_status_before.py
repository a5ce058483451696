from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0003_order_changed_at")]

    operations = [
        migrations.AddField(
            "order",
            "status_before",
            models.CharField(
                blank=True, editable=False, help_text="What a cancelled order was.", max_length=10
            ),
        )
    ]
