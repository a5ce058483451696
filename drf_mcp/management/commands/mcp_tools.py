from __future__ import annotations

import dataclasses
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.color import no_style
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from rest_framework.exceptions import APIException

from drf_mcp.contrib.operators.checklist import Checklist
from drf_mcp.contrib.operators.costs import ToolCost
from drf_mcp.contrib.operators.example_call import ExampleCall
from drf_mcp.contrib.operators.exposure_report import ExposureReport
from drf_mcp.contrib.operators.lint import Lint
from drf_mcp.contrib.operators.lock import LOCK_FILE, LockFileError, SurfaceLock
from drf_mcp.contrib.operators.permission_trace import PermissionTrace
from drf_mcp.contrib.operators.review import Review
from drf_mcp.contrib.operators.risks import RiskReport
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.management.base import MCPCommand, UsageError
from drf_mcp.management.completion import SCRIPTS
from drf_mcp.management.progress import ProgressLine
from drf_mcp.management.reports import Report
from drf_mcp.tools import Tool, registry

BREAKING = 1


class Command(MCPCommand):
    """Lists the tools by view, shows one tool whole, or reports on all of them.

    Exits with 1 if ``--check`` finds a breaking change, with 2 if it cannot do what was
    asked, else with 0.
    """

    help = "List the tools that agents can call, and report on them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", nargs="?", help="show this tool whole")
        self.add_user_argument(
            parser.add_argument,
            "only the tools that this user sees; anonymous for a caller who is not signed in",
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="print the definitions as JSON, with another option what that option tells",
        )
        self.add_endpoint_argument(parser.add_argument)
        add = parser.add_mutually_exclusive_group().add_argument
        add("--warnings", action="store_true", help="findings by root cause, with their remedies")
        add("--size", action="store_true", help="tokens of each tool, and the limits of clients")
        add("--risks", action="store_true", help="what guards each tool that writes, and what not")
        add("--names", action="store_true", help="the names of the tools alone, a line each")
        add("--completion", choices=SCRIPTS, help="the script that completes names in a shell")
        add("--unexposed", action="store_true", help="the endpoints that are not tools, and why")
        add(
            "--why",
            metavar="TOOL",
            help="with --as: each permission, throttle and row filter, and its decision",
        )
        file: dict[str, Any] = {"nargs": "?", "const": LOCK_FILE, "metavar": "FILE"}
        add(
            "--lock",
            **file,
            help=f"write the tools' names, arguments and answers to a file ({LOCK_FILE})",
        )
        add(
            "--check",
            **file,
            help="compare the tools with that file; a breaking change exits with 1",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["completion"]:
            self.stdout.write(SCRIPTS[options["completion"]])
            return
        self.endpoint = self.get_endpoint(options)
        if options["lock"]:
            path = self.get_lock_file(options["lock"])
            count = SurfaceLock(path, self.endpoint.tools).write()
            locked = {"file": path, "tools": count}
            words = ngettext(
                "%(file)s holds %(tools)d tool.", "%(file)s holds %(tools)d tools.", count
            )
            self.write_data(locked, [words % locked], options)
            return
        # Colours are for people, or for whoever insists on them.
        coloured = options.get("force_color") or self.stdout.isatty()
        report = Report(self.width, self.style if coloured else no_style())
        if options["check"]:
            self.check_lock(self.get_lock_file(options["check"]), report, options)
            return
        self.stdout.write("\n".join(self.get_lines(options, report)))

    def get_lines(self, options: dict[str, Any], report: Report) -> Iterable[str]:
        if options["why"]:
            return self.explain(options, report)
        if options["unexposed"]:
            unexposed = ExposureReport(registry).get_unexposed()
            if options["json"]:
                return [self.format_json([dataclasses.asdict(each) for each in unexposed])]
            return report.list_unexposed(unexposed)
        tools = self.get_tools(options["name"], options["username"])
        if options["names"]:
            return [self.format_json([*tools])] if options["json"] else tools
        every = self.endpoint.registry.tools().values()
        own = [tool for tool in every if not tool.endpoint.is_built_in]
        if not own and not options["json"] and not options["username"] and not options["name"]:
            return report.show_exposing(ExposureReport(registry).endpoints)
        for tool in ProgressLine(self.stderr, _("Describing tools")).watch(tools.values()):
            # Kept, for whatever is said of it below.
            tool.input_schema  # noqa: B018
        return self.report_on(tools, options, report)

    def report_on(
        self, tools: Mapping[str, Tool], options: dict[str, Any], report: Report
    ) -> Iterable[str]:
        if options["risks"]:
            return self.check_risks(RiskReport(tools, self.endpoint), options, report)
        if options["size"] or options["warnings"]:
            return self.review(Lint(tools), options, report)
        if options["json"]:
            return [self.format_json([ToolCost(t).definition for t in tools.values()])]
        if options["name"]:
            user = self.get_user_or_anonymous(options["username"]) if options["username"] else None
            tool = tools[options["name"]]
            return report.show_tool(tool, ExampleCall(tool, user))
        return report.list_tools(tools)

    def explain(self, options: dict[str, Any], report: Report) -> Iterable[str]:
        trace = self.get_trace(options["why"], options["username"])
        return [self.format_json(trace.as_data())] if options["json"] else report.show_trace(trace)

    def review(self, lint: Lint, options: dict[str, Any], report: Report) -> Iterable[str]:
        if options["json"]:
            return [self.format_json(lint.as_data())]
        review = Review(lint, report)
        return review.list_sizes() if options["size"] else review.list_findings()

    def check_risks(
        self, risks: RiskReport, options: dict[str, Any], report: Report
    ) -> Iterable[str]:
        if options["json"]:
            return [self.format_json(risks.as_data())]
        return Checklist(risks, report).list_risks()

    def get_lock_file(self, path: str) -> str:
        # Each endpoint has a file of its own: mcp-tools.mcp-readonly.lock.json.
        if path != LOCK_FILE or self.endpoint.found is None:
            return path
        start, ending = LOCK_FILE.split(".", 1)
        return f"{start}.{self.endpoint.path.strip('/').replace('/', '-')}.{ending}"

    def check_lock(self, path: str, report: Report, options: dict[str, Any]) -> None:
        try:
            changes = SurfaceLock(path, self.endpoint.tools).get_changes()
        except LockFileError as exc:
            raise UsageError(str(exc)) from exc
        told = [dataclasses.asdict(change) for change in changes]
        self.write_data(told, report.list_changes(changes), options)
        if any(change.breaking for change in changes):
            sys.exit(BREAKING)

    def get_tools(self, name: str | None, username: str | None) -> Mapping[str, Tool]:
        tools = self.endpoint.tools if name is None else {name: self.get_offered_tool(name)}
        if username is None:
            return tools
        try:
            visibility = Visibility(self.endpoint.make_caller(self.get_user_or_anonymous(username)))
        except APIException as exc:
            facts = {"user": username, "reason": self.get_reason(exc)}
            message = _("The endpoint does not let %(user)s in: %(reason)s") % facts
            raise UsageError(message) from exc
        offered = (t for t in tools.values() if visibility.caller.find_narrowing(t) is None)
        visible = {tool.name: tool for tool in visibility.of(offered)}
        if name is not None and not visible:
            question = f"mcp_tools --why {name} --as {username}"
            message = _("%(user)s does not see %(tool)s. To find out why: %(command)s")
            raise UsageError(message % {"user": username, "tool": name, "command": question})
        return visible

    def get_trace(self, name: str, username: str | None) -> PermissionTrace:
        if username is None:
            raise UsageError(_("--why needs --as USER."))
        tool, user = self.get_tool(name, self.endpoint), self.get_user_or_anonymous(username)
        return PermissionTrace(tool, user, self.endpoint)

    def get_offered_tool(self, name: str) -> Tool:
        tool = self.get_tool(name, self.endpoint)
        narrowing = self.endpoint.make_caller().find_narrowing(tool)
        if narrowing is not None:
            facts = {"tool": name, "reason": narrowing.get_reason(tool)}
            raise UsageError(_("%(tool)s is not among the tools: %(reason)s.") % facts)
        return tool
