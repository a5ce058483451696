"""What a client learns of a call while it runs (2026-07-28, basic/patterns/progress)."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

# Notifications in a second.
MOST = 10


class Channel:
    """The way from a running call to the client, and the news that the client is gone.

    Args:
        send: takes the method and the params of a notification, and of a request its id.
        is_live: whether what is sent arrives while the call runs, and an answer to it can be
            received.
        shares_threads: whether a call that waits takes one of the threads that receive answers.
    """

    def __init__(
        self, send: Callable[..., None], *, is_live: bool = False, shares_threads: bool = False
    ) -> None:
        self.send = send
        self.is_live = is_live
        self.shares_threads = shares_threads
        self.is_cancelled = False
        self.callbacks: list[Callable[[], Any]] = []

    def cancel(self) -> None:
        """Say that the client has gone: an async view is cancelled, others may look."""
        self.is_cancelled = True
        for callback in self.callbacks:
            callback()

    def limit(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        """Return an async callback that ends where the client is gone."""

        async def limited(*args: Any, **kwargs: Any) -> Any:
            loop = asyncio.get_running_loop()
            running = asyncio.ensure_future(callback(*args, **kwargs))

            def stop() -> None:
                loop.call_soon_threadsafe(running.cancel)

            self.callbacks.append(stop)
            try:
                return await running
            finally:
                self.callbacks.remove(stop)

        return limited


class Progress:
    """The progress of one request.

    Args:
        token: what the client knows the request by.
    """

    def __init__(self, token: str | int, channel: Channel) -> None:
        self.token = token
        self.channel = channel
        self.last: float | None = None
        self.times: deque[float] = deque(maxlen=MOST)

    @classmethod
    def wanted(cls, meta: Mapping[str, Any], channel: Channel) -> Progress | None:
        """Return the progress that a client asks for in its ``_meta``, None if it does not."""
        token = meta.get("progressToken")
        is_token = isinstance(token, (str, int)) and not isinstance(token, bool)
        return cls(token, channel) if is_token else None  # type: ignore[arg-type]

    def report(self, progress: float, total: float | None, message: str) -> None:
        """Send a notification, unless there is no progress or it follows another too fast."""
        now = time.monotonic()
        is_last = total is not None and progress >= total
        is_fast = len(self.times) == MOST and now - self.times[0] < 1 and not is_last
        if is_fast or (self.last is not None and progress <= self.last):
            return
        self.last = progress
        self.times.append(now)
        params: dict[str, Any] = {"progressToken": self.token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message:
            params["message"] = message
        self.channel.send("notifications/progress", params)
