"""News between processes through a cache, and the end of streams when the server stops."""

from __future__ import annotations

import asyncio
import os
import signal
import time

import pytest
from django.contrib.auth.models import Group

from drf_mcp.contrib.subscriptions.bus import Bus, get_bus
from tests.asgi import begin, read_events
from tests.contrib.subscriptions.teams import connect

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]


def wait_until(condition) -> None:
    until = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def buses():
    """The buses of two processes, and what the second one heard."""
    here, there, heard = Bus("news"), Bus("news"), []
    end = there.subscribe(heard.append)
    wait_until(lambda: there.reads_since)
    yield here, there, heard
    end()


def test_texts_of_one_process_reach_another_once_and_in_order(buses):
    here, there, heard = buses
    for bus in (here, there, here):
        bus.publish(f"news {len(heard)}")
    here.publish("last")
    wait_until(lambda: "last" in heard)
    assert len(heard) == 4


def test_after_the_cache_was_emptied_everything_may_have_changed(buses):
    here, _, heard = buses
    here.cache.clear()
    wait_until(lambda: '["*"]' in heard)
    here.publish("news")
    wait_until(lambda: "news" in heard)


def test_a_row_is_saved_though_the_cache_is_away(monkeypatch):
    def fail(*args):
        raise ConnectionError("the cache is away")

    monkeypatch.setattr(type(get_bus().cache), "get", fail)
    Group.objects.create(name="support")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stream_ends_with_its_result_when_the_server_is_told_to_stop(eve, number):
    told = []

    async def talk() -> bytes:
        connection = connect("subscriptions/listen", notifications={"toolsListChanged": True})
        await begin(connection)
        await connection.receive_output(5)
        os.kill(os.getpid(), number)
        body: bytes = (await connection.receive_output(2))["body"]
        await connection.wait(5)
        return body

    before = signal.signal(number, lambda *args: told.append(number))
    try:
        (message,) = read_events(asyncio.run(talk()))
    finally:
        signal.signal(number, before)
    assert message["result"]["resultType"] == "complete"
    assert told == [number]
