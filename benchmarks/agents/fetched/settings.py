"""A fetched project's own settings, plus the package and a database file.

``AGENTS_SETTINGS`` names the project's settings module, ``AGENTS_DATABASE`` the file.
"""

import os
from importlib import import_module
from pathlib import Path

import django.conf

from benchmarks.agents.settings import LOGGING as QUIET

OWN = "benchmarks.agents.fetched.settings"

# Some projects read settings while their package is imported: they have to see their own module.
os.environ["DJANGO_SETTINGS_MODULE"] = os.environ["AGENTS_SETTINGS"]
project = import_module(os.environ["AGENTS_SETTINGS"])
os.environ["DJANGO_SETTINGS_MODULE"] = OWN
django.conf.settings._wrapped = django.conf.empty  # type: ignore[attr-defined]
globals().update({name: value for name, value in vars(project).items() if name.isupper()})

FETCHED_URLCONF = project.ROOT_URLCONF
ROOT_URLCONF = "benchmarks.agents.fetched.urls"
INSTALLED_APPS = [*project.INSTALLED_APPS, "drf_mcp"]
DRF_MCP = {
    "EXPOSE": "urlconf",
    "CALL_MIDDLEWARE": os.environ.get("AGENTS_CALL_MIDDLEWARE", "").split(),
}
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": Path(os.environ["AGENTS_DATABASE"]).absolute(),
    }
}
CACHES = {
    name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
    for name in project.CACHES
}
ALLOWED_HOSTS = ["testserver", "127.0.0.1"]
DEBUG = False
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = QUIET
