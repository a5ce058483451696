"""The settings for several machines; PostgreSQL knows the id of each process."""

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

# One user sends all of the load, so the endpoint has no throttle and no time limit.

DRF_MCP = {**DRF_MCP, "THROTTLE_CLASSES": [], "TIME_LIMIT": None}
