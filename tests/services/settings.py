"""The settings of several machines, with processes that PostgreSQL knows by their ids."""

import os

from example_project.production import *  # noqa: F403
from example_project.production import DATABASES, DRF_MCP

DATABASES["default"]["OPTIONS"]["application_name"] = f"pid {os.getpid()}"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "loggers": {"drf_mcp": {"handlers": ["console"], "level": "WARNING"}},
}

# A load is what one user sends here: of the limits of the internet none holds.

DRF_MCP = {**DRF_MCP, "THROTTLE_CLASSES": [], "TIME_LIMIT": None}
