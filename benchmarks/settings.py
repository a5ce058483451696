"""The example project's settings, plus a database in memory."""

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS

# These two features write a record or read a table for each call.
QUIET = ("drf_mcp.contrib.audit", "drf_mcp.contrib.rules")
INSTALLED_APPS = [app for app in INSTALLED_APPS if app not in QUIET]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ROOT_URLCONF = "example_project.urls"
DEBUG = False
