"""The benchmarks' settings, for a project with TOOLS tools (an environment variable)."""

import os

from benchmarks.settings import *  # noqa: F403

ROOT_URLCONF = "benchmarks.listing.many_urls"
TOOLS = int(os.environ["TOOLS"])
DRF_MCP = {
    "EXPOSE": "urlconf",
    "ARCHIVE_CLASS": None,
    "TOOL_SEARCH": "TOOL_SEARCH" in os.environ,
}
