"""Programs of the project as tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.serializers import Serializer

from drf_mcp.contrib.compose import NamedProgram
from drf_mcp.contrib.compose.calls import name_functions
from drf_mcp.contrib.compose.program import read_program
from drf_mcp.contrib.compose.sandbox import ProgramFailed, RaisedInProgram
from drf_mcp.contrib.compose.tool import (
    GOING_ON,
    ComposeTool,
    ComposeView,
    Sent,
)
from drf_mcp.describers import DescribedField
from drf_mcp.dispatch.content import AnswerEncoder
from drf_mcp.exposure import Tool, Visibility

CHANGES = {"type": "array", "items": {"type": "object"}}


@dataclass(frozen=True, eq=False)
class NamedTool(ComposeTool):
    """Runs a program of the project."""

    named: ClassVar[NamedProgram]

    def describe(self) -> Any:
        make = self.named.result
        result = DescribedField(make()).output_schema if make is not None else {}
        output = {"type": "object", "properties": {"result": result, "changed": CHANGES}}
        return replace(super().describe(), output=output)

    def may_write(self, server: Any) -> bool:
        return not self.reads

    def shape(self, value: Any) -> Any:
        try:
            return value if self.named.result is None else self.named.result(value).data
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise ProgramFailed(f"The result is not as it is declared: {exc}") from exc

    def read(self, arguments: Mapping[str, Any]) -> Sent:
        values = self.find_values(arguments)
        going_on = {name: values.pop(name, None) for name in GOING_ON}
        if going_on["resume"]:
            return self.read_sent(going_on)
        serializer = (self.named.arguments or NoArguments)(data=values)
        self.read_serializer(serializer)
        sent = {**dict.fromkeys(serializer.fields), **serializer.data}
        return Sent(self.named.write(AnswerEncoder().plain(sent)), "", {})


class ProgramPermission(BasePermission):
    """Lets callers see a program who see all tools that it calls."""

    def has_permission(self, request: Request, view: Any) -> bool:
        caller = request._request.caller  # type: ignore[attr-defined]
        tools = [tool for tool in view.called if caller.find_narrowing(tool) is None]
        return len(Visibility(caller).of(tools)) == len(view.called)


class NoArguments(Serializer):  # type: ignore[type-arg]
    pass


class ProgramView(ComposeView):
    permission_classes = [ProgramPermission]
    called: Sequence[Tool] = ()


@dataclass
class LoadedTools:
    """The tools that a program of the project is checked against, for no caller."""

    tools: Mapping[str, Tool]

    def __post_init__(self) -> None:
        self.function_names = name_functions(self.tools)
        self.functions = {self.function_names[name]: tool for name, tool in self.tools.items()}
        self.visibility = SimpleNamespace(of=list)

    def find_tool(self, name: str) -> Tool:
        raise RaisedInProgram(NameError(f"There is no function or tool {name}."))

    def find_tool_of(self, named: NamedProgram) -> Tool | None:
        """Return the tool of a program, None if it cannot run over these tools."""
        try:
            return self._make(named)
        except ProgramFailed as exc:
            kind = f"{exc.kind}: " if exc.kind else ""
            named.problem = f"Line {exc.line}: {kind}{exc.message}"
            return None

    def _make(self, named: NamedProgram) -> Tool:
        serializer = named.arguments or NoArguments
        program = read_program(named.write(dict.fromkeys(serializer().fields)), self)
        called = [self.functions[name] for name in program.names & self.functions.keys()]
        fields = serializer().fields.items()
        body = {
            name: {**DescribedField(each).input_schema, "required": each.required}
            for name, each in fields
        }
        options = {"read_only": all(tool.reads for tool in called), **named.options}
        if not options["read_only"]:
            options["destructive"] = any(t.annotations["destructiveHint"] for t in called)
            body |= GOING_ON
        options["open_world"] = any(tool.annotations["openWorldHint"] for tool in called)
        view = type("NamedProgramView", (ProgramView,), {"called": called})
        tool: Any = type("NamedProgramTool", (NamedTool,), {"named": named})
        made: Tool = tool.make(named.name, view, method="POST", body=body, **options)
        return made
