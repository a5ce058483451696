"""What an endpoint lists in place of many tools, and the calls of tools that it does not list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.core.checks import CheckMessage, Error
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from drf_mcp.checks.project import Project, register_check
from drf_mcp.contrib.search import READ, SEARCH, SEARCH_TOOLS, WRITE
from drf_mcp.contrib.search.tool_index import ToolIndex
from drf_mcp.errors import ask_nearest
from drf_mcp.exposure import RedirectingTool, ServerTool, ServerToolView, Tool, Visibility
from drf_mcp.features import (
    Caller,
    CallState,
    Guard,
    Proceed,
    RequestContext,
    ToolSource,
    mcp_settings,
)
from drf_mcp.interaction.call_context import call_context
from drf_mcp.interaction.exchange import WANTED, Slot, find_call
from drf_mcp.outcomes import JSONPointer, Outcome, Problem

CONFIRMATION = "CONFIRMATION_REQUIRED"
# A key of hosts in the `_meta` of a tool: Claude Code, Claude Agent SDK (2026-04).
ALWAYS_LOAD = "anthropic/alwaysLoad"
INNER = "arguments"
# Whether the arguments of another tool name the tool of a call.
IS_NAMED: Slot[bool] = Slot()


# --- The tools that find and run the tools which are not listed ----------------------------------


class SearchArguments(serializers.Serializer[Any]):
    query = serializers.CharField(required=False, default="", allow_blank=True, max_length=1000)
    definitions = serializers.BooleanField(default=False)
    offset = serializers.IntegerField(min_value=0, default=0)


class ToolSearchView(ServerToolView):
    """Answers with the tools that a query is about, or with the groups of all tools."""

    # `next_offset` says enough.
    is_page = False

    def get(self, request: Request) -> Response:
        arguments = SearchArguments(data=request.query_params)
        arguments.is_valid(raise_exception=True)
        asked, call = arguments.validated_data, find_call(request)
        search = ToolSearch(call.server, call.context)
        limit = search.capability.find_result_limit(call)
        index = ToolIndex(search.registry, search.tools, search.caller, limit)
        if not asked["query"]:
            return Response(index.list_groups(asked["offset"]))
        answer = index.search(**asked)
        if "groups" in answer:
            advice = "If no tool fits, search for one of `groups`: it gives the tools of that noun."
            call_context(request).suggest(advice)
            WANTED.set(call, asked["query"])
        return Response(answer)


class RunTool(RedirectingTool):
    """Runs the tool that its arguments name."""

    naming = "name"
    holder = INNER


def _make_tool(name: str, **options: Any) -> Tool:
    if name == SEARCH:
        types = {"query": "string", "definitions": "boolean", "offset": "integer"}
        return ServerTool.make(
            name,
            ToolSearchView,
            title="Find tools",
            description="Find tools by words, nouns, names or `orders_*`. No query: all nouns.",
            query={each: {"type": types[each]} for each in types},
        )
    title, description = "Run a tool that changes something", "Run a tool that writes."
    if name == READ:
        title, description = "Run a tool that reads", "Run a tool that reads."
    input_schema = {
        "type": "object",
        "properties": {"name": {"type": "string"}, INNER: {"type": "object"}},
        "required": ["name"],
        "additionalProperties": False,
    }
    return RunTool.make(
        name,
        method="GET" if name == READ else "POST",
        title=title,
        description=description,
        input_schema=input_schema,
        output_schema=None,
        **options,
    )


# --- What a caller sees ------------------------------------------------------------------------


class ToolSearch:
    """What one caller sees of an endpoint which does not list all of its tools."""

    def __init__(self, server: Any, context: RequestContext) -> None:
        pinned = server.view_attributes.get("pinned")
        self.patterns = tuple(mcp_settings.PINNED_TOOLS if pinned is None else pinned)
        self.capability = server.tools_capability
        self.context = context
        self.registry: Any = server.registry
        self.caller: Caller = context.caller

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that the caller, who is authenticated for it, is offered."""
        tools: Mapping[str, Tool] = self.capability.find_offered_tools(self.context)
        return tools

    @cached_property
    def every(self) -> Mapping[str, Tool]:
        """The tools that can be named, whether the caller is offered them or not."""
        tools: Mapping[str, Tool] = self.capability.get_tools(self.context)
        return tools

    @property
    def hint(self) -> str:
        return (
            f"Few of them are listed: {SEARCH} finds the others, and without a query what there "
            f"is. Run a tool by its name, with its own arguments in `{INNER}`: {READ} runs "
            f"those that read, {WRITE} those that change something. So run what answers name, too."
        )

    @property
    def listed(self) -> list[Tool]:

        def find_pinned(tools: Mapping[str, Tool]) -> list[Tool]:
            return [
                tool
                for tool in tools.values()
                if tool.options.pinned or tool.endpoint.is_built_in or tool.matches(self.patterns)
            ]

        pinned = self.registry.keep(("pinned", self.patterns), self.tools, find_pinned)
        return [*self._find_own(), *pinned]

    def _find_own(self) -> Iterator[Tool]:
        """Yield the ones of the three tools that the caller can use, with their hints."""
        own = [tool for tool in self.tools.values() if not tool.endpoint.is_built_in]
        reads = [tool for tool in own if tool.reads]
        writes = [tool for tool in own if not tool.reads]
        sees_any = Visibility(self.caller).sees_any
        is_destructive = sees_any([t for t in writes if t.annotations["destructiveHint"]])
        can_write = is_destructive or sees_any(writes)
        can_read = sees_any(reads)
        if can_read or can_write:
            yield self.make(SEARCH)
        if can_read:
            yield self.make(READ, open_world=_reaches_out(reads))
        if can_write:
            yield self.make(WRITE, destructive=is_destructive, open_world=_reaches_out(writes))

    def make(self, name: str, **options: Any) -> Tool:
        # Made once for all callers, so that each is described and encoded once.
        tool: Tool = self.registry.keep(
            (name, tuple(options.items())), self.every, lambda tools: _make_tool(name, **options)
        )
        return tool

    # --- Calls of tools that are named -----------------------------------------------------------

    def redirect(self, call: CallState, runner: RunTool) -> Tool:
        """Make the call that a call of a runner names, and return its tool."""
        sent, problems = runner.read(call.arguments)
        name: Any = sent.get("name")
        if name is not None and not isinstance(name, str):
            advice = f"Send the name of a tool, as {SEARCH} gives it."
            wrong = Problem("invalid", "Must be a string.", "/name", name, remediation=advice)
            problems.insert(0, wrong)
        if problems:
            return runner.refusing(*problems)
        tool = self.every.get(name)
        if tool is None or tool.reads != (runner.name == READ):
            is_known = tool is not None and Visibility(self.caller).sees_any([tool])
            return runner.refusing(_refuse_kind(tool) if is_known else self.refuse_name(name))
        call.redirect(name, sent[INNER])
        IS_NAMED.set(call, True)
        return call.tool  # type: ignore[no-any-return]

    def refuse_name(self, name: str) -> Problem:
        if name in SEARCH_TOOLS:
            message, advice = f"{name} runs by itself.", f"Call {name} itself."
            return Problem("unknown_tool", message, "/name", remediation=advice)
        names = Visibility(self.caller).find_nearest(name, self.tools)
        find = f"ind the name with {SEARCH}."
        advice = f"{ask_nearest(names)} Else f{find}" if names else f"F{find}"
        return Problem(
            "unknown_tool",
            "There is no such tool.",
            "/name",
            name[:128],
            accepted=", ".join(names) or None,
            remediation=advice,
        )


def _refuse_kind(tool: Any) -> Problem:
    does, other = ("only reads", READ) if tool.reads else ("changes something", WRITE)
    message = f"{tool.name} {does}. Nothing was run."
    advice = f"Call {other} with the same name and arguments."
    return Problem("wrong_tool", message, "/name", tool.name, remediation=advice)


def _reaches_out(tools: Sequence[Tool]) -> bool:
    return any(tool.annotations["openWorldHint"] for tool in tools)


class SearchSource(ToolSource):
    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        is_pinned = tool.options.pinned or tool.matches(mcp_settings.PINNED_TOOLS)
        return {"_meta": {ALWAYS_LOAD: True}} if is_pinned else {}

    def shortens_list(self, view: Any) -> bool:
        return is_on(view.feature_attributes)

    def list_tools(
        self, tools: Sequence[Any], context: RequestContext, server: Any
    ) -> Sequence[Any]:
        if (search := _open_search(context, server)) is None:
            return tools
        # What another feature has added to the list is found by no search.
        added = [tool for tool in tools if tool.name not in search.every]
        # Another feature may have left out what the runners run, to call it in its own way.
        is_run = any(not tool.endpoint.is_built_in for tool in tools)
        listed = [each for each in search.listed if is_run or not isinstance(each, RunTool)]
        return [*listed, *added]

    def get_hints(self, context: RequestContext, server: Any) -> Sequence[str]:
        search = _open_search(context, server)
        return () if search is None else [search.hint]

    def find_tool(self, name: str, call: CallState) -> Tool | None:
        search = name in SEARCH_TOOLS and _open_search(call.context, call.server)
        if not search:
            return None
        tool = search.make(name)
        return search.redirect(call, tool) if isinstance(tool, RunTool) else tool


def is_on(view_attributes: Mapping[str, Any]) -> bool:
    """Return whether an endpoint lists few tools and searches the others."""
    own = view_attributes.get("tool_search")
    return bool(mcp_settings.TOOL_SEARCH if own is None else own)


def _open_search(context: Any, server: Any) -> ToolSearch | None:
    """Return what the caller sees in place of all tools, None where all are listed."""
    return ToolSearch(server, context) if is_on(server.view_attributes) else None


# --- Outcomes of tools that are named -------------------------------------------------------------


class RunGuard(Guard):
    """Says where in the arguments of a runner the problems of a call are."""

    order = 40

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        outcome, name = proceed(call), call.tool.name
        failure, page, data = outcome.failure, outcome.pagination, outcome.data
        changes: dict[str, Any] = {}
        if failure is not None and failure.problems:
            changes["failure"] = failure.with_problems(_locate_all(failure.problems))
        if any(warning.problems for warning in outcome.warnings):
            changes["warnings"] = tuple(
                replace(each, problems=_locate_all(each.problems)) for each in outcome.warnings
            )
        if page is not None and page.next is not None:
            changes["pagination"] = replace(page, next={"name": name, INNER: page.next})
        asks = failure is not None and failure.code == CONFIRMATION
        if asks and isinstance(data, Mapping) and "next" in data:
            changes["data"] = {**data, "next": {"name": name, INNER: data["next"]}}
        return outcome.changed(**changes) if changes else outcome


def _locate_all(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    prefix = JSONPointer.from_path([INNER])
    # One that is about no argument stays so. A view's own envelope may have anything there.
    return tuple(
        replace(p, pointer=prefix + p.pointer) if p.pointer and isinstance(p.pointer, str) else p
        for p in problems
    )


@register_check()
def check_search_names(project: Project) -> Iterator[CheckMessage]:
    shadowed = sorted(set(SEARCH_TOOLS) & project.tools.keys())
    if shadowed and any(each.is_shortened for each in project.endpoints):
        yield Error(
            f"The project has a tool named {', '.join(shadowed)}, which hides the "
            "tool of TOOL_SEARCH by that name.",
            hint="Give the tool another name with @mcp_tool(name=...).",
            id="drf_mcp.E017",
        )
