"""``subscriptions/listen`` (2026-07-28, basic/patterns/subscriptions)."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.apps import apps
from django.conf import settings

from drf_mcp.access.throttles import count_once
from drf_mcp.contrib.subscriptions.bus import (
    LISTS,
    Subject,
    find_bus,
    list_subjects,
    row_subject,
    sign_subject,
)
from drf_mcp.contrib.subscriptions.listening import Listened, Listener
from drf_mcp.exceptions import (
    InternalError,
    InvalidParams,
    MissingClientCapability,
    ProtocolError,
    contain,
)
from drf_mcp.features import (
    Bound,
    Capability,
    Feature,
    Kind,
    LimitReached,
    RequestContext,
    Setting,
    held,
    mcp_settings,
)
from drf_mcp.json_text import hash_json
from drf_mcp.protocol.capability import MessageStream
from drf_mcp.protocol.constants import STATELESS_REVISION

# The member of a filter that asks for the changes of a list, by the list.
MEMBERS: Mapping[str, str] = {name: f"{name}ListChanged" for name in LISTS}
URIS = "resourceSubscriptions"
TASK_IDS = "taskIds"
# The most rows that the lookup value of one resource may name.
MOST_ROWS = 100
CACHE = Kind(
    "an alias in CACHES", lambda value: isinstance(value, str) and value in settings.CACHES
)
# As clients declare it; the app for tasks need not be installed.
TASKS_EXTENSION = "io.modelcontextprotocol/tasks"


class SubscriptionsCapability(Capability):
    """Notifies clients of changes of lists and of updates of resources.

    It needs a cache that processes share, and ASGI to keep streams open.
    """

    name = "subscriptions"
    annotates = True
    methods = {"subscriptions/listen": "listen"}
    result_members = {
        STATELESS_REVISION: {"subscriptions/listen": frozenset({"resultType", "_meta"})}
    }

    @property
    def is_on(self) -> bool:
        return self.server.is_live and find_bus() is not None

    def advertise(self, era: Any, capabilities: dict[str, Any]) -> None:
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
        listener, agreed = self._make_listener(count_once(context))
        return MessageStream(listener.get_messages(agreed))

    def _make_listener(self, context: RequestContext) -> tuple[Listener, dict[str, Any]]:
        wanted = context.message.params.get("notifications")
        if not isinstance(wanted, Mapping):
            raise InvalidParams('The params must hold "notifications", an object.')
        if TASK_IDS in wanted and not context.has_extension(TASKS_EXTENSION):
            raise MissingClientCapability({"extensions": {TASKS_EXTENSION: {}}})
        offered = self.server.find_offered(context.era)
        lists = [n for n in LISTS if wanted.get(MEMBERS[n]) is True and n in offered]
        agreed: dict[str, Any] = {MEMBERS[name]: True for name in lists}
        uris, ids = _read_texts(wanted, URIS), _read_texts(wanted, TASK_IDS)
        user_pk = getattr(context.caller.authenticate().user, "pk", None)
        keys: dict[str, set[Listened]] = {}
        states: dict[Listened, str] = {}

        def listen(kind: str, name: str, subjects: Iterable[Subject]) -> None:
            for subject in subjects:
                keys.setdefault(sign_subject(subject), set()).add(Listened(kind, name))

        for name in lists:
            listen("list", name, [("list", name, "*"), *list_subjects([user_pk], [name])])
        for uri in uris:
            if rows := self._find_rows(uri, context):
                listen("uri", uri, [("uri", uri), *rows])
            elif content := self.hash_document(uri, context):
                listen("document", uri, [("uri", uri)])
                states[Listened("document", uri)] = content
        for task_id in ids:
            if self.read_task(task_id, context) is not None:
                listen("task", task_id, [("task", task_id)])
        known = {each.name for about in keys.values() for each in about if each.kind != "list"}
        if found := [uri for uri in uris if uri in known]:
            agreed[URIS] = found
        if found := [each for each in ids if each in known]:
            agreed[TASK_IDS] = found
        bus = find_bus()
        assert bus is not None
        listener = Listener(self, context, bus, keys, states)
        # The stream counts until it is deleted, read or unread, or has ended.
        give_back = held.take("MAX_STREAMS", context.caller.holder)
        listener.free_slot = weakref.finalize(listener, give_back)
        return listener, agreed

    def _find_rows(self, uri: str, context: RequestContext) -> list[Subject]:
        """Return the rows that a resource may show, [] where the caller cannot read it.

        A list cannot be listened for: to know what the caller sees of it, it would have to be
        read after each change of its table.
        """
        try:
            if not self.is_readable(uri, context):
                return []
        except InternalError:
            return []
        resource = self.resources.find(uri, context)
        lookup = resource.find_lookup() if hasattr(resource, "find_lookup") else None
        if lookup is None:
            return []
        model, (value,) = apps.get_model(lookup[0]), resource.path_kwargs.values()
        # The view chooses between rows of one name, such as rows of several tenants.
        rows = model._base_manager.values_list("pk", flat=True)
        keys = contain(lambda: list(rows.filter(**{lookup[1]: value})[:MOST_ROWS]), lambda exc: [])
        return [row_subject(model._meta.concrete_model, key) for key in keys]

    def hash_document(self, uri: str, context: RequestContext) -> str | None:
        if self.resources is None:
            return None
        try:
            found = self.resources.find(uri, context)
            return hash_json(found.read()) if hasattr(found, "read") else None
        except (ProtocolError, OSError):
            return None

    def read_task(self, task_id: str, context: RequestContext) -> Any:
        tasks = self.server.find_capability(TASKS_EXTENSION)
        if tasks is None or not tasks.is_on:
            return None
        params = {"taskId": task_id}
        return _ask(lambda: tasks.find_task(context.for_params("tasks/get", params)))

    @property
    def resources(self) -> Any:
        return self.server.find_capability("resources")

    def is_readable(self, uri: str, context: RequestContext) -> bool:
        if (resources := self.resources) is None:
            return False
        read = context.for_params("resources/read", {"uri": uri})
        return _ask(lambda: resources.read_resource(read)) is not None


def _ask(read: Callable[[], Any]) -> Any:
    """Return what is read for a caller, None where the caller is refused it."""
    try:
        return read()
    except InternalError:
        raise
    except ProtocolError:
        return None


def _read_texts(wanted: Mapping[str, Any], member: str) -> list[str]:
    texts = wanted.get(member, [])
    is_list = isinstance(texts, list) and all(isinstance(each, str) for each in texts)
    if not is_list:
        raise InvalidParams(f'"{member}" must be an array of strings.')
    if len(texts) > mcp_settings.MAX_SUBJECTS:
        raise InvalidParams(str(LimitReached("MAX_SUBJECTS").detail))
    return list(dict.fromkeys(texts))


class SubscriptionsFeature(Feature):
    settings = {
        # Streams that a caller keeps open in one process. For clients that open a stream for each
        # window.
        "MAX_STREAMS": Setting(
            20,
            Bound("%(most)s streams of yours are open. End one of them, then listen again.", 0),
        ),
        # Resources, and tasks, that one stream listens for. For clients that watch long lists.
        "MAX_SUBJECTS": Setting(
            100, Bound("A stream listens for at most %(most)s resources and %(most)s tasks.")
        ),
        # The alias in CACHES of the cache that carries changes to all processes: one that they
        # share, such as Redis. With a cache of one process no client can listen. See
        # docs/subscriptions.md. For a default cache that processes do not share.
        "SUBSCRIPTION_CACHE": Setting("default", CACHE),
    }
    capability_classes = ("drf_mcp.contrib.subscriptions.capability.SubscriptionsCapability",)
