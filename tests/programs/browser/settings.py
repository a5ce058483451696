"""The example shop with the page switched on, with DEBUG and static files."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

DRF_MCP = {**DRF_MCP, "BROWSABLE_PAGE": True, "TELEMETRY": True}
DEBUG = True
MEDIA_URL = "/media/"
ROOT_URLCONF = "tests.programs.browser.urls"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
