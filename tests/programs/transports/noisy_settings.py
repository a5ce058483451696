"""The example shop in a project that prints wherever it can, with an open endpoint."""

from __future__ import annotations

import warnings

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

print("the settings are loaded")  # noqa: T201
warnings.warn("the settings warn", stacklevel=1)

ROOT_URLCONF = "tests.programs.transports.noisy_urls"
DRF_MCP = {
    **DRF_MCP,
    "EXPOSE": "urlconf",
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "MAX_BODY_BYTES": 5000,
}
LOGGING = {
    "version": 1,
    "handlers": {"out": {"class": "logging.StreamHandler", "stream": "ext://sys.stdout"}},
    "root": {"handlers": ["out"], "level": "DEBUG"},
}
