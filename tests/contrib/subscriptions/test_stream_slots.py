"""The limit of open streams of a caller in a process."""

from __future__ import annotations

import pytest

from drf_mcp.contrib.subscriptions.listening import StreamSlots
from drf_mcp.exceptions import Refused


class Stream:
    pass


def test_each_owner_has_their_own_slots():
    slots = StreamSlots()
    streams = [Stream(), Stream(), Stream()]
    free = slots.take("alice", 1, streams[0])
    with pytest.raises(Refused) as refused:
        slots.take("alice", 1, streams[1])
    assert refused.value.http_status == 429
    slots.take("bob", 1, streams[1])
    free()
    slots.take("alice", 1, streams[2])
    assert slots.taken == {"alice": 1, "bob": 1}


def test_a_stream_that_is_never_read_frees_its_slot():
    slots = StreamSlots()
    stream = Stream()
    slots.take("alice", 1, stream)
    del stream
    assert not slots.taken
