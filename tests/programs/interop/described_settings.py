"""The example shop with an output schema for each tool, by which clients validate results."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

DRF_MCP = {**DRF_MCP, "OUTPUT_SCHEMA": "full"}
