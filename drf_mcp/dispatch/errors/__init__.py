"""Errors of views as failures: codes, problems, what to do."""

from drf_mcp.dispatch.errors.mapper import ErrorMapper

__all__ = ["ErrorMapper"]
