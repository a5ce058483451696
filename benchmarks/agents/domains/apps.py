from django.apps import AppConfig


class DomainsConfig(AppConfig):
    name = "benchmarks.agents.domains"
    label = "domains"
    default_auto_field = "django.db.models.BigAutoField"
