from __future__ import annotations

from drf_mcp.contrib.pages.page import Page
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.protocol import REVISIONS, Capability
from drf_mcp.protocol.context import RequestContext

EXTENSION = "io.modelcontextprotocol/ui"


class UICapability(Capability):
    """Declares that tools have pages, which are read as resources (SEP-1865)."""

    name = EXTENSION
    is_extension = True
    # 2025-03-26 has no ``_meta`` of a tool that could name a page.
    result_members = {revision: {} for revision in REVISIONS if revision > "2025-03-26"}

    @property
    def is_on(self) -> bool:
        """Whether some tool has a page."""
        tools = self.server.registry.tools(None, self.server.tool_options)
        return any(tool.options.ui for tool in tools.values())

    def find_page(self, uri: str, context: RequestContext) -> Page | None:
        """Return the page at a URI, None if the caller would not see its tool."""
        scheme, _, name = uri.rpartition("/")
        if scheme != "ui://tools" or context.era.revision not in self.result_members:
            return None
        tool = self.server.tools_capability.get_offered_tools(context).get(name)
        if tool is None or not tool.options.ui:
            return None
        return Page(tool) if Visibility(context.caller).find_first([tool], 1) else None
