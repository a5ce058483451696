"""News between processes through a cache."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Group

from drf_mcp.contrib.subscriptions.bus import ERA, Bus, find_bus, sign_subject

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]

SALE, STOCK = ("uri", "shop://sale"), ("uri", "shop://stock")
KEYS = [sign_subject(each) for each in (SALE, STOCK)]


@pytest.fixture
def buses():
    """The buses of two processes, and what a stream of the second one has heard."""
    here, there, heard = Bus("news"), Bus("news"), dict.fromkeys([*KEYS, ERA], "")
    there.read(heard)
    return here, there, heard


def test_news_of_one_process_reach_another_once(buses):
    here, there, heard = buses
    here.publish([SALE, ("other",)])
    assert here.has_listeners()
    assert [*there.read(heard)] == [KEYS[0]]
    there.publish([STOCK])
    assert [[*there.read(heard)] for _ in range(2)] == [[KEYS[1]], []]


def test_the_keys_of_the_cache_do_not_show_values():
    assert "support" not in sign_subject(("row", "auth.group", "support"))


@pytest.mark.parametrize("ends", [True, False])
def test_after_the_cache_was_emptied_or_away_everything_may_have_changed(buses, ends):
    here, there, heard = buses
    if ends:
        here.cache.clear()
    else:
        heard[ERA] = "lost"
    assert there.read(heard).keys() == set(KEYS)
    assert there.read(heard) == {}


def test_a_row_is_saved_though_the_cache_is_away(monkeypatch):
    def fail(*args):
        raise ConnectionError("the cache is away")

    monkeypatch.setattr(type(find_bus().cache), "get", fail)
    Group.objects.create(name="support")
