"""The budget of a tool's result, with what the fitting needs of REST framework and the archive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.settings import api_settings

from drf_mcp import envelopes
from drf_mcp.access.authentication import Caller
from drf_mcp.archive import CallArchive, can_archive, owner_of
from drf_mcp.dispatch.encoding import encode_data
from drf_mcp.tools.registry import Registry
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation import RETRIEVAL_TOOL
from drf_mcp.truncation.budget import Budget


class ToolBudget(Budget):
    """The budget of one call's result.

    Args:
        tool: the tool that was called.
        arguments: the arguments of the call, any JSON value.
        caller: who called it.
        registry: the tools served.
    """

    def __init__(self, tool: Tool, arguments: Any, caller: Caller, registry: Registry) -> None:
        super().__init__(tool, arguments, encode_data)
        self.caller = caller
        self.registry = registry

    def get_archive(self) -> CallArchive | None:
        """Return where the result leaves what it has no room for; None to keep nothing."""
        if self.tool.name == RETRIEVAL_TOOL or not can_archive():
            return None
        urlconf = getattr(self.caller.request, "urlconf", None)
        if RETRIEVAL_TOOL not in self.registry.tools(urlconf):
            return None
        return CallArchive(owner_of(self.caller.authenticate().user))

    def get_search_arguments(self) -> tuple[str, ...]:
        """Return the arguments that say what the caller is looking for, the first to be asked."""
        return (api_settings.SEARCH_PARAM, *super().get_search_arguments())

    def validate_digest(self, payload: Mapping[str, Any]) -> None:
        """Raise an exception on a payload that is no ``digest/v1``."""
        # pydantic is loaded here, which no call needs otherwise.
        envelopes.validate_payload_dict(dict(payload))
