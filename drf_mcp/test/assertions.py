"""Assertions about what calls of a tool change, and about changes of the tools."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core import mail
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from drf_mcp.contrib.operators.lock import LOCK_FILE, LockFile
from drf_mcp.dispatch.probe import find_written_databases
from drf_mcp.outcomes import MISSING
from drf_mcp.routes.registry import registry
from drf_mcp.test.client import MCPClient
from drf_mcp.test.requests import (
    CONFIRMATION,
    WRITE,
    has_control,
    rolled_back,
    sample_arguments,
)
from drf_mcp.test.results import ToolResult

CONFIRMATION_REQUIRED = "CONFIRMATION_REQUIRED"
DRY_RUN = "dry_run"
IDEMPOTENCY_KEY = "idempotency_key"
# The table of stored answers.
IDEMPOTENCY_RECORDS = "drf_mcp_writes_idempotencyrecord"


def assert_confirms(
    client: MCPClient, tool: str, arguments: Mapping[str, Any] | None = None, user: Any = None
) -> None:
    """Assert that a tool has to be confirmed, and that a confirmation can be used once.

    What the calls write is rolled back.

    Args:
        client: who calls; one that cannot be asked, as it is by default.
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        user: whose rows to choose from; None for anybody's.
    """
    known = registry.tool(tool)
    if not has_control(known, CONFIRMATION):
        raise AssertionError(f"{tool} does not ask first: see CONFIRM and @mcp_tool(confirm=True).")
    sent = sample_arguments(known, user) if arguments is None else arguments
    sent = known.arguments.replace_control(sent, CONFIRMATION, MISSING)
    with rolled_back():
        asked = client.call_tool(tool, sent)
        _require_code(asked, "the first call has to ask", CONFIRMATION_REQUIRED)
        confirmed = known.arguments.replace_control(sent, CONFIRMATION, asked.data[CONFIRMATION])
        _require_code(client.call_tool(tool, confirmed), "the confirmed call has to be made", "")
        if client.call_tool(tool, confirmed).ok:
            raise AssertionError(f"{tool}: a confirmation counted twice.")


def _require_code(result: ToolResult, expected: str, code: str) -> None:
    found = "" if result.error is None else result.error.code
    if found.upper() != code:
        answer = result.error.message if result.error else result.text
        raise AssertionError(f"{expected}, but the answer is {found or 'a success'}: {answer}")


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
    if not has_control(known, IDEMPOTENCY_KEY):
        raise AssertionError(f"{tool}: the tool takes no {IDEMPOTENCY_KEY}.")
    if arguments is None:
        arguments = sample_arguments(known, user)
    sent = known.arguments.replace_control(arguments, IDEMPOTENCY_KEY, f"test-{uuid.uuid4()}")
    with rolled_back():
        first = client.call_tool(tool, sent)
        if has_control(known, CONFIRMATION) and CONFIRMATION in (first.data or {}):
            confirmation = first.data[CONFIRMATION]
            sent = known.arguments.replace_control(sent, CONFIRMATION, confirmation)
            first = client.call_tool(tool, sent)
        with CaptureQueriesContext(connection) as queries:
            again = client.call_tool(tool, sent)
    if first.error is not None:
        raise AssertionError(f"{tool}: the first call fails: {first.error.message}")
    if (again.data, again.content[1:]) != (first.data, first.content[1:]):
        raise AssertionError(
            f"{tool}: the answers differ.\n  First: {first.data!r}\n  Again: {again.data!r}"
        )
    matches = filter(None, (WRITE.match(query["sql"]) for query in queries))
    if written := {match[2] for match in matches} - {*ignored_writes, IDEMPOTENCY_RECORDS}:
        raise AssertionError(f"{tool}: the second call writes {', '.join(sorted(written))}.")


class Snapshot:
    """The rows of every table that the project's models may be written to, and the mails sent.

    Args:
        ignored: tables that are left out.
    """

    def __init__(self, ignored: Collection[str] = ()) -> None:
        self.ignored = ignored
        self.mails = len(getattr(mail, "outbox", ()))
        self.rows = {
            (alias, table): rows
            for alias in find_written_databases()
            for table, rows in self._read_tables(alias)
        }

    def _read_tables(self, alias: str) -> Iterator[tuple[str, list[str]]]:
        connection = connections[alias]
        with connection.cursor() as cursor:
            for table in connection.introspection.table_names(cursor):
                if table not in self.ignored:
                    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # nosec B608
                    yield table, sorted(map(repr, cursor.fetchall()))

    def find_differences(self, later: Snapshot) -> Iterator[str]:
        for (alias, table), rows in self.rows.items():
            now = later.rows.get((alias, table), [])
            if gone := [row for row in rows if row not in now]:
                yield f"{table} of {alias} lost {gone[0]}"
            if new := [row for row in now if row not in rows]:
                yield f"{table} of {alias} has {new[0]}"
        if later.mails != self.mails:
            yield f"{later.mails - self.mails} mails were sent"


def assert_dry_run_changes_nothing(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    client: MCPClient | None = None,
    user: Any = None,
    ignored_tables: Collection[str] = (),
) -> ToolResult:
    """Call a tool with ``dry_run``, and assert that it works, changes no row and sends no mail.

    Args:
        tool: the tool.
        arguments: its arguments; None makes some, about a row that the user sees.
        client: who calls; None for a new client of the user.
        user: who calls; None for an anonymous caller.
        ignored_tables: tables that are not compared. Tables of this
            package's own records never are.
    """
    known = registry.tool(tool)
    if not has_control(known, DRY_RUN):
        raise AssertionError(f"{tool} has no dry run: see @mcp_tool(dry_run=True).")
    if client is None:
        client = MCPClient()
        client.force_authenticate(user)
    given = sample_arguments(known, user) if arguments is None else arguments
    # The audit has a row of every call, and tokens the time of their use.
    own = [config for config in apps.get_app_configs() if config.name.startswith("drf_mcp")]
    own_tables = (model._meta.db_table for config in own for model in config.get_models())
    ignored = {*ignored_tables, *own_tables}
    before = Snapshot(ignored)
    result = client.call_tool(tool, known.arguments.replace_control(given, DRY_RUN, True))
    if result.error is not None:
        raise AssertionError(f"{tool}: {result.error.code}: {result.error.message}")
    if differences := "; ".join(before.find_differences(Snapshot(ignored))):
        raise AssertionError(f"The dry run of {tool} changed something: {differences}.")
    return result


def assert_tool_surface(lock: str | Path = LOCK_FILE) -> None:
    """Assert that the tools have no breaking change from a lock file."""
    # Messages of tests are English.
    with override(None):
        breaking = [str(change) for change in LockFile(lock).find_changes() if change.breaking]
    if breaking:
        changes = "\n  ".join(breaking)
        raise AssertionError(
            f"The tools differ from {lock}:\n  {changes}\n"
            f"If that is intended: python manage.py mcp_tools lock {lock}"
        )
