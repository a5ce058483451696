"""The stream of a client that listens."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async
from rest_framework.exceptions import APIException

from drf_mcp.contrib.subscriptions import bus as news
from drf_mcp.dispatch.failures import close_idle_connections, report_unexpected
from drf_mcp.exceptions import ProtocolError, catch
from drf_mcp.features import RequestContext
from drf_mcp.json_text import hash_json
from drf_mcp.protocol import jsonrpc

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
        self.is_ending = False

    def end(self) -> None:
        """End the stream with its result; runs in any thread."""
        self.is_ending = True
        # The loop is closed where the server is stopping.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.has_heard.set)

    async def get_messages(self, agreed: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the messages of the stream; an empty one keeps the connection open."""
        self.loop, self.has_heard = asyncio.get_running_loop(), asyncio.Event()
        _end_at_signal()
        streams.add(self)
        unsubscribe: Callable[[], None] = lambda: None  # noqa: E731
        try:
            # The thread of the request ends without closing its connections.
            await sync_to_async(close_idle_connections)()
            unsubscribe = await _run_reading(self.bus.subscribe, self.keys, self._hear)
            # Until all processes know that a client listens.
            await asyncio.sleep(news.POLL_SECONDS)
            yield self.notify("notifications/subscriptions/acknowledged", notifications=agreed)
            until = self.loop.time() + LIFETIME
            while not self.is_ending and (left := until - self.loop.time()) > 0:
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
            unsubscribe()
            self.free_slot()

    def _hear(self, news_by_key: Mapping[str, str]) -> None:
        """Note what has changed, for the stream to send; runs in any thread."""

        def note() -> None:
            for key, text in news_by_key.items():
                for subject in self.keys[key]:
                    is_deleted = text.startswith(news.DELETED)
                    self.heard[subject] = self.heard.get(subject, False) or is_deleted
            self.has_heard.set()

        # The loop is closed where the server is stopping.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(note)

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


streams: weakref.WeakSet[Listener] = weakref.WeakSet()


def _end_at_signal() -> None:
    """End the streams at SIGTERM and SIGINT: the server waits for them."""
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        before = signal.getsignal(number)
        # A server without a handler of its own ends at once.
        if callable(before) and not isinstance(before, EndStreams):
            signal.signal(number, EndStreams(before))


class EndStreams:
    def __init__(self, before: Callable[..., Any]) -> None:
        self.before = before

    def __call__(self, number: int, frame: Any) -> None:
        for stream in list(streams):
            stream.end()
        self.before(number, frame)


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
