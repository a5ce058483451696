"""``subscriptions/listen`` (2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from drf_mcp.access.limits import count_once, get_address
from drf_mcp.contrib.subscriptions.bus import LISTS, get_bus
from drf_mcp.contrib.subscriptions.listening import STREAM_SLOTS, Listener
from drf_mcp.exceptions import (
    InternalError,
    InvalidParams,
    MissingClientCapability,
    ProtocolError,
)
from drf_mcp.protocol import Capability, Era
from drf_mcp.protocol.constants import STATELESS_REVISION, TASKS_EXTENSION
from drf_mcp.protocol.context import MessageStream, RequestContext

# The member of a filter that asks for the changes of a list, by the list.
MEMBERS: Mapping[str, str] = {name: f"{name}ListChanged" for name in LISTS}
URIS = "resourceSubscriptions"
# The tasks extension sends no notifications here: clients call tasks/get.
TASK_IDS = "taskIds"
MAX_URIS = 100
# A model's label, a field and the text of its value.
Row = tuple[str, str, str]


class SubscriptionsCapability(Capability):
    """Notifies clients of changes of lists and of updates of resources.

    It needs SUBSCRIPTION_BUS_CLASS, and ASGI to keep streams open.

    Attributes:
        max_streams: how many streams a caller may keep open in one process.
    """

    max_streams = 20
    name = "subscriptions"
    annotates = True
    methods = {"subscriptions/listen": "listen"}
    result_members = {
        STATELESS_REVISION: {"subscriptions/listen": frozenset({"resultType", "_meta"})}
    }

    @property
    def is_on(self) -> bool:
        """Whether clients can listen."""
        return self.server.is_live and get_bus() is not None

    def advertise(self, era: Era, capabilities: dict[str, Any]) -> None:
        # The capabilities of the lists and of resources say that clients can listen.
        if not self.is_on or era.revision not in self.result_members:
            return
        for name in LISTS:
            if name in capabilities:
                capabilities[name] = {**capabilities[name], "listChanged": True}
        if "resources" in capabilities:
            capabilities["resources"]["subscribe"] = True

    def listen(self, context: RequestContext) -> MessageStream:
        # The throttles count this message, and nothing that the stream reads later.
        listener, agreed = self.make_listener(count_once(context))
        return MessageStream(listener.get_messages(agreed))

    def make_listener(self, context: RequestContext) -> tuple[Listener, dict[str, Any]]:
        wanted = context.message.params.get("notifications")
        if not isinstance(wanted, Mapping):
            raise InvalidParams(_('The params must hold "notifications", an object.'))
        if TASK_IDS in wanted and not context.has_extension(TASKS_EXTENSION):
            raise MissingClientCapability({"extensions": {TASKS_EXTENSION: {}}})
        offered = self.server.get_offered(context.era)
        lists = [n for n in LISTS if wanted.get(MEMBERS[n]) is True and n in offered]
        agreed: dict[str, Any] = {MEMBERS[name]: True for name in lists}
        rows = self.find_rows(wanted.get(URIS, []), context)
        if rows:
            agreed[URIS] = list(rows)
        bus = get_bus()
        assert bus is not None
        caller = context.caller
        slot = STREAM_SLOTS.take(caller.principal or get_address(caller.request), self.max_streams)
        return Listener(self, context, bus, frozenset(lists), rows, slot), agreed

    def find_rows(self, uris: Any, context: RequestContext) -> dict[str, Row]:
        """Return the rows of the URIs that the caller can read, by URI.

        Other resources than rows cannot be listened for: no signal announces their changes.

        Raises:
            InvalidParams: if the URIs are not a list of strings, or more than 100.
        """
        is_list = isinstance(uris, list) and all(isinstance(uri, str) for uri in uris)
        if not is_list or len(uris) > MAX_URIS:
            message = _('"%(member)s" must be an array of at most %(count)d URIs.')
            raise InvalidParams(message % {"member": URIS, "count": MAX_URIS})
        found = {uri: self.find_row(uri, context) for uri in dict.fromkeys(uris)}
        return {uri: row for uri, row in found.items() if row is not None}

    def find_row(self, uri: str, context: RequestContext) -> Row | None:
        if self.resources is None:
            return None
        try:
            resource = self.resources.find(uri, context)
            row = resource.find_row() if hasattr(resource, "find_row") else None
            return row if row and self.is_readable(uri, context) else None
        except ProtocolError:
            return None

    @property
    def resources(self) -> Any:
        return self.server.find_capability("resources")

    def is_readable(self, uri: str, context: RequestContext) -> bool:
        """Return whether the caller can read a resource, by reading it.

        Raises:
            InternalError: if reading it fails.
        """
        if self.resources is None:
            return False
        try:
            self.resources.read_resource(context.for_params("resources/read", {"uri": uri}))
        except InternalError:
            raise
        except ProtocolError:
            return False
        return True
