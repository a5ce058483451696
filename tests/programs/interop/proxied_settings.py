"""The example shop behind a proxy, with an external authorization server."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

ALLOWED_HOSTS = ["shop.example"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
USE_X_FORWARDED_HOST = True
DRF_MCP = {**DRF_MCP, "AUTHORIZATION_SERVERS": ["https://login.shop.example"], "SCOPES": ["shop"]}
