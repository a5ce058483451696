"""The example project's settings, with a database in memory and fast passwords."""

import os
import tempfile

from django import VERSION

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP, INSTALLED_APPS

# Tables are created from the models: tests/programs/packaging/test_versions.py compares
# migrations with the models, and servers and PostgreSQL run the migrations.
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": ":memory:",
        "TEST": {"MIGRATE": False},
    }
}
# The folder of sockets of a server that .ci/with_services started.
if folder := os.environ.get("DRF_MCP_TEST_POSTGRESQL"):
    DATABASES["default"] = {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": folder,
        "NAME": "shop",
        "USER": "postgres",
    }
# Only tests about confirmation switch it on.
DRF_MCP = {**DRF_MCP, "CONFIRM": False}
# The second is the archive's where a test keeps content in a cache: processes share it.
CACHES = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "shared": {
        "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
        "LOCATION": os.path.join(tempfile.gettempdir(), f"drf_mcp_{os.getpid()}"),
    },
}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Only tests about the audit record calls: most tests count queries, or need no database.
QUIET = ("drf_mcp.contrib.audit", "drf_mcp.contrib.rules")
INSTALLED_APPS = [
    *(app for app in INSTALLED_APPS if app not in QUIET),
    "tests.contrib.audit.apps.SilentAuditConfig",
    "oauth2_provider",
    "django_tasks_db",
    "drf_mcp.contrib.metrics",
    "tests.contrib.oauth.apps.UncheckedOAuthConfig",
    "tests.contrib.rules.apps.QuietRulesConfig",
    "tests",
]
# The backend of tests that leave calls to workers. The default backend, like Django's own, has
# none.
TASKS = {
    "default": {"BACKEND": "django_tasks.backends.immediate.ImmediateBackend"},
    "background": {"BACKEND": "django_tasks_db.DatabaseBackend"},
}
if VERSION >= (6, 0):
    TASKS["default"]["BACKEND"] = "django.tasks.backends.immediate.ImmediateBackend"
# Django 6.1 warns a project without it that sends mail.
MAILERS = {"default": {"BACKEND": "django.core.mail.backends.locmem.EmailBackend"}}
DEBUG = False
