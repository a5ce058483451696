"""What carries news from the process where something changes to those where clients listen."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from django.core.signals import setting_changed

from drf_mcp.settings import mcp_settings

Hear = Callable[[str], Any]


class Bus:
    """Carries short texts. SUBSCRIPTION_BUS_CLASS names a subclass; there is one in a process."""

    def publish(self, text: str) -> None:
        """Send a text of at most 7,000 bytes to every listener of every process.

        Called after the transaction is committed that made the news.
        """
        raise NotImplementedError(f"{type(self).__name__} must define publish().")

    def subscribe(self, hear: Hear) -> Callable[[], None]:
        """Have a function called with each text, in any thread.

        Returns:
            A function that ends it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define subscribe().")

    def wait(self) -> None:
        """Return once this process hears what others publish, or after seconds all the same.

        Asked before a client is told that it listens.
        """


class LocalBus(Bus):
    """Reaches the listeners of its own process: for one worker, and for development."""

    def __init__(self) -> None:
        self.hearers: dict[object, Hear] = {}
        self.lock = threading.Lock()

    def publish(self, text: str) -> None:
        self.deliver(text)

    def deliver(self, text: str) -> None:
        with self.lock:
            hearers = list(self.hearers.values())
        for hear in hearers:
            hear(text)

    def subscribe(self, hear: Hear) -> Callable[[], None]:
        key = object()
        with self.lock:
            self.hearers[key] = hear

        def end() -> None:
            with self.lock:
                self.hearers.pop(key, None)

        return end


@functools.lru_cache(maxsize=1)
def get_bus() -> Bus | None:
    """Return the bus of this process, None where subscriptions are off."""
    bus_class = mcp_settings.SUBSCRIPTION_BUS_CLASS
    return None if bus_class is None else bus_class()


def forget_bus(*, setting: str, **kwargs: Any) -> None:
    if setting == "DRF_MCP":
        get_bus.cache_clear()


setting_changed.connect(forget_bus)
