"""The names of `drf_mcp.exposure`, for imports of `drf_mcp.tools`."""

from drf_mcp.exposure import *  # noqa: F403
