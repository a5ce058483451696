from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections

from drf_mcp.contrib.subscriptions.bus import Bus
from drf_mcp.contrib.subscriptions.news import sign_value
from drf_mcp.contrib.subscriptions.places import Place
from drf_mcp.exceptions import InternalError
from drf_mcp.protocol import jsonrpc
from drf_mcp.protocol.context import RequestContext

SUBSCRIPTION_ID = "io.modelcontextprotocol/subscriptionId"
# Seconds between two signs of life, and after which the client has to listen anew: so that a
# credential that was taken away opens nothing for long.
KEEP_ALIVE = 15.0
LIFETIME = 900.0
NOTHING = b""


class Listener:
    """One client that listens.

    Args:
        capability: the `SubscriptionsCapability`, which knows what news are about.
        lists: the lists whose changes are told.
        rows: those whose updates are told, as `RouteResource.find_row` gives them, by URI.
        place: the place that the stream takes among those of its caller; it is freed at the end.
    """

    def __init__(
        self,
        capability: Any,
        context: RequestContext,
        bus: Bus,
        lists: frozenset[str],
        rows: Mapping[str, tuple[str, str, str]],
        place: Place,
    ) -> None:
        self.place = place
        self.capability = capability
        self.context = context
        self.bus = bus
        self.lists = lists
        self.rows = rows
        self.meta = {SUBSCRIPTION_ID: context.message.id}

    async def get_messages(self, agreed: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Yield the messages of the stream; an empty one where there is nothing to tell yet."""
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
                    # Whether the client may be told is not known: it has to listen anew, and to
                    # read what may have changed meanwhile.
                    break
                for message in messages:
                    yield message
            result = {"resultType": "complete", "_meta": self.meta}
            yield jsonrpc.encode_result(self.context.message.id, result)
        finally:
            end()
            self.place.free()

    def begin(self) -> None:
        self.release_connections()
        # What changes after the client knows that it listens has to reach it.
        self.bus.wait()

    @staticmethod
    def release_connections() -> None:
        # They would be held for as long as the stream is open, by a client that mostly waits.
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
            # Who may not read it any more is not told either.
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
