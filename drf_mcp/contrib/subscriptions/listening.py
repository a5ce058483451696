from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections
from django.utils.translation import gettext as _

from drf_mcp.contrib.subscriptions.bus import Bus, sign_value
from drf_mcp.exceptions import InternalError, Refused
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.context import RequestContext

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
# Seconds between two comments that keep the connection open, and after which a stream ends: the
# client listens anew, with a credential that is still valid.
KEEP_ALIVE = 15.0
LIFETIME = 900.0
NOTHING = b""


class StreamSlots:
    """Counts the open streams of each owner."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        self.lock = threading.Lock()

    def take(self, owner: str, most: int) -> StreamSlot:
        """Return a slot for one more stream.

        Raises:
            Refused: if the owner has as many streams as they may have (HTTP 429).
        """
        with self.lock:
            if self.taken[owner] >= most:
                text = _("%(count)d streams of yours are open. End one of them, then listen again.")
                raise Refused(429, text % {"count": most})
            self.taken[owner] += 1
        return StreamSlot(self, owner)

    def free(self, owner: str) -> None:
        with self.lock:
            self.taken[owner] -= 1
            if not self.taken[owner]:
                del self.taken[owner]


class StreamSlot:
    """The slot of one stream, which is freed when the stream ends or is deleted unread."""

    def __init__(self, slots: StreamSlots, owner: str) -> None:
        self.free = weakref.finalize(self, slots.free, owner)


STREAM_SLOTS = StreamSlots()


class Listener:
    """The stream of one client that listens.

    Args:
        capability: the `SubscriptionsCapability`.
        lists: the lists whose changes the client listens for.
        rows: the rows whose updates the client listens for, as `RouteResource.find_row` returns
            them, by URI.
        slot: the slot of the stream, which is freed at its end.
    """

    def __init__(
        self,
        capability: Any,
        context: RequestContext,
        bus: Bus,
        lists: frozenset[str],
        rows: Mapping[str, tuple[str, str, str]],
        slot: StreamSlot,
    ) -> None:
        self.slot = slot
        self.capability = capability
        self.context = context
        self.bus = bus
        self.lists = lists
        self.rows = rows
        self.meta = {SUBSCRIPTION_ID: context.message.id}

    async def get_messages(self, agreed: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the messages of the stream; an empty one keeps the connection open."""
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[str] = asyncio.Queue()
        end = self.bus.subscribe(lambda text: loop.call_soon_threadsafe(queue.put_nowait, text))
        try:
            await sync_to_async(self.begin)()
            yield self.notify("notifications/subscriptions/acknowledged", notifications=agreed)
            until = loop.time() + LIFETIME
            while (left := until - loop.time()) > 0:
                try:
                    text = await asyncio.wait_for(queue.get(), min(left, KEEP_ALIVE))
                except asyncio.TimeoutError:
                    yield NOTHING
                    continue
                try:
                    messages = await sync_to_async(self.select)(json.loads(text))
                except InternalError:
                    # Whether the client may know of the update is unknown. It has to listen anew,
                    # and to read again what may have changed.
                    break
                for message in messages:
                    yield message
            result = {"resultType": "complete", "_meta": self.meta}
            yield jsonrpc.encode_result(self.context.message.id, result)
        finally:
            end()
            self.slot.free()

    def begin(self) -> None:
        self.release_connections()
        # The client gets the confirmation once the bus delivers.
        self.bus.wait()

    @staticmethod
    def release_connections() -> None:
        # A stream waits most of the time, and must not hold connections meanwhile.
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()

    def select(self, news: Mapping[str, Any]) -> list[bytes]:
        try:
            return list(self.find_messages(news))
        finally:
            self.release_connections()

    def find_messages(self, news: Mapping[str, Any]) -> Iterator[bytes]:
        user = self.context.caller.authenticate().user
        if news.get("user") in (None, str(getattr(user, "pk", ""))):
            for name in self.lists.intersection(news.get("lists", ())):
                yield self.notify(f"notifications/{name}/list_changed")
        for uri, row in self.rows.items():
            if not is_about(news, uri, row):
                continue
            # Only readers of the resource learn of the update.
            if self.capability.is_readable(uri, self.context) or news.get("deleted"):
                yield self.notify("notifications/resources/updated", uri=uri)

    def notify(self, method: str, **params: Any) -> bytes:
        return jsonrpc.encode_notification(method, {"_meta": self.meta, **params})


def is_about(news: Mapping[str, Any], uri: str, row: tuple[str, str, str]) -> bool:
    model, field, text = row
    if "model" not in news:
        return news.get("uri") == uri or "everything" in news
    signed: str | None = news["row"].get(field) if news["model"] == model else None
    return signed == sign_value(model, field, text)
