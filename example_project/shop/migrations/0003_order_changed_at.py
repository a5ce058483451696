from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_exchangerate")]

    operations = [migrations.AddField("order", "changed_at", models.DateTimeField(auto_now=True))]
