from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.color import no_style

from drf_mcp.contrib.rules.ruling import APPROVE, ViewRefused, decide_call, find_rules
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.errors import ArgumentsRefused, CallCrashed
from drf_mcp.features import CallState
from drf_mcp.management.base import MCPCommand, read_call_arguments
from drf_mcp.management.screen import Screen, UsageError


class Command(MCPCommand):
    """Lists the rules of ``drf_mcp.contrib.rules`` in their order, and tries them."""

    help = "List the rules about calls in their order, or try which one decides about a call."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="action", required=True)
        listed = commands.add_parser(
            "list", help="list the rules, in the order in which they decide"
        )
        listed.add_argument("--tool", help="only the rules about this tool")
        tried = commands.add_parser(
            "test", help="show which rule decides about a call, without the call"
        )
        tried.add_argument("name", metavar="TOOL", help="the tool, as mcp_tools lists it")
        tried.add_argument(
            "arguments",
            nargs="*",
            metavar="key=value",
            help="the arguments of the tool, as for mcp_call",
        )
        self.add_user_argument(
            tried.add_argument, "who calls, by USERNAME_FIELD; an anonymous caller by default"
        )
        for each in (listed, tried):
            self.add_endpoint_argument(each.add_argument)
            each.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        self.endpoint = self.find_endpoint(options)
        getattr(self, options["action"])(options)

    def list(self, options: dict[str, Any]) -> None:
        tool = options["tool"] and self.find_tool(options["tool"])
        rules = find_rules(tool)
        rows = [(str(r.order), r.name, ", ".join(r.patterns), r.label) for r in rules]
        headings = ("ORDER", "RULE", "TOOLS", "DECIDES")
        lines = Screen(self.width, no_style()).list_table(headings, rows)
        names = ("order", "name", "tools", "decides")
        self.write_data([dict(zip(names, row, strict=True)) for row in rows], lines, options)

    def test(self, options: dict[str, Any]) -> None:
        tool = self.find_tool(options["name"])
        user = self.find_user(options["username"])
        arguments = read_call_arguments(options["arguments"])
        call = CallState(tool, arguments, self.endpoint.make_caller(user))
        call.dispatcher = Dispatcher()
        try:
            rule, ruling, _place = decide_call(find_rules(tool), call)
        except ArgumentsRefused as exc:
            raise UsageError(" ".join(problem.message for problem in exc.problems)) from exc
        except ViewRefused as exc:
            failure = exc.outcome.failure
            raise UsageError(failure.message if failure else str(exc.outcome.status)) from exc
        except CallCrashed as exc:
            raise UsageError(f"A rule failed: {exc.cause!r}. The call is refused.") from exc
        data = {"rule": rule and rule.name, "verdict": ruling.verdict, "reason": ruling.reason}
        if rule is None:
            lines = ["No rule decides: the call is made."]
        else:
            says = "ask for an approval" if ruling.verdict == APPROVE else ruling.verdict
            lines = [f"{rule.order} {rule.name}: {says}", ruling.reason, rule.label]
        self.write_data(data, filter(None, lines), options)
