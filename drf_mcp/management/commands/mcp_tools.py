from __future__ import annotations

import functools
import json
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings
from django.core.management.color import no_style
from rest_framework.routers import APIRootView

from drf_mcp.management.base import MCPCommand
from drf_mcp.management.screen import Screen
from drf_mcp.management.tool_reports import ToolList, add_reports, find_report
from drf_mcp.protocol import ERAS
from drf_mcp.protocol.constants import STATELESS_REVISION
from drf_mcp.routes.endpoint import Endpoint, find_endpoints
from drf_mcp.routes.tool import Tool

# Describing more tools than these takes seconds.
MANY = 200


class Command(MCPCommand):
    """Lists the tools by view, shows one tool whole, or runs a report of an app.

    Exits with 2 if it cannot do what was asked, else with 0 or as the report exits.
    """

    help = "List the tools that agents can call, and report on them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        self._add_choice(parser)
        verbs = parser.add_subparsers(dest="verb", metavar="VERB")
        listed = verbs.add_parser("list", help="list the tools by view (the default)")
        shown = verbs.add_parser(
            "show", help="show all of one tool, and a command line that calls it"
        )
        shown.add_argument("name", metavar="TOOL", help="the name of the tool")
        for each in (listed, shown):
            self._add_choice(each, default=SUPPRESS)
        for report in add_reports(verbs):
            self._add_choice(report, default=SUPPRESS)

    def _add_choice(self, parser: ArgumentParser, **kwargs: Any) -> None:
        # Before a verb and after it: a default of the verb's would win over what was given before.
        add = functools.partial(parser.add_argument, **kwargs)
        self.add_user_argument(
            add, "only the tools that this user sees; anonymous for a caller who is not signed in"
        )
        add("--json", action="store_true", help="print JSON")
        self.add_endpoint_argument(add)

    def handle(self, *args: Any, **options: Any) -> None:
        verb = options["verb"] or "list"
        self.endpoint = self.find_endpoint(options)
        coloured = options.get("force_color") or self.stdout.isatty()
        screen = Screen(self.width, self.style if coloured else no_style())
        show = {"list": self._list, "show": self._show}.get(verb, self._report)
        self.stdout.write("\n".join(show(options, screen)))

    def _list(self, options: Mapping[str, Any], screen: Screen) -> Iterable[str]:
        tools, as_json = self.find_tools(options["username"]), options["json"]
        if self._has_no_tools() and not (as_json or options["username"]):
            return ToolList(screen).show_exposing(self._find_own_endpoints())
        self._describe(tools)
        return [self._format_tools(tools)] if as_json else ToolList(screen).list_tools(tools)

    def _show(self, options: Mapping[str, Any], screen: Screen) -> Iterable[str]:
        name, username = options["name"], options["username"]
        tools = self.find_tools(username, name)
        self._describe(tools)
        if options["json"]:
            return [self._format_tools(tools)]
        user = self.find_user_or_anonymous(username) if username else None
        return ToolList(screen).show_tool(tools[name], self._write_definition(tools[name]), user)

    def _report(self, options: Mapping[str, Any], screen: Screen) -> Iterable[str]:
        report, tools = find_report(options["verb"]), dict[str, Tool]()
        if report.is_about_tools:
            if self._has_no_tools() and not options["json"]:
                return ToolList(screen).show_exposing(self._find_own_endpoints())
            tools |= self.find_tools(options["username"])
            self._describe(tools)
        return report.run(self, options, screen, tools)  # type: ignore[no-any-return]

    def _has_no_tools(self) -> bool:
        return all(
            t.endpoint.is_built_in for t in self.endpoint.make_server().registry.tools().values()
        )

    def _describe(self, tools: Mapping[str, Tool]) -> None:
        if len(tools) > MANY and self.stderr.isatty():
            self.stderr.write(f"Describing {len(tools)} tools.", self.style.NOTICE)
        for tool in tools.values():
            # Kept by the tool.
            tool.input_schema  # noqa: B018

    def _format_tools(self, tools: Mapping[str, Tool]) -> str:
        return self.format_json([json.loads(self._write_definition(t)) for t in tools.values()])

    def _write_definition(self, tool: Tool) -> bytes:
        # As clients of the current revision get it.
        capability = self.endpoint.make_server().tools_capability
        return capability.get_definition(tool, ERAS[STATELESS_REVISION])

    def _find_own_endpoints(self) -> list[Endpoint]:
        found = find_endpoints(settings.ROOT_URLCONF)
        return [e for e in found if not e.is_built_in and not issubclass(e.view_class, APIRootView)]
