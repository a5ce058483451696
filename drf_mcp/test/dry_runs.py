"""That trying a tool leaves everything as it was."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.apps import apps
from django.core import mail
from django.db import connections

from drf_mcp.dispatch.rollback import find_written_databases
from drf_mcp.test.client import MCPClient
from drf_mcp.test.results import ToolResult
from drf_mcp.test.samples import sample_arguments
from drf_mcp.tools import registry

CONTROL = "dry_run"


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
            for table, rows in self.read_tables(alias)
        }

    def read_tables(self, alias: str) -> Iterator[tuple[str, list[str]]]:
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
        user: who calls; None for nobody.
        ignored_tables: tables that are not compared. Those of this package's own records never are.
    """
    known = registry.tool(tool)
    if CONTROL not in {parameter.name for parameter in known.controls}:
        raise AssertionError(f"{tool} has no dry run: see DRY_RUN in the documentation.")
    if client is None:
        client = MCPClient()
        client.force_authenticate(user)
    given = sample_arguments(known, user) if arguments is None else arguments
    ignored = {*ignored_tables, *find_own_tables()}
    before = Snapshot(ignored)
    result = client.call_tool(tool, known.arguments.replace_control(given, CONTROL, True))
    if result.error is not None:
        raise AssertionError(f"{tool}: {result.error.code}: {result.error.message}")
    if differences := "; ".join(before.find_differences(Snapshot(ignored))):
        raise AssertionError(f"The dry run of {tool} changed something: {differences}.")
    return result


def find_own_tables() -> Iterator[str]:
    # The audit has a row of every call, and tokens the time of their use.
    for config in apps.get_app_configs():
        if config.name.startswith("drf_mcp"):
            yield from (model._meta.db_table for model in config.get_models())
