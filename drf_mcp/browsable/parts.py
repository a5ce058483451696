from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_mcp.tools.tool import Tool


class PagePart:
    """What an app adds to the page that a browser sees at an endpoint.

    A template gets the context of the page; one of `get_cards` or `get_sections` also gets its own
    as ``part``, with its path as ``template``.

    Args:
        page: the `BrowsablePage`, or the `Frame` of another page with the same links.
    """

    def __init__(self, page: Any) -> None:
        self.page = page

    def get_links(self) -> Mapping[str, str]:
        """Return the titles of the part's own pages, by the value of ``show`` in their address."""
        return {}

    def get_page(self, show: str, tools: Mapping[str, Tool]) -> Mapping[str, Any] | None:
        """Return the context of a page of its own, None for a page that it does not have.

        Args:
            tools: what the endpoint offers its caller, by name.
        """
        return None

    def get_cards(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of cards on the page of a tool, before its hints."""
        return ()

    def get_sections(self, tool: Tool) -> Sequence[Mapping[str, Any]]:
        """Return the contexts of sections at the end of the page of a tool."""
        return ()

    def get_audience(self, tool: Tool) -> str:
        """Return in one line who may call a tool, "" for nothing."""
        return ""
