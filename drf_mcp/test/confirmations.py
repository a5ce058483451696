"""Tools that ask first do nothing until they are confirmed, and then what was asked, once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from drf_mcp.outcomes import MISSING
from drf_mcp.test.client import MCPClient
from drf_mcp.test.observation import Undone
from drf_mcp.test.results import ToolResult
from drf_mcp.test.samples import sample_arguments
from drf_mcp.tools import registry

REQUIRED = "CONFIRMATION_REQUIRED"
CONTROL = "confirmation"


def assert_confirms(
    client: MCPClient, tool: str, arguments: Mapping[str, Any] | None = None, user: Any = None
) -> None:
    """Assert that a tool is called once it is confirmed, and that a confirmation counts once.

    What the calls write is rolled back.

    Args:
        client: who calls; one that cannot be asked, as it is by default.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
    """
    known = registry.tool(tool)
    if CONTROL not in {parameter.name for parameter in known.controls}:
        raise AssertionError(f"{tool} does not ask first: see CONFIRM and @mcp_tool(confirm=True).")
    sent = sample_arguments(known, user) if arguments is None else arguments
    sent = known.arguments.replace_control(sent, CONTROL, MISSING)
    try:
        with transaction.atomic():
            asked = client.call_tool(tool, sent)
            require(asked, "the first call has to ask", REQUIRED)
            confirmed = known.arguments.replace_control(sent, CONTROL, asked.data[CONTROL])
            require(client.call_tool(tool, confirmed), "the confirmed call has to be made", "")
            again = client.call_tool(tool, confirmed)
            if again.ok:
                raise AssertionError(f"{tool}: a confirmation counted twice.")
            raise Undone
    except Undone:
        pass


def require(result: ToolResult, expected: str, code: str) -> None:
    found = "" if result.error is None else result.error.code
    if found.upper() != code:
        answer = result.error.message if result.error else result.text
        raise AssertionError(f"{expected}, but the answer is {found or 'a success'}: {answer}")
