from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from rest_framework.permissions import AllowAny

from drf_mcp.calls.budget import ToolBudget
from drf_mcp.calls.results import (
    ResultWriter,
    choose_envelope_class,
    get_output_schema,
    make_envelope,
)
from drf_mcp.calls.summaries import write_instructions
from drf_mcp.dispatch.content import encode_data
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.dispatch.response import new_request_id
from drf_mcp.dispatch.visibility import Visibility, is_open
from drf_mcp.envelopes import Envelope, parse_own_envelope
from drf_mcp.exceptions import InvalidParams, ProtocolError, UnknownTool, catch
from drf_mcp.features import CallState
from drf_mcp.interaction.exchange import Progress, Slot
from drf_mcp.json_text import to_bytes
from drf_mcp.observability.records import record_call
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Capability, Encoded, Era
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.protocol.constants import CACHE_MEMBERS
from drf_mcp.protocol.eras import Unfinished
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings, override_language
from drf_mcp.truncation import RETRIEVAL_TOOL

# The key in the ``_meta`` of a list for the names of its narrowings and the number of hidden tools.
NARROWING_KEY = "io.github.drf-mcp/narrowing"
LIST = frozenset({"tools", "nextCursor", "_meta"})
CALL = frozenset({"content", "isError", "_meta"})
STRUCTURED_CALL = CALL | {"structuredContent"}


class ToolDispatcher(Dispatcher):
    recognize = staticmethod(parse_own_envelope)


class ToolsCapability(Capability):
    """Lists the tools that a caller may call, and calls them (2026-07-28, server/tools)."""

    name = "tools"
    methods = {"tools/list": "list_tools", "tools/call": "call_tool"}
    name_parameters = {"tools/call": "name"}
    result_members = {
        "2025-06-18": {"tools/list": LIST, "tools/call": STRUCTURED_CALL},
        "2025-11-25": {"tools/list": LIST, "tools/call": STRUCTURED_CALL},
        "2026-07-28": {
            "tools/list": LIST | CACHE_MEMBERS | {"resultType"},
            "tools/call": STRUCTURED_CALL | {"resultType"},
        },
    }

    def get_tools(self, context: RequestContext) -> Mapping[str, Tool]:
        """Return the tools of a request by name; others are neither listed nor called.

        Narrowings and the permissions of the views may take further tools away.
        """
        server = self.server
        tools: Mapping[str, Tool] = server.registry.tools(context.urlconf, server.tool_options)
        return tools

    def find_offered_tools(self, context: RequestContext) -> Mapping[str, Tool]:
        """Return the tools that no narrowing takes away; this authenticates the caller."""
        context.caller.authenticate()
        tools, registry = self.get_tools(context), self.server.registry
        offered: Mapping[str, Tool] = registry.narrow(tools, context.caller.narrowings)
        return offered

    def get_envelope_class(self, tool: Tool) -> type[Envelope]:
        """Return the envelope class of a tool: its own, the endpoint's or the project's."""
        return choose_envelope_class(tool, self.server.envelope_class)

    def get_envelope(self, tool: Tool) -> Envelope:
        """Return the envelope of a tool's results."""
        envelope_class, force = self.get_envelope_class(tool), self.server.force_envelope
        return make_envelope(force(envelope_class) if force else envelope_class)

    def make_dispatcher(self) -> Dispatcher:
        """Return the dispatcher, which calls the views."""
        return ToolDispatcher()

    def make_budget(self, tool: Tool, context: RequestContext) -> ToolBudget:
        """Return the budget of one call's result."""
        message = context.message
        arguments = message.params.get("arguments")
        budget: ToolBudget = mcp_settings.BUDGET_CLASS(
            tool, arguments, context.caller, self.server.registry, message.meta
        )
        return budget

    @override_language()
    def get_instructions(self, context: RequestContext) -> str:
        """Return what the tools that the caller sees are about, and how to use them."""
        tools = self.find_offered_tools(context).values()
        hinting = features.hooks["get_hints"]
        hints = [hint for get_hints in hinting for hint in get_hints(context, self.server)]
        return write_instructions(self.find_visible(tools, context), hints)

    # --- tools/list -----------------------------------------------------------------------

    def list_tools(self, context: RequestContext) -> dict[str, Any]:
        """Answer ``tools/list``: a page of the tools that the caller may call."""
        offered = self.find_offered_tools(context)
        # Read after find_offered_tools, since a credential may have a narrowing.
        params, narrowings = context.message.params, context.caller.narrowings
        tools = self.find_listed_tools(tuple(offered.values()), context)
        visibility = Visibility(context.caller)

        def see(start: int, most: int | None) -> Sequence[Tool]:
            # Permissions are asked only for the tools of the page.
            later = tools[start:]
            return visibility.of(later) if most is None else visibility.find_first(later, most)

        size = mcp_settings.TOOLS_PAGE_SIZE
        page, following = context.cut_page(tools, size, attrgetter("name"), see)
        members: dict[str, Any] = {"tools": Encoded(self.write_definitions(page, context.era))}
        if following is not None:
            members["nextCursor"] = following
        if self.is_public(tuple(offered.values()), context):
            members["cacheScope"] = "public"
        if narrowings and "cursor" not in params:
            # Tools that the caller must not see do not count as hidden.
            taken = [tool for name, tool in self.get_tools(context).items() if name not in offered]
            labels = list(dict.fromkeys(narrowing.source for narrowing in narrowings))
            hidden = len(self.find_visible(taken, context))
            members["_meta"] = {NARROWING_KEY: {"by": labels, "hidden": hidden}}
        return members

    def find_listed_tools(self, tools: Sequence[Tool], context: RequestContext) -> Sequence[Tool]:
        """Return the tools offered to the caller that the list shows."""
        for list_tools in features.hooks["list_tools"]:
            tools = list_tools(tools, context, self.server)
        return tools

    def find_visible(self, tools: Iterable[Tool], context: RequestContext) -> Sequence[Tool]:
        """Return the tools that the caller sees."""
        return Visibility(context.caller).of(tools)

    def is_public(self, tools: tuple[Tool, ...], context: RequestContext) -> bool:
        """Return whether everybody sees all of these tools, and shared caches may keep them."""
        caller = context.caller
        endpoint_open = all(p is AllowAny for p in caller.permission_classes)
        return endpoint_open and not caller.narrowings and all(map(is_open, tools))

    def write_definitions(self, tools: Sequence[Tool], era: Era) -> bytes:
        """Return the definitions of tools as a JSON array."""
        for tool in tools:
            tool.renew()
        return b"[%b]" % b",".join([self.get_definition(tool, era) for tool in tools])

    def get_definition(self, tool: Tool, era: Era) -> bytes:
        """Return the definition of a tool as JSON, with the members that an era has."""
        envelope = self.get_envelope(tool)
        key = era.revision, type(envelope), mcp_settings.OUTPUT_SCHEMA
        if key not in tool.definitions:
            # In the project's own language, not the first caller's.
            with override_language():
                definition = tool.definition(get_output_schema(tool, envelope))
            tool.definitions[key] = to_bytes(encode_data(era.tool_members(definition)))
        return tool.definitions[key]

    # --- tools/call -----------------------------------------------------------------------

    def call_tool(self, context: RequestContext) -> dict[str, Any] | Unfinished:
        """Answer a call of a tool: the stages 5 to 8 of `Server.handle_body`.

        The dispatcher has guards and view answer, and `write_result` gives the outcome the shape
        of the tool's envelope.
        """
        started = time.perf_counter()
        call, outcome = self.make_call(context)
        result: dict[str, Any] | Unfinished = call.write(outcome)
        if isinstance(result, Unfinished):
            record_call(call.context or context, call.tool, outcome, {}, started)
            return result
        outcome = call.outcome or outcome
        record_call(call.context or context, call.tool, outcome, result, started)
        if outcome.failure is not None and outcome.failure.scopes:
            raise context.caller.make_scope_error(outcome.failure.scopes)
        return result

    def call_within(self, context: RequestContext, slots: Mapping[Slot[Any], Any]) -> Outcome:
        """Return the outcome of a call that another call makes: see `Server.call_within`."""
        started = time.perf_counter()
        call, outcome = self.make_call(context, slots)
        record_call(context, call.tool, outcome, {}, started)
        return outcome

    def make_call(
        self, context: RequestContext, slots: Mapping[Slot[Any], Any] | None = None
    ) -> tuple[CallState, Outcome]:
        """Return the call that a message asks for, and its outcome.

        Args:
            slots: what the call has in slots of features before it is made.
        """
        arguments = context.message.params.get("arguments")
        call = CallState(None, arguments, context.caller, context, self.server)
        call.slots.update(slots or {})
        call.tool = self.get_tool(call)
        if call.channel is not None:
            call.progress = Progress.wanted(context.message.meta, call.channel)
        outcome = self.check_request(call) or self.make_dispatcher().dispatch(call)
        return call, outcome

    def find_result_limit(self, call: CallState) -> int | None:
        """Return the most tokens of a result that comes in slices, None for any number."""
        assert call.context is not None
        budget = self.make_budget(call.tool, call.context)
        return budget.get_limit(Outcome(call.tool.name, 200))

    def write_result(self, outcome: Outcome, call: CallState) -> tuple[dict[str, Any], Outcome]:
        # In place of an outcome that cannot be written as JSON, a failure is written.
        context = call.context
        assert context is not None
        budget = self.make_budget(call.tool, context)
        writer = ResultWriter(self.get_envelope(call.tool), context.era, context.client_name)
        tool, labels = call.tool, dict(outcome.result_meta)

        result: dict[str, Any] | None = None
        with catch() as caught:
            result = writer.write(outcome, budget)
        if result is None:
            exc = caught.exception
            failure = self.make_dispatcher().make_crash_outcome(call, context.caller.request, exc)
            failure = writer.explain(failure, outcome, exc)
            if outcome.is_trial:
                failure = failure.changed(is_trial=True, meta=outcome.meta)
            result, outcome = ResultWriter(writer.envelope, context.era).write(failure), failure
        if outcome.failure is None or not outcome.is_error:
            if tool.name == RETRIEVAL_TOOL and isinstance(outcome.data, Mapping):
                # Content of a shortened result has the labels of the tool that made the result.
                tool = self.get_tools(context).get(outcome.data.get("tool", ""), tool)
            labels.update(tool.hints.result_meta if tool.options.untrusted else {})
        if labels:
            result["_meta"] = {**result.get("_meta", {}), **labels}
        return result, outcome

    def check_request(self, call: CallState) -> Outcome | None:
        """Check the headers and the client's capabilities that a tool wants.

        Returns:
            The outcome for a caller who may not call the tool, and so learns nothing of them.

        Raises:
            ProtocolError: if the message lacks one of them.
        """
        tool, context = call.tool, call.context
        if context is None or not (tool.header_parameters or tool.options.required_capabilities):
            return None
        try:
            context.check_headers(tool.header_parameters)
            context.check_capabilities(tool.options.required_capabilities or {})
        except ProtocolError:
            if refused := self.make_dispatcher().find_permission_refusal(call):
                return refused.changed(request_id=new_request_id())
            raise
        return None

    def get_tool(self, call: CallState) -> Tool:
        """Return the tool that a call names, as the caller's narrowings leave it.

        Raises:
            UnknownTool: if there is none; the error has the nearest names that the caller sees.
        """
        context = call.context
        assert context is not None
        name = context.message.params.get("name")
        if type(name) is not str:
            raise InvalidParams('The params of tools/call must name a tool: "name", a string.')
        tools = self.get_tools(context)
        if (tool := tools.get(name)) is None:
            found = (find_tool(name, call) for find_tool in features.hooks["find_tool"])
            if other := next(filter(None, found), None):
                return other  # type: ignore[no-any-return]
            offered = self.find_offered_tools(context)
            raise UnknownTool.named(name, Visibility(context.caller).find_nearest(name, offered))
        if not (narrowings := context.caller.narrowings):
            return tool
        # A guard refuses a tool that a narrowing takes away, and says why.
        return self.server.registry.narrow(tools, narrowings).get(name, tool)  # type: ignore[no-any-return]
