"""The example shop with an external authorization server, named in the environment."""

from __future__ import annotations

import os

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP, REST_FRAMEWORK

REST_FRAMEWORK = {
    **REST_FRAMEWORK,
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "tests.programs.interop.external_login.ExternalLogin",
        *REST_FRAMEWORK["DEFAULT_AUTHENTICATION_CLASSES"],
    ],
}
DRF_MCP = {
    **DRF_MCP,
    "AUTHORIZATION_SERVERS": [os.environ["SHOP_ISSUER"]],
    "RESOURCE": os.environ["SHOP_RESOURCE"],
    "SCOPES": ["shop"],
}
