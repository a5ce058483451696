"""What an installed app adds to the endpoints of a project: see docs/features.md."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from django.apps import apps
from django.db import router
from django.utils.functional import cached_property

from drf_mcp.access.authentication import Caller
from drf_mcp.access.limits import LimitReached, held, refuse_beyond
from drf_mcp.arguments.call import Call
from drf_mcp.arguments.uploads import finding_files
from drf_mcp.interaction.exchange import Channel, Progress, Slot
from drf_mcp.option_types.installed import Setting
from drf_mcp.option_types.kinds import (
    JSON_OBJECT,
    WORDS,
    Bound,
    Choice,
    Either,
    Flag,
    Kind,
    ListOf,
    MappingOf,
    MembersOf,
    Number,
    Text,
)
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol.capability import Capability, MessageObserver, RequestContext
from drf_mcp.protocol.jsonrpc import Encoded
from drf_mcp.settings import mcp_settings, override_language

# ruff: noqa: RUF022 (in groups)
__all__ = [
    # What an app declares.
    "Feature",
    "Setting",
    "Bound",
    "Choice",
    "Either",
    "Flag",
    "Kind",
    "ListOf",
    "MappingOf",
    "MembersOf",
    "Number",
    "Text",
    "JSON_OBJECT",
    "WORDS",
    "mcp_settings",
    "override_language",
    # Around a call.
    "Call",
    "Caller",
    "CallState",
    "Guard",
    "Proceed",
    "Slot",
    "ToolSource",
    "finding_files",
    # What one owner may hold.
    "LimitReached",
    "held",
    "refuse_beyond",
    "get_rows",
    # Messages.
    "Capability",
    "Encoded",
    "MessageObserver",
    "RequestContext",
    # What people are shown.
    "AccessStep",
    "Example",
    "Safeguard",
    "ToolReview",
]


class CallState:
    """The state of one call of a tool, from its arguments to its result.

    Attributes:
        tool: the `Tool` that is called.
        arguments: the arguments that the caller sent, any JSON value.
        caller: who is calling.
        request_id: the id of the call in the log.
        context: the request message, None for a call without a message.
        sent: the request message as the client sent it, before any `redirect`.
        server: the `Server` that answers the message.
        dispatcher: the `Dispatcher` that makes the call.
        throttles: the throttles of the endpoint, which count the call.
        deadline: when the call has to end, None for no limit.
        channel: sends messages to the client while the call runs, None where that is impossible.
        progress: sends the progress of the call, None for a client that does not ask for it.
        guards: the guards of the call, the outermost first.
        response: the last response of the view as a `drf_mcp.dispatch.response.ViewResponse`, None
            before the view has answered.
        outcome: the outcome as `write` has written it, None before.
        slots: what features keep of the call: see `Slot`.
    """

    def __init__(
        self,
        tool: Any,
        arguments: Any,
        caller: Caller,
        context: RequestContext | None = None,
        server: Any = None,
    ) -> None:
        self.tool = tool
        self.arguments = arguments
        self.caller = caller
        self.context = self.sent = context
        self.server = server
        self.throttles: Sequence[Any] = () if context is None else context.throttles
        self.request_id = ""
        self.dispatcher: Any = None
        self.deadline: Any = None
        self.channel: Channel | None = getattr(caller, "channel", None)
        self.progress: Progress | None = None
        self.guards: Sequence[Guard] = ()
        self.response: Any = None
        self.outcome: Outcome | None = None
        self.slots: dict[Slot[Any], Any] = {}
        self._written: tuple[Any, Any] = (None, None)

    @cached_property
    def bound(self) -> Call:
        """The arguments as parts of the view's request.

        They are bound when a guard or the dispatcher first reads them, so that a guard can refuse
        a tool before.

        Raises:
            ArgumentsRefused: if no request can be made of the arguments.
        """
        return self.tool.bind(self.arguments, self.caller)  # type: ignore[no-any-return]

    def redirect(self, name: str, arguments: Any) -> None:
        """Call another tool instead of this one.

        Args:
            name: the name of the other tool.
            arguments: the arguments of the other tool.

        Raises:
            UnknownTool: if the server has no such tool.
        """
        assert self.context is not None
        params = {**self.context.message.params, "name": name, "arguments": arguments}
        other = self.context.for_params(self.context.message.method, params)
        # The headers of the request repeat arguments of the tool that the client called.
        self.context = dataclasses.replace(other, headers=None)
        self.arguments = arguments
        self.tool = self.server.tools_capability.get_tool(self)

    def of_item(self, bound: Call) -> CallState:
        """Return the state of one request of a call that makes several."""
        state = copy.copy(self)
        state.bound, state.arguments = bound, bound.arguments
        return state

    def write(self, outcome: Outcome) -> Any:
        """Return the result that the server sends for an outcome, as members or as `Unfinished`.

        A guard below 100 may keep the result; it then returns the same outcome.
        """
        if outcome.unfinished is not None:
            return outcome.unfinished
        if self._written[0] is not outcome:
            result, self.outcome = self.server.tools_capability.write_result(outcome, self)
            self._written = outcome, result
        return self._written[1]


def get_rows(label: str) -> Any:
    """Return the rows of a model as a queryset, in the database that they are written to.

    A feature is imported before Django loads models, so it names the model. A replica, which may
    lag behind, is never read.

    Args:
        label: such as ``"drf_mcp_tasks.CallTask"``.
    """
    model: Any = apps.get_model(label)
    return model._default_manager.using(router.db_for_write(model))


Proceed: TypeAlias = Callable[[CallState], Outcome]


class Guard:
    """Lets a call pass, refuses it, or does something before and after it.

    A guard has no state of a call; it keeps that in a `Slot`.

    Attributes:
        order: a guard with a lower number is further out: 100 for narrowings, 200 for limits, 300
            for records, 400 for the time limit, 500 for writes, 900 for tasks. Guards below 100
            get an outcome also of a call that is refused or that crashes.
        is_for_each: whether the guard also guards each request of a call that makes several.
    """

    order: ClassVar[int] = 500
    is_for_each: ClassVar[bool] = False

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        """Return ``proceed(call)``, or an outcome that replaces it."""
        return proceed(call)


class ToolSource:
    """Where tools come from, and how they are shown: a feature names its source."""

    def get_choices(self, exposure: Any, choice: Any) -> Iterable[Any]:
        """Return further tools that are made from one tool, such as figures of a list's rows.

        They are named, excluded and listed as any other.

        Args:
            exposure: the `drf_mcp.routes.exposure.Exposure` that chose the tool.
            choice: the tool as a `drf_mcp.routes.exposure.ToolChoice`: its endpoint, its options
                and its class.
        """
        return ()

    def get_tools(self, tools: Mapping[str, Any]) -> Iterable[Any]:
        """Return further tools of a registry, such as a `ServerTool`.

        Args:
            tools: the tools that are routes, by name.
        """
        return ()

    def find_tool(self, name: str, call: CallState) -> Any:
        """Return the tool of a name that the registry does not have, None for no tool.

        The source may call another tool in its place by `CallState.redirect`, and returns it.
        """
        return None

    def list_tools(
        self, tools: Sequence[Any], context: RequestContext, server: Any
    ) -> Sequence[Any]:
        """Return the tools of ``tools/list``.

        Args:
            tools: the tools that the caller is offered.
            server: the `Server` that answers.
        """
        return tools

    def shortens_list(self, view: Any) -> bool:
        """Return whether `list_tools` leaves most tools out at an endpoint.

        Args:
            view: the `MCPView`.
        """
        return False

    def get_hints(self, context: RequestContext, server: Any) -> Sequence[str]:
        """Return sentences for the instructions of the server."""
        return ()

    def get_definition_members(self, tool: Any) -> Mapping[str, Any]:
        """Return further members of the definition of a tool in ``tools/list``.

        A member ``_meta`` is added to what the tool has.
        """
        return {}

    def get_controls(self, tool: Any) -> Sequence[Any]:
        """Return the arguments of a tool that guards read, each a `Parameter`.

        ``call.bound.controls`` has what the caller sent.
        """
        return ()

    def finish_arguments(self, arguments: Any, tool: Any) -> None:
        """Change the arguments of a tool once they are known; ``arguments.items`` takes several."""


class Example(NamedTuple):
    """A call of a tool that a caller may make.

    Attributes:
        arguments: the arguments of the call.
        username: the user who may make it: "" for an anonymous caller, None where none was found.
    """

    arguments: Mapping[str, Any]
    username: str | None


class Safeguard(NamedTuple):
    """A column of ``mcp_tools risks``: what guards a tool that writes.

    Attributes:
        name: the name of the guard.
        heading: the heading of the column.
        is_on: whether the tool has the guard, None where that is not known.
        is_needed: whether the tool needs it.
        is_grave: whether the tool must not lack it.
        order: the place of the column: permissions have 0, throttles 600.
        says: what the guard does with the tool, in a few words; "" for nothing.
    """

    name: str
    heading: str
    is_on: bool | None
    is_needed: bool = True
    is_grave: bool = False
    order: int = 500
    says: str = ""


class AccessStep(NamedTuple):
    """A decision about a caller's calls of a tool, which ``mcp_tools why`` and the page show.

    Attributes:
        kind: what decides, in one word in the language of the reader.
        name: the name of what decides.
        allows: None where it depends on the call.
        says: what it decides, as the end of a sentence that begins with the name.
        needed: what would change the decision, "" if that is not known.
    """

    kind: str
    name: str
    allows: bool | None
    says: str
    needed: str = ""


class ToolReview:
    """What an app says of a tool in reports: a feature names its class."""

    def find_example(self, tool: Any, user: Any = None) -> Example | None:
        """Return a call of a tool for documentation, None for one made of the tool's schema.

        Args:
            user: who calls; None for the first user who may.
        """
        return None

    def get_access_steps(self, tool: Any, caller: Any) -> Sequence[AccessStep]:
        """Return what the app decides about a caller's calls of a tool, before any call."""
        return ()

    def get_safeguards(self, tool: Any) -> Sequence[Safeguard]:
        """Return what the app guards a tool with that writes, or could."""
        return ()


class Feature:
    """What an app adds to every endpoint.

    The app's configuration names its features:
    ``mcp_features = ["shop.features.CountsByTenant"]``. They are made once, when the apps are
    loaded, and before models are: a feature names classes by dotted paths, and imports the rest
    where a method needs it.

    Attributes:
        settings: keys of ``DRF_MCP``, each with its default and its kind.
        tool_options: options of tools, each with its default and its kind.
        view_attributes: attributes of `MCPView`, each with its default and its kind.
        capability_classes: dotted paths of capabilities of the protocol.
        tool_source: the dotted path of a class derived from `ToolSource`.
        expires: what `manage.py mcp_expire` deletes, in words with underscores, such as
            ``uploaded_files``: the label of a model whose rows have a field ``expires``, or the
            dotted path of a function that deletes and returns the number, None for nothing kept.
        gauges: what metrics count when they are read, in words with underscores, such as
            ``tasks_waiting``: the dotted path of a function that returns the number, None where it
            is not known.
        tool_reports: dotted paths of classes derived from
            `drf_mcp.management.tool_reports.ToolReport`, by the verb of `manage.py mcp_tools`
            that runs each.
        tool_review: the dotted path of a class derived from
            `ToolReview`.
        page_parts: dotted paths of classes derived from `drf_mcp.browsable.frame.PagePart`.
    """

    settings: ClassVar[Mapping[str, Setting]] = {}
    tool_options: ClassVar[Mapping[str, Setting]] = {}
    view_attributes: ClassVar[Mapping[str, Setting]] = {}
    capability_classes: ClassVar[Sequence[str]] = ()
    tool_source: ClassVar[str] = ""
    expires: ClassVar[Mapping[str, str]] = {}
    gauges: ClassVar[Mapping[str, str]] = {}
    tool_reports: ClassVar[Mapping[str, str]] = {}
    tool_review: ClassVar[str] = ""
    page_parts: ClassVar[Sequence[str]] = ()

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        """Return the guards around a call."""
        return ()

    def refuses(self, tool: Any, caller: Caller) -> bool:
        """Return whether the feature refuses every call of a tool by a caller.

        Such a tool is asked no questions on the caller's behalf, and no stored answer of it is
        given.
        """
        return False

    def observe(self, message: Any, caller: Caller) -> MessageObserver | None:
        """Return what follows a message, None for nothing.

        Args:
            message: the message; None where the door has not read one.
        """
        return None

    def get_session_headers(self, context: RequestContext) -> Mapping[str, str]:
        """Return headers of the answer to ``initialize``, which the client then sends back."""
        return {}

    def receive(self, item: Any, era: Any, headers: Any, caller: Caller) -> None:
        """Look at what a client sends before it is served.

        Args:
            item: a `Message`, which is a request or a notification, or a `ClientResponse`.
            era: the `Era` of the item.
            headers: the headers of the request, None at a door that has none.

        Raises:
            ProtocolError: if the item is refused.
        """
