"""A bus of PostgreSQL's own: LISTEN and NOTIFY, for any number of processes and machines."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError, connections, router

from drf_mcp.contrib.subscriptions.bus import Hear, LocalBus
from drf_mcp.contrib.subscriptions.news import EVERYTHING
from drf_mcp.models import ArchivedContent

logger = logging.getLogger("drf_mcp")

CHANNEL = "drf_mcp_news"
# Seconds before another try, where the connection is lost.
PAUSE = 1.0
# Seconds for which a client waits until its process listens.
PATIENCE = 5.0


class PostgreSQLBus(LocalBus):
    """Each process listens on one connection of its own, once somebody subscribes.

    Needs psycopg 3. What is published while the connection is lost is made up for by telling
    every listener that everything may have changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.listener: threading.Thread | None = None
        # Set as long as the database tells this process of news.
        self.hears = threading.Event()

    @property
    def alias(self) -> str:
        """The database that carries the news: that of the package's own tables."""
        return str(router.db_for_write(ArchivedContent))

    def publish(self, text: str) -> None:
        with connections[self.alias].cursor() as cursor:
            cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, text])

    def subscribe(self, hear: Hear) -> Callable[[], None]:
        end = super().subscribe(hear)
        with self.lock:
            if self.listener is None or not self.listener.is_alive():
                self.listener = threading.Thread(target=self.listen, daemon=True)
                self.listener.start()
        return end

    def wait(self) -> None:
        self.hears.wait(PATIENCE)

    def listen(self) -> None:
        lost = False
        while self.hearers:
            try:
                self.receive(lost)
            except DatabaseError as exc:
                lost = True
                logger.warning("The bus of subscriptions lost its connection: %s", exc)
                time.sleep(PAUSE)

    def make_connection(self) -> Any:
        connection = connections.create_connection(self.alias)
        # Requests would miss one of a pool, and get it back with the news of others.
        options = {n: v for n, v in connection.settings_dict["OPTIONS"].items() if n != "pool"}
        connection.settings_dict = {**connection.settings_dict, "OPTIONS": options}
        return connection

    def receive(self, lost: bool) -> None:
        connection = self.make_connection()
        try:
            with connection.wrap_database_errors:
                connection.ensure_connection()
                driver: Any = connection.connection
                driver.autocommit = True
                driver.execute(f"LISTEN {CHANNEL}")
                self.hears.set()
                if lost:
                    self.deliver(EVERYTHING)
                while self.hearers:
                    # Now and then the thread looks whether anybody still listens.
                    for notification in driver.notifies(timeout=PAUSE):
                        self.deliver(notification.payload)
        finally:
            self.hears.clear()
            connection.close()
