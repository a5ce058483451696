"""Settings of the shop on several machines, as docs/deployment.md explains them.

PostgreSQL is named by ``SHOP_DB_HOST``, ``SHOP_DB_NAME`` and ``SHOP_DB_USER``, Redis by
``SHOP_REDIS``. Needs ``psycopg[binary,pool]``, ``redis`` and ``django-tasks-db``.
"""

from __future__ import annotations

import os

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP, INSTALLED_APPS

DEBUG = False

DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ.get("SHOP_DB_HOST", "db.internal"),
        "NAME": os.environ.get("SHOP_DB_NAME", "shop"),
        "USER": os.environ.get("SHOP_DB_USER", "shop"),
        # A connection that a restart of PostgreSQL broke is made anew.
        "CONN_HEALTH_CHECKS": True,
        # Each process has at most 4 connections; a call that gets none fails after 10 s.
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 4, "timeout": 10, "reconnect_timeout": 2}},
    }
}
# The counts of throttles.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": os.environ.get("SHOP_REDIS", "redis://cache.internal:6379/0"),
    }
}
# Workers run the long calls: manage.py db_worker.
INSTALLED_APPS = list(dict.fromkeys([*INSTALLED_APPS, "django_tasks_db"]))
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
DRF_MCP = {
    **DRF_MCP,
    # A client that lost its answer may repeat the call at any machine: it is made once.
    "IDEMPOTENCY_KEYS": True,
}
