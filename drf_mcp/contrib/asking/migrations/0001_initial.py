from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="PendingQuestion",
            fields=[
                (
                    "question_id",
                    models.CharField(
                        max_length=43, primary_key=True, serialize=False, verbose_name="question id"
                    ),
                ),
                ("holder", models.CharField(db_index=True, max_length=64, verbose_name="holder")),
                ("session", models.CharField(max_length=22, verbose_name="session")),
                ("call", models.CharField(max_length=64, verbose_name="call")),
                ("answer", models.JSONField(null=True, verbose_name="answer")),
                ("expires", models.DateTimeField(db_index=True, verbose_name="expires")),
            ],
            options={"verbose_name": "open question", "verbose_name_plural": "open questions"},
        )
    ]
