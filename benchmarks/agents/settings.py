"""The benchmarks' settings, plus a second project: a lending library."""

from benchmarks.settings import *  # noqa: F403
from benchmarks.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "benchmarks.agents.loans", "benchmarks.agents.domains"]
ROOT_URLCONF = "example_project.urls"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
MEDIA_URL = "/media/"
# Refusals are part of the measurement, so the log leaves them out.
LOGGING = {
    "version": 1,
    "root": {"handlers": ["none"]},
    "handlers": {"none": {"class": "logging.NullHandler"}},
    "loggers": {"django": {"handlers": ["none"], "propagate": False}},
}
