"""The example shop as an authorization server, as ``make demo OAUTH=1`` starts it."""

from __future__ import annotations

import os

os.environ["SHOP_OAUTH"] = "1"

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

# The identity provider of a company, which a test serves.
if issuer := os.environ.get("SHOP_COMPANY"):
    providers = {issuer: {"jwks_url": os.environ["SHOP_COMPANY_KEYS"]}}
    DRF_MCP = {**DRF_MCP, "IDENTITY_PROVIDERS": providers}
