from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from typing import Any

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from drf_mcp.test.client import MCPClient
from drf_mcp.test.observation import WRITE, Undone
from drf_mcp.test.results import ToolResult
from drf_mcp.test.samples import sample_arguments
from drf_mcp.tools import registry

CONTROL = "idempotency_key"
CONFIRMATION = "confirmation"
# The table of the answers that are kept.
RECORDS = "drf_mcp_writes_idempotencyrecord"


def assert_idempotent(
    client: MCPClient,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    user: Any = None,
    *,
    ignored_writes: Collection[str] = (),
) -> None:
    """Assert that a call with a key, sent again, has the first answer and writes nothing.

    Everything is rolled back.

    Args:
        client: who calls.
        tool: a tool that takes ``idempotency_key``.
        arguments: the arguments of a call that succeeds; None makes some, about a row that the
            user sees.
        user: whose rows to choose from; None for anybody's.
        ignored_writes: tables whose writes do not count.
    """
    known = registry.tool(tool)
    if CONTROL not in {parameter.name for parameter in known.controls}:
        raise AssertionError(f"{tool}: the tool takes no {CONTROL}.")
    if arguments is None:
        arguments = sample_arguments(known, user)
    sent = known.arguments.replace_control(arguments, CONTROL, f"test-{uuid.uuid4()}")
    ignored = {*ignored_writes, RECORDS}
    try:
        with transaction.atomic():
            first = client.call_tool(tool, sent)
            asks = CONFIRMATION in {parameter.name for parameter in known.controls}
            if asks and CONFIRMATION in (first.data or {}):
                # A tool that asks first has asked.
                confirmation = first.data[CONFIRMATION]
                sent = known.arguments.replace_control(sent, CONFIRMATION, confirmation)
                first = client.call_tool(tool, sent)
            with CaptureQueriesContext(connection) as queries:
                again = client.call_tool(tool, sent)
            raise Undone
    except Undone:
        pass
    matches = filter(None, (WRITE.match(query["sql"]) for query in queries))
    compare(tool, first, again, {match[2] for match in matches} - ignored)


def compare(tool: str, first: ToolResult, again: ToolResult, written: Collection[str]) -> None:
    if first.error is not None:
        raise AssertionError(f"{tool}: the first call fails: {first.error.message}")
    if (again.data, again.content[1:]) != (first.data, first.content[1:]):
        raise AssertionError(
            f"{tool}: the answers differ.\n  First: {first.data!r}\n  Again: {again.data!r}"
        )
    if written:
        raise AssertionError(f"{tool}: the second call writes {', '.join(sorted(written))}.")
