"""News between processes through a cache."""

from __future__ import annotations

import time

import pytest
from django.contrib.auth.models import Group

from drf_mcp.contrib.subscriptions import bus as bus_module
from drf_mcp.contrib.subscriptions.bus import Bus, find_bus, sign_subject

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]

SALE, STOCK = ("uri", "shop://sale"), ("uri", "shop://stock")


def wait_until(condition) -> None:
    until = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.fixture
def buses(monkeypatch):
    """The buses of two processes, and what the second one heard."""
    monkeypatch.setattr(bus_module, "LISTENING_SECONDS", 0.5)
    here, there, heard = Bus("news"), Bus("news"), []
    there.subscribe([sign_subject(each) for each in (SALE, STOCK)], heard.append)
    wait_until(lambda: there.era)
    yield here, there, heard
    there.unsubscribe(heard.append)


def test_news_of_one_process_reach_another_once(buses):
    here, there, heard = buses
    here.publish([SALE, ("other",)])
    wait_until(lambda: heard)
    there.publish([STOCK])
    wait_until(lambda: len(heard) > 1)
    assert [[*news] for news in heard] == [[sign_subject(SALE)], [sign_subject(STOCK)]]


def test_what_was_published_before_is_no_news():
    bus, heard = Bus("news"), []
    bus.publish([SALE])
    bus.subscribe([sign_subject(SALE)], heard.append)
    wait_until(lambda: bus.era)
    bus.unsubscribe(heard.append)
    bus.thread.join(5)
    assert heard == []


def test_the_keys_of_the_cache_do_not_show_values():
    assert "support" not in sign_subject(("row", "auth.group", "support"))


def test_after_the_cache_was_emptied_everything_may_have_changed(buses):
    here, _, heard = buses
    here.cache.clear()
    wait_until(lambda: heard)
    assert heard[0].keys() == {sign_subject(SALE), sign_subject(STOCK)}


def test_a_row_is_saved_though_the_cache_is_away(monkeypatch):
    def fail(*args):
        raise ConnectionError("the cache is away")

    monkeypatch.setattr(type(find_bus().cache), "get", fail)
    Group.objects.create(name="support")
