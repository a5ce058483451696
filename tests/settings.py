"""The example project's settings, with a database in memory and fast passwords."""

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS

DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
INSTALLED_APPS = [*INSTALLED_APPS, "tests"]
DEBUG = False
