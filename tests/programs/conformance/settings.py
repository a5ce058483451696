"""A project with only the fixtures, open to all callers, since the suite sends no credentials."""

from __future__ import annotations

import os

SECRET_KEY = "for-the-suite-on-this-machine-only"
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "rest_framework",
    "django_tasks_db",
    "drf_mcp",
    "drf_mcp.contrib.asking",
    "drf_mcp.contrib.prompts",
    "drf_mcp.contrib.resources",
    "drf_mcp.contrib.skills",
    "drf_mcp.contrib.subscriptions",
    "drf_mcp.contrib.tasks",
    "tests.programs.conformance",
]
ROOT_URLCONF = "tests.programs.conformance.urls"
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        # The server and its workers share the file.
        "NAME": os.environ.get("CONFORMANCE_DB", ":memory:"),
        "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"},
    }
}
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}]
USE_TZ = True
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
}
DRF_MCP = {
    # The suite's resources have this scheme.
    "SERVER_NAME": "test",
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "ARCHIVE_CLASS": None,
}
