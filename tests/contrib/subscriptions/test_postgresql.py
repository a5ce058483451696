"""Notices between processes through PostgreSQL."""

from __future__ import annotations

import time

import pytest
from django.db import connection

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="the database is another"),
]


@pytest.fixture
def buses():
    from drf_mcp.contrib.subscriptions.postgresql import PostgreSQLBus

    return PostgreSQLBus(), PostgreSQLBus()


def wait_until(condition) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_notice_of_one_process_reaches_another(buses):
    here, there = buses
    received: list[str] = []
    end = there.subscribe(received.append)
    there.wait()
    try:
        here.publish("news")
        wait_until(lambda: received == ["news"])
    finally:
        end()
        there.listener.join(5)


def test_a_lost_connection_is_opened_again_and_everything_is_published(buses):
    here, there = buses
    received: list[str] = []
    end = there.subscribe(received.append)
    there.wait()
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query LIKE 'LISTEN%%' AND pid <> pg_backend_pid()"
            )
        wait_until(lambda: any('"*"' in text for text in received))
        there.wait()
        here.publish("news")
        wait_until(lambda: "news" in received)
    finally:
        end()
        there.listener.join(5)


def test_the_thread_ends_with_the_last_listener(buses):
    _, there = buses
    there.subscribe(lambda text: None)()
    there.listener.join(5)
    assert not there.listener.is_alive()


def test_a_process_knows_within_a_second_whether_any_process_listens(buses):
    here, there = buses

    def has_none() -> bool:
        here.known = True, 0.0
        return not here.has_listeners()

    # The server ends a closed connection a moment later.
    wait_until(has_none)
    here.known = False, time.monotonic() + 1
    end = there.subscribe(lambda text: None)
    there.wait()
    try:
        assert here.has_listeners()
    finally:
        end()
        there.listener.join(5)
    wait_until(has_none)
