"""``manage.py mcp_tools``: what agents can do."""

from __future__ import annotations

import json
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.core.management.color import no_style
from rest_framework.exceptions import APIException

from drf_mcp.dispatch.errors.body import ErrorBody
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import UnknownTool
from drf_mcp.management import reports
from drf_mcp.management.tables import table
from drf_mcp.management.users import USAGE, user_or_nobody
from drf_mcp.operators.exposure_report import unexposed
from drf_mcp.operators.lint import findings_of
from drf_mcp.operators.lock import (
    LOCK_FILE,
    LockFileError,
    changes_since,
    definition_of,
    write_lock,
)
from drf_mcp.operators.permission_trace import Explanation, explain
from drf_mcp.tools import Tool, registry
from drf_mcp.transports.in_process import local_caller

BREAKING = 1


class Command(BaseCommand):
    """Lists the tools by view, shows one tool whole, or reports on all of them.

    Exits with 1 if ``--check`` finds a breaking change, with 2 if it cannot do what was
    asked, else with 0.
    """

    help = "List the tools that agents can call, and report on them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", nargs="?", help="show this tool whole")
        parser.add_argument(
            "--as",
            metavar="USER",
            dest="username",
            help="the tools that this user sees; anonymous for nobody",
        )
        add = parser.add_mutually_exclusive_group().add_argument
        add("--json", action="store_true", help="print definitions as JSON")
        add("--size", action="store_true", help="bytes and tokens, against clients' limits")
        add("--warnings", action="store_true", help="what could be better, and how")
        add("--unexposed", action="store_true", help="the endpoints that are no tools, and why")
        add(
            "--why",
            metavar="TOOL",
            help="with --as: who lets that user call the tool, or does not, and what is needed",
        )
        add(
            "--lock",
            nargs="?",
            const=LOCK_FILE,
            metavar="FILE",
            help=f"write what agents rely on to a file ({LOCK_FILE})",
        )
        add(
            "--check",
            nargs="?",
            const=LOCK_FILE,
            metavar="FILE",
            help="compare with that file; a breaking change exits with 1",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what was asked for."""
        if options["lock"]:
            write_lock(options["lock"], registry.tools())
            self.stdout.write(f"{options['lock']} holds {len(registry.tools())} tools.")
            return
        style = self.style if self.coloured(options) else no_style()
        if options["check"]:
            self.check_lock(options["check"], style)
            return
        self.stdout.write("\n".join(self.lines(options, style)))

    def coloured(self, options: dict[str, Any]) -> bool:
        """Return whether colours are seen: by a person, or by whoever insists on them."""
        return bool(options.get("force_color")) or self.stdout.isatty()

    def lines(self, options: dict[str, Any], style: Any) -> Iterable[str]:
        """Return the lines of the report that was asked for."""
        width = shutil.get_terminal_size().columns
        if options["why"]:
            return reports.why(explained(options["why"], options["username"]), width, style)
        if options["unexposed"]:
            return reports.left_out(unexposed(registry), width, style)
        tools = chosen(options["name"], options["username"])
        if options["json"]:
            definitions = [definition_of(tool) for tool in tools.values()]
            return [json.dumps(definitions, indent=2, ensure_ascii=False)]
        if options["size"]:
            return reports.sizes(tools, style)
        if options["warnings"]:
            return reports.warnings(findings_of(tools), width, style)
        if options["name"]:
            return reports.whole(tools[options["name"]], width, style)
        return table(tools, width, style)

    def check_lock(self, path: str, style: Any) -> None:
        """Compare the tools with a lock file; exit with 1 on a breaking change."""
        try:
            changes = changes_since(path)
        except LockFileError as exc:
            raise CommandError(str(exc), returncode=USAGE) from exc
        self.stdout.write("\n".join(reports.differences(changes, style)))
        if any(change.breaking for change in changes):
            sys.exit(BREAKING)


def tool_named(name: str) -> Tool:
    """Return the tool of that name."""
    try:
        return registry.tool(name)
    except UnknownTool as exc:
        raise CommandError(exc.message, returncode=USAGE) from exc


def chosen(name: str | None, username: str | None) -> Mapping[str, Tool]:
    """Return the tools that a report is about: all or one, as far as a user sees them."""
    tools = registry.tools() if name is None else {name: tool_named(name)}
    if username is None:
        return tools
    try:
        visibility = Visibility(local_caller(user_or_nobody(username)))
    except APIException as exc:
        message = f"The endpoint does not let {username} in: {ErrorBody(exc.detail).sentence}"
        raise CommandError(message, returncode=USAGE) from exc
    seen = {tool.name: tool for tool in visibility.of(tools.values())}
    if name is not None and not seen:
        message = f"{username} does not see {name}. Ask: mcp_tools --why {name} --as {username}"
        raise CommandError(message, returncode=USAGE)
    return seen


def explained(name: str, username: str | None) -> Explanation:
    """Return what decides over a user's call of a tool."""
    if username is None:
        raise CommandError("--why needs --as USER.", returncode=USAGE)
    return explain(tool_named(name), user_or_nobody(username))
