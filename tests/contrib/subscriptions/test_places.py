"""How many streams a caller keeps open in a process."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.subscriptions.listening import StreamSlots
from drf_mcp.exceptions import Refused


def test_each_owner_has_places_of_their_own():
    places = StreamSlots()
    first = places.take("alice", 1)
    with pytest.raises(Refused) as refused:
        places.take("alice", 1)
    assert refused.value.http_status == 429
    other = places.take("bob", 1)
    first.free()
    again = places.take("alice", 1)
    assert other.free.alive
    assert again.free.alive


def test_a_stream_that_is_never_read_frees_its_place():
    places = StreamSlots()
    place = places.take("alice", 1)
    del place
    assert not places.taken
