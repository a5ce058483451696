"""What an endpoint lists in place of many tools, and the calls of those that it does not list."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.access.authentication import Caller
from drf_mcp.contrib.search import SEARCH_TOOLS
from drf_mcp.contrib.search.tool_index import ToolIndex
from drf_mcp.contrib.search.tools import INNER, SEARCH, RunTool, make_tool
from drf_mcp.contrib.search.views import INDEX, READ, WRITE
from drf_mcp.dispatch.visibility import Visibility
from drf_mcp.exceptions import contain
from drf_mcp.features import CallState
from drf_mcp.json_text import JSONPointer
from drf_mcp.option_types.spelling import ask_nearest
from drf_mcp.outcomes import Failure, Outcome, Problem
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.errors import ArgumentsRefused
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")

CONFIRMATION = "CONFIRMATION_REQUIRED"


class ToolSearch:
    """What one caller sees of an endpoint which does not list all of its tools.

    Args:
        server: the `Server` of the endpoint.
        context: the request of the caller.
        pinned: patterns as those of INCLUDE of the tools that are listed.
    """

    def __init__(self, server: Any, context: RequestContext, pinned: Sequence[str] = ()) -> None:
        self.capability = server.tools_capability
        self.context = context
        self.patterns = tuple(pinned)
        self.registry: Any = server.registry
        self.caller: Caller = context.caller

    @classmethod
    def of(cls, server: Any, context: RequestContext) -> ToolSearch | None:
        """Return what the caller sees in place of all tools, None where all are listed."""
        if not is_on(server.view_attributes):
            return None
        pinned = server.view_attributes.get("pinned")
        return cls(server, context, mcp_settings.PINNED_TOOLS if pinned is None else pinned)

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools that the caller, who is authenticated for it, is offered."""
        tools: Mapping[str, Tool] = self.capability.get_offered_tools(self.context)
        return tools

    @cached_property
    def every(self) -> Mapping[str, Tool]:
        """The tools that can be named, whether the caller is offered them or not."""
        tools: Mapping[str, Tool] = self.capability.get_tools(self.context)
        return tools

    @property
    def pinned(self) -> Sequence[Tool]:
        """The tools that are listed as they are."""

        def find(tools: Mapping[str, Tool]) -> Sequence[Tool]:
            return [t for t in tools.values() if is_pinned(t) or t.matches(self.patterns)]

        pinned: Sequence[Tool] = self.registry.keep(("pinned", self.patterns), self.tools, find)
        return pinned

    @property
    def hint(self) -> str:
        """The sentences of the instructions."""
        return _(
            "Few of them are listed: %(search)s finds the others, and without a query what there "
            "is. Run a tool by its name, with its own arguments in `%(arguments)s`: %(read)s runs "
            "those that read, %(write)s those that change something. So run what answers name, too."
        ) % {"search": SEARCH, "arguments": INNER, "read": READ, "write": WRITE}

    @property
    def listed(self) -> list[Tool]:
        """What is listed: the tools that search and run others, and those that are pinned."""
        return [*self.find_own(), *self.pinned]

    def find_own(self) -> Iterator[Tool]:
        """Yield those of the three tools that are of use to the caller, with their hints."""
        own = [tool for tool in self.tools.values() if not tool.endpoint.is_built_in]
        reads = [tool for tool in own if tool.reads]
        writes = [tool for tool in own if not tool.reads]
        destroying = [tool for tool in writes if tool.annotations["destructiveHint"]]
        # Of each the first that the caller sees is enough.
        is_destructive = self.sees_any(destroying)
        can_write = is_destructive or self.sees_any(writes)
        can_read = self.sees_any(reads)
        if can_read or can_write:
            yield self.make(SEARCH)
        if can_read:
            yield self.make(READ, open_world=self.reaches_out(reads))
        if can_write:
            yield self.make(WRITE, destructive=is_destructive, open_world=self.reaches_out(writes))

    def sees_any(self, tools: Sequence[Tool]) -> bool:
        return bool(Visibility(self.caller).find_first(tools, 1))

    def reaches_out(self, tools: Sequence[Tool]) -> bool:
        return any(tool.annotations["openWorldHint"] for tool in tools)

    def make(self, name: str, **options: Any) -> Tool:
        # Made once for all callers, so that each is described and encoded once.
        tool: Tool = self.registry.keep(
            (name, tuple(options.items())), self.every, lambda tools: make_tool(name, **options)
        )
        return tool

    def find(self, name: str) -> Tool | None:
        """Return the one of the three tools that has a name, None if none has it."""
        if name not in SEARCH_TOOLS:
            return None
        return self.make(name)

    # --- Calls of tools that are named -----------------------------------------------------------

    def redirect(self, call: CallState) -> None:
        """Give a call of ``tools_search`` what it searches; make the call that another names."""
        runner, _context = call.tool, self.context
        if not isinstance(runner, RunTool):
            INDEX.set(call, ToolIndex(self.registry, self.tools, self.caller))
            return
        try:
            name, arguments = runner.read(call.arguments)
        except ArgumentsRefused as exc:
            call.tool = runner.refusing(*exc.problems)
            return
        tool = self.every.get(name)
        if tool is None or tool.reads != (runner.name == READ):
            if tool is not None and self.sees_any([tool]):
                problem = self.refuse_kind(tool)
            else:
                problem = self.refuse_name(name)
            call.tool = runner.refusing(problem)
            return
        call.redirect(name, arguments)
        call.locate = RedirectedOutcome(self, name).locate

    def refuse_name(self, name: str) -> Problem:
        if name in SEARCH_TOOLS:
            message = _("%(tool)s runs by itself.") % {"tool": name}
            advice = _("Call %(tool)s itself.") % {"tool": name}
            return Problem("unknown_tool", message, "/name", remediation=advice)
        names = Visibility(self.caller).find_nearest(name, self.tools)
        advice = _("Find the name with %(search)s.") % {"search": SEARCH}
        if names:
            otherwise = _("Else find the name with %(search)s.") % {"search": SEARCH}
            advice = f"{ask_nearest(names)} {otherwise}"
        return Problem(
            "unknown_tool",
            _("There is no such tool."),
            "/name",
            name[:128],
            accepted=", ".join(names) or None,
            remediation=advice,
        )

    def refuse_kind(self, tool: Tool) -> Problem:
        other, message = WRITE, _("%(tool)s changes something. Nothing was run.")
        if tool.reads:
            other, message = READ, _("%(tool)s only reads. Nothing was run.")
        return Problem(
            "wrong_tool",
            message % {"tool": tool.name},
            "/name",
            tool.name,
            remediation=_("Call %(tool)s with the same name and arguments.") % {"tool": other},
        )


class RedirectedOutcome:
    """Puts the outcome of a tool in terms of the call that named the tool.

    Args:
        search: what the caller sees of the endpoint.
        name: the tool.
    """

    def __init__(self, search: ToolSearch, name: str) -> None:
        self.search = search
        self.name = name

    def locate(self, outcome: Outcome) -> Outcome:
        """Return the outcome in terms of the arguments that were sent."""

        def go_without(exc: Exception) -> dict[str, Any]:
            logger.warning(
                "The answer of %s cannot be fitted to what was sent", outcome.tool, exc_info=exc
            )
            return {}

        # What a view's own envelope says may look like ours.
        changes = contain(lambda: self.find_changes(outcome), go_without)
        return outcome.changed(**changes) if changes else outcome

    def find_changes(self, outcome: Outcome) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        failure, page = outcome.failure, outcome.pagination
        if failure is not None and failure.problems:
            changes["failure"] = self.locate_failure(failure)
        if any(warning.problems for warning in outcome.warnings):
            changes["warnings"] = tuple(
                replace(warning, problems=self.locate_all(warning.problems))
                for warning in outcome.warnings
            )
        if page is not None and page.next is not None:
            changes["pagination"] = replace(page, next=self.wrap(page.next))
        asks = failure is not None and failure.code == CONFIRMATION
        if asks and isinstance(outcome.data, Mapping) and "next" in outcome.data:
            data = {**outcome.data, "next": self.wrap(outcome.data["next"])}
            changes |= {"data": data, "body": {**outcome.body, "data": data}}
        if "undo" in outcome.meta:
            changes["meta"] = {**outcome.meta, "undo": self.wrap_undo(outcome.meta["undo"])}
        return changes

    def locate_failure(self, failure: Failure) -> Failure:
        # The message names the first argument.
        first, *_ = problems = self.locate_all(failure.problems)
        path, message = failure.problems[0].path, failure.message
        if path and message.startswith(f"{path}: "):
            message = first.path + message.removeprefix(path)
        return replace(failure, message=message, problems=problems)

    def locate_all(self, problems: Sequence[Problem]) -> tuple[Problem, ...]:
        # One that is about no argument stays so.
        prefix = JSONPointer.from_path([INNER])
        return tuple(replace(p, pointer=prefix + p.pointer) if p.pointer else p for p in problems)

    def wrap(self, arguments: Mapping[str, Any], name: str = "") -> dict[str, Any]:
        return {"name": name or self.name, INNER: arguments}

    def wrap_undo(self, undo: Any) -> Any:
        if undo is None:
            return None
        if isinstance(undo, list):
            return [self.wrap_undo(step) for step in undo]
        runner = READ if self.search.tools[undo["tool"]].reads else WRITE
        return {**undo, "tool": runner, "arguments": self.wrap(undo["arguments"], undo["tool"])}


def is_pinned(tool: Tool) -> bool:
    return bool(tool.options.pinned or tool.endpoint.is_built_in)


def is_on(view_attributes: Mapping[str, Any]) -> bool:
    """Return whether an endpoint lists few tools and searches the others."""
    own = view_attributes.get("tool_search")
    return bool(mcp_settings.TOOL_SEARCH if own is None else own)
