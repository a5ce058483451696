"""The page of what clients take."""

from __future__ import annotations

from docs.reference_pages.markdown import code, page, paragraph, table
from drf_mcp.contrib.operators.tool_costs import CLIENT_LIMITS, SEEN


def client_limits_page() -> str:
    """Return the page of what clients take."""
    head = paragraph(
        f"The limits of MCP clients, as seen in **{SEEN}**. `mcp_tools size` and `mcp_tools "
        "findings` compare your tools with them. [Clients](../clients.md#what-clients-accept) says "
        "what else clients accept."
    )
    columns = ["Client", "Tools of all servers", "Longest name", "Put before it", "Description"]
    rows = (
        [
            limit.client,
            str(limit.tools or "any number"),
            f"{limit.name} characters",
            code(limit.prefix) if limit.prefix else "",
            f"cut at {limit.description} characters" if limit.description else "whole",
        ]
        for limit in CLIENT_LIMITS
    )
    foot = "`{server}` is `SERVER_NAME`, or the name that the server has in the client."
    return page("Limits of clients", head, table(columns, rows), foot)
