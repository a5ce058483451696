"""The tool that runs programs, as an endpoint lists it to a caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.contrib.compose import COMPOSE
from drf_mcp.errors import ArgumentsRefused
from drf_mcp.exposure import RedirectingTool, ServerTool, ServerToolView, Tool, Visibility
from drf_mcp.features import RequestContext, mcp_settings
from drf_mcp.json_text import parse_json_text
from drf_mcp.outcomes import Problem

MAX_PROGRAM = 20_000
GOING_ON = {
    "resume": {
        "type": "string",
        "description": "From a program that stopped or failed: goes on, also corrected.",
    },
    "answers": {"type": "object", "description": "What the stopped call asked for."},
}


@dataclass(frozen=True)
class Sent:
    """The arguments of a call: the program, or the stopped one that goes on, with answers."""

    program: str
    resume: str
    answers: Mapping[str, Any]


class ProgramArguments(serializers.Serializer[Any]):
    program = serializers.CharField(
        default="", allow_blank=True, trim_whitespace=False, max_length=MAX_PROGRAM
    )
    resume = serializers.CharField(default="", allow_blank=True)
    answers = serializers.DictField(default=dict)


class ComposeView(ServerToolView):
    def post(self, request: Request) -> Response:
        # A guard answers each call: a program runs in no transaction of a view.
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class ComposeTool(ServerTool):
    """Runs a program over other tools."""

    controls = ()

    def read(self, arguments: Mapping[str, Any]) -> Sent:
        sent = self.read_sent(self.find_values(arguments))
        if not (sent.program or sent.resume):
            message, advice = "This argument is required.", "Send the text of a program."
            pointer = self.find_pointer("program")
            raise ArgumentsRefused([Problem("required", message, pointer, remediation=advice)])
        return sent

    def find_values(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a call by their names."""
        found = self.arguments.find_values(arguments)
        return {each.parameter.name: value for each, value in found}

    def read_sent(self, values: Mapping[str, Any]) -> Sent:
        given = {name: value for name, value in values.items() if value is not None}
        given["answers"] = parse_json_text(given.get("answers", {}), dict)
        return Sent(**self.read_serializer(ProgramArguments(data=given)))

    def read_serializer(self, serializer: Any) -> Mapping[str, Any]:
        """Return the validated data of a serializer, or refuse the arguments."""
        serializer.is_valid()
        problems = [
            Problem(getattr(each, "code", "invalid"), str(each), self.find_pointer(name))
            for name, details in serializer.errors.items()
            for each in (details if isinstance(details, list) else [details])
        ]
        if problems:
            raise ArgumentsRefused(problems)
        data: Mapping[str, Any] = serializer.validated_data
        return data

    def may_write(self, server: Any) -> bool:
        return find_mode(server.view_attributes) == "writes"

    def shape(self, value: Any) -> Any:
        """Return the value of a program as the result has it."""
        return value

    def find_pointer(self, name: str) -> str:
        """Return the pointer of an argument, which may be in a group."""
        known = self.arguments.arguments
        return next((each.pointer for each in known if each.parameter.name == name), "")


def find_mode(view_attributes: Mapping[str, Any]) -> bool | str:
    """Return whether an endpoint runs programs; "writes" where they may change something."""
    own = view_attributes.get("compose")
    mode: bool | str = mcp_settings.COMPOSE if own is None else own
    return mode


def is_alone(view_attributes: Mapping[str, Any]) -> bool:
    """Return whether an endpoint lists none of the tools that its programs call."""
    own = view_attributes.get("compose_alone")
    is_set = mcp_settings.COMPOSE_ALONE if own is None else own
    return bool(is_set and find_mode(view_attributes))


def write_functions(server: Any, context: RequestContext) -> Mapping[str, Tool]:
    tools: Mapping[str, Tool] = server.tools_capability.find_offered_tools(context)
    return {
        name: tool
        for name, tool in tools.items()
        if isinstance(tool, RedirectingTool) or not tool.endpoint.is_built_in
    }


def find_tool(server: Any, context: RequestContext) -> Tool | None:
    """Return the tool as a caller has it at an endpoint; None where it is off, or of no use."""
    mode = find_mode(server.view_attributes)
    if not mode:
        return None
    # Tools that only call other tools give a program nothing to do.
    functions = [t for t in write_functions(server, context).values() if not t.endpoint.is_built_in]
    reading = [tool for tool in functions if tool.reads]
    writing = [tool for tool in functions if not tool.reads] if mode == "writes" else []
    options: dict[str, Any] = {"read_only": True}
    visibility = Visibility(context.caller)
    if visibility.sees_any(writing):
        destroying = [tool for tool in writing if tool.annotations["destructiveHint"]]
        options = {"read_only": False, "destructive": visibility.sees_any(destroying)}
    elif not visibility.sees_any(reading):
        return None
    options["open_world"] = any(t.annotations["openWorldHint"] for t in (*reading, *writing))
    # Made once for all callers, so that each is described and encoded once.
    key, tools = (COMPOSE, *options.items()), server.tools_capability.get_tools(context)
    tool: Tool = server.registry.keep(key, tools, partial(_make_compose_tool, **options))
    return tool


def _make_compose_tool(tools: Any, **options: Any) -> Tool:
    reads = "Tools that change something cannot be called." if options["read_only"] else ""
    description = (
        "Run a Python program over the tools, in one call instead of many. Each tool is a function"
        " with arguments by name, and returns its data: a list all of its rows, whatever its page"
        " size. A call that fails raises ToolError, its text the code, the argument and the reason."
        " The last expression is the result. Modules such as datetime, re, math and statistics are"
        " there; files, network and inheritance are not. signatures('orders_*') gives how to call"
        " tools, signatures() all of them."
    )
    return ComposeTool.make(
        COMPOSE,
        ComposeView,
        method="POST",
        title="Run a program over tools",
        description=f"{description} {reads}".strip(),
        body={"program": {"type": "string"}, **GOING_ON},
        output_schema=None,
        **options,
    )
