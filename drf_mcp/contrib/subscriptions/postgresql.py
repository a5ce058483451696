"""A bus on LISTEN and NOTIFY of PostgreSQL, for any number of processes and machines."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, connections, router

from drf_mcp.contrib.subscriptions.bus import EVERYTHING, LocalBus, Subscriber
from drf_mcp.models import ArchivedContent

logger = logging.getLogger("drf_mcp")

CHANNEL = "drf_mcp_news"
# Seconds between two attempts to connect, and the timeout of waiting for notifications.
RETRY_SECONDS = 1.0
# Each listening connection holds this advisory lock, shared. A process that publishes looks for it
# as often, so a listening connection counts as long later.
LOCK = (0x6D6370, 1)
FIND_LOCK = """
SELECT EXISTS (
  SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND objsubid = 2
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
"""
# How long a client waits until its process listens.
MAX_WAIT_SECONDS = 5.0


class PostgreSQLBus(LocalBus):
    """Each process with subscribers listens on one connection of its own.

    Needs psycopg 3. After a lost connection the subscribers are notified that everything may have
    changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.listener: threading.Thread | None = None
        # Whether a client listens, and until when that is known.
        self.known: tuple[bool, float] = (True, 0.0)
        # Set while the connection listens.
        self.is_listening = threading.Event()

    @property
    def alias(self) -> str:
        """The database that carries the news: the one of the package's own tables."""
        return str(router.db_for_write(ArchivedContent))

    def publish(self, text: str) -> None:
        with connections[self.alias].cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, text])

    def has_listeners(self) -> bool:
        found, until = self.known
        if self.subscribers:
            return True
        if until < time.monotonic():
            with connections[self.alias].cursor() as cursor:
                cursor.execute(FIND_LOCK, LOCK)
                (found,) = cursor.fetchone()
            self.known = found, time.monotonic() + RETRY_SECONDS
        return found

    def subscribe(self, callback: Subscriber) -> Callable[[], None]:
        end = super().subscribe(callback)
        with self.lock:
            if self.listener is None or not self.listener.is_alive():
                self.listener = threading.Thread(target=self.listen, daemon=True)
                self.listener.start()
        return end

    def wait(self) -> None:
        self.is_listening.wait(MAX_WAIT_SECONDS)

    def listen(self) -> None:
        lost = False
        while self.subscribers:
            try:
                self.receive(lost)
            except DatabaseError as exc:
                lost = True
                logger.warning("The bus of subscriptions lost its connection: %s", exc)
                time.sleep(RETRY_SECONDS)

    def receive(self, lost: bool) -> None:
        connection = connections.create_connection(self.alias)
        # Not of a pool, which would give it to requests afterwards.
        options = {n: v for n, v in connection.settings_dict["OPTIONS"].items() if n != "pool"}
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}
        try:
            with connection.wrap_database_errors:
                connection.ensure_connection()
                driver: Any = connection.connection
                driver.autocommit = True
                driver.execute("SELECT pg_advisory_lock_shared(%s, %s)", LOCK)
                driver.execute(f"LISTEN {CHANNEL}")
                if lost:
                    self.deliver(json.dumps([EVERYTHING]))
                while self.subscribers:
                    # It returns after the timeout, so that the thread ends without subscribers.
                    for notification in driver.notifies(timeout=RETRY_SECONDS):
                        self.deliver(notification.payload)
                    # By now each process has found the lock.
                    self.is_listening.set()
        finally:
            self.is_listening.clear()
            connection.close()
