"""How many streams a caller keeps open in a process."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.subscriptions.listening import StreamSlots
from drf_mcp.exceptions import Refused


class Stream:
    pass


def test_each_owner_has_places_of_their_own():
    places = StreamSlots()
    streams = [Stream(), Stream(), Stream()]
    free = places.take("alice", 1, streams[0])
    with pytest.raises(Refused) as refused:
        places.take("alice", 1, streams[1])
    assert refused.value.http_status == 429
    places.take("bob", 1, streams[1])
    free()
    places.take("alice", 1, streams[2])
    assert places.taken == {"alice": 1, "bob": 1}


def test_a_stream_that_is_never_read_frees_its_place():
    places = StreamSlots()
    stream = Stream()
    places.take("alice", 1, stream)
    del stream
    assert not places.taken
