"""The names of `drf_mcp.archives`, for settings that name `drf_mcp.archive`."""

from drf_mcp.archives import *  # noqa: F403
