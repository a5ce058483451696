from django.apps import AppConfig


class LoansConfig(AppConfig):
    name = "benchmarks.agents.loans"
    label = "loans"
    default_auto_field = "django.db.models.BigAutoField"
