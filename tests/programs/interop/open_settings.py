"""The example shop with an endpoint that is open to all callers.

The conformance suite sends no credentials.
"""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

DRF_MCP = {**DRF_MCP, "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
