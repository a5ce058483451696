"""The shop, plus a tool that waits for its user and one that reports progress for a minute."""

from __future__ import annotations

from example_project.settings import *  # noqa: F403
from example_project.settings import DRF_MCP

ROOT_URLCONF = "benchmarks.waiting_urls"
DRF_MCP = {**DRF_MCP, "THROTTLE_CLASSES": [], "WAITING_CALLS": 140}
