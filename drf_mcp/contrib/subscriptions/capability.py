"""``subscriptions/listen`` (2026-07-28, basic/patterns/subscriptions), and its stream."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async
from django.apps import apps
from django.conf import settings
from rest_framework.exceptions import APIException

from drf_mcp.access.throttles import count_once
from drf_mcp.contrib.subscriptions import bus as news
from drf_mcp.contrib.subscriptions.bus import (
    LISTS,
    Subject,
    find_bus,
    list_subjects,
    row_subject,
    sign_subject,
)
from drf_mcp.dispatch.failures import close_idle_connections, report_unexpected
from drf_mcp.exceptions import (
    InternalError,
    InvalidParams,
    MissingClientCapability,
    ProtocolError,
    attempt,
    catch,
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
from drf_mcp.interaction.stopping import StopSignal
from drf_mcp.json_text import hash_json
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.capability import MessageStream
from drf_mcp.protocol.constants import STATELESS_REVISION

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
# Seconds between two comments that keep the connection open, and after which a stream ends: the
# client listens anew, with a credential that is still valid.
KEEP_ALIVE = 15.0
LIFETIME = 900.0
UPDATED = "notifications/resources/updated"
NOTHING = b""
Result = TypeVar("Result")
# Reads for all streams of the process: a thread for each would be as many as clients that listen.
READERS = ThreadPoolExecutor(max_workers=4, thread_name_prefix="drf_mcp_subscriptions")


class Listened(NamedTuple):
    """What a client listens for.

    Attributes:
        kind: ``list``, ``uri`` (of a row), ``document`` or ``task``.
        name: the name of the list, the URI, the id of the task.
    """

    kind: str
    name: str


class Listener:
    """The stream of one client that listens.

    Args:
        capability: the `SubscriptionsCapability`.
        keys: what the client listens for, by keys of the bus.
        states: hashes of the documents that the client listens for.
    """

    def __init__(
        self,
        capability: Any,
        context: RequestContext,
        bus: news.Bus,
        keys: Mapping[str, Collection[Listened]],
        states: Mapping[Listened, str],
    ) -> None:
        self.capability = capability
        self.context = context
        self.bus = bus
        self.keys = keys
        # The state of each task and document that the client was sent last, as a hash.
        self.states = dict(states)
        self.meta = {SUBSCRIPTION_ID: context.message.id}
        # What has changed, and whether it was deleted: any number of changes is one message.
        self.heard: dict[Listened, bool] = {}
        self.free_slot: Callable[[], Any] = lambda: None

    async def get_messages(self, agreed: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the messages of the stream; an empty one keeps the connection open."""
        self.loop, self.has_heard = asyncio.get_running_loop(), asyncio.Event()
        StopSignal.wakes.add(wake := partial(self._run_soon, self.has_heard.set))
        try:
            # The thread of the request ends without closing its connections.
            await sync_to_async(close_idle_connections)()
            await _run_reading(self.bus.subscribe, self.keys, self._hear)
            # Until all processes know that a client listens.
            await asyncio.sleep(news.POLL_SECONDS)
            yield self.notify("notifications/subscriptions/acknowledged", notifications=agreed)
            until = self.loop.time() + LIFETIME
            while not StopSignal.was_sent and (left := until - self.loop.time()) > 0:
                try:
                    await asyncio.wait_for(self.has_heard.wait(), min(left, KEEP_ALIVE))
                except TimeoutError:
                    yield NOTHING
                    # No signal is sent when a worker is killed, or a file is written.
                    for subject in set().union(*self.keys.values()):
                        if subject.kind in ("task", "document"):
                            self.heard[subject] = False
                self.has_heard.clear()
                heard, self.heard = self.heard, {}
                messages = await _run_reading(self.select, heard) if heard else []
                if messages is None:
                    break
                for message in messages:
                    yield message
            result = {"resultType": "complete", "_meta": self.meta}
            yield jsonrpc.encode_result(self.context.message.id, result)
        finally:
            StopSignal.wakes.discard(wake)
            self.bus.unsubscribe(self._hear)
            self.free_slot()

    def _hear(self, news_by_key: Mapping[str, str]) -> None:
        """Note what has changed, for the stream to send; runs in the thread of the bus."""

        def note() -> None:
            for key, text in news_by_key.items():
                for subject in self.keys[key]:
                    is_deleted = text.startswith(news.DELETED)
                    self.heard[subject] = self.heard.get(subject, False) or is_deleted
            self.has_heard.set()

        self._run_soon(note)

    def _run_soon(self, function: Callable[[], Any]) -> None:
        # The loop is closed where the server has stopped.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(function)

    def select(self, heard: Mapping[Listened, bool]) -> list[bytes] | None:
        """Return the messages that the client may get, None where its rights cannot be checked.

        The stream ends then. The client listens again, and reads what may have changed.
        """
        with catch() as caught:
            # The credential, or rights of the caller, may have ended since.
            context = replace(self.context, caller=self.context.caller.renew())
            context.caller.authenticate()
            return list(self._find_messages(heard, context))
        if not isinstance(caught.exception, (APIException, ProtocolError)):
            report_unexpected(caught.exception, self.context.caller.request)
        return None

    def _find_messages(
        self, heard: Mapping[Listened, bool], context: RequestContext
    ) -> Iterator[bytes]:
        for subject, is_deleted in heard.items():
            kind, name = subject
            if kind == "list":
                yield self.notify(f"notifications/{name}/list_changed")
            elif kind == "task":
                task = self.capability.read_task(name, context)
                if task and self._is_new(subject, hash_json(task)):
                    yield self.notify("notifications/tasks", **task)
            elif kind == "document":
                content = self.capability.hash_document(name, context)
                if content and self._is_new(subject, content):
                    yield self.notify(UPDATED, uri=name)
            # Only readers of the resource learn of the update.
            elif self.capability.is_readable(name, context) or is_deleted:
                yield self.notify(UPDATED, uri=name)

    def _is_new(self, subject: Listened, state: str) -> bool:
        is_new = self.states.get(subject) != state
        self.states[subject] = state
        return is_new

    def notify(self, method: str, **params: Any) -> bytes:
        return jsonrpc.encode_message(method, {"_meta": self.meta, **params})


async def _run_reading(function: Callable[..., Result], *args: Any) -> Result:
    def read() -> Result:
        try:
            return function(*args)
        finally:
            # A cache may be a table of the database.
            close_idle_connections()

    try:
        return await sync_to_async(read, thread_sensitive=False, executor=READERS)()
    finally:
        # End the thread that asgiref keeps for the synchronous code of a request. An executor that
        # was given to the context belongs to the code that gave it.
        context = SyncToAsync.thread_sensitive_context.get(None)
        if context is not None and getattr(context, "_executor", None) is None:
            executor = SyncToAsync.context_to_thread_executor.pop(context, None)
            if executor is not None:
                executor.shutdown(wait=False)


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
        uris, ids = _read_subjects(wanted, URIS), _read_subjects(wanted, TASK_IDS)
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
        keys = attempt(lambda: list(rows.filter(**{lookup[1]: value})[:MOST_ROWS]), [])
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


def _read_subjects(wanted: Mapping[str, Any], member: str) -> list[str]:
    texts = wanted.get(member, [])
    is_list = isinstance(texts, list) and all(isinstance(each, str) for each in texts)
    if not is_list:
        raise InvalidParams(f'"{member}" must be an array of strings.')
    if len(texts) > mcp_settings.MAX_SUBJECTS:
        raise InvalidParams(str(LimitReached("MAX_SUBJECTS").detail))
    return list(dict.fromkeys(texts))


class SubscriptionsFeature(Feature):
    settings = {
        # Streams that a caller keeps open in one process.
        "MAX_STREAMS": Setting(
            20,
            Bound("%(most)s streams of yours are open. End one of them, then listen again.", 0),
        ),
        # Resources, and tasks, that one stream listens for.
        "MAX_SUBJECTS": Setting(
            100, Bound("A stream listens for at most %(most)s resources and %(most)s tasks.")
        ),
        # The alias in CACHES of the cache that carries changes to all processes: one that they
        # share, such as Redis. See docs/subscriptions.md.
        "SUBSCRIPTION_CACHE": Setting("default", CACHE),
    }
    capability_classes = ("drf_mcp.contrib.subscriptions.capability.SubscriptionsCapability",)
