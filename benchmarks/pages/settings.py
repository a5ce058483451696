"""The example shop with the endpoint's page, which `DEBUG` switches on."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP, INSTALLED_APPS

DEBUG = True
DRF_MCP = {**DRF_MCP, "BROWSABLE_PAGE": True, "ALLOWED_ORIGINS": ["http://127.0.0.1:6274"]}
INSTALLED_APPS = [*INSTALLED_APPS, "drf_spectacular", "drf_spectacular_sidecar"]
ROOT_URLCONF = "benchmarks.pages.urls"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
