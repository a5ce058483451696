"""A caller can fetch all that a result left out, until their rights or the time change.

Combines kinds of answers, handlers, envelopes, stores and events in between: every pair of values
meets, at night every three.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import caches
from django.db import transaction
from django.db.models import F

from drf_mcp.models import ArchivedContent
from tests.crossings.drawing import draw
from tests.stored.promised import ANSWERS, HANDLERS, WORDS, make_patterns

pytestmark = pytest.mark.django_db
MARK = re.compile(r"note<(\d+)>")
ARCHIVED = re.compile(r"archive_id='([A-Za-z0-9_-]+)'")
SECONDS = re.compile(r"within (\d+) seconds")


@dataclass
class Event:
    """An event between an answer and the reading of its rest.

    Attributes:
        change: causes it, with the entries and the seconds that the answer named.
        is_closed: whether nothing may be read any more.
    """

    change: Callable[[list[LogEntry], int], object]
    is_closed: bool = False


def delete(entries: list[LogEntry]) -> None:
    LogEntry.objects.filter(pk__in=[entry.pk for entry in entries]).delete()


def give_away(entries: list[LogEntry], seconds: int) -> None:
    keys = [entry.pk for entry in entries[:3]]
    LogEntry.objects.filter(pk__in=keys).update(user=User.objects.get(username="bob"))


def let_time_pass(entries: list[LogEntry], seconds: int) -> None:
    # Only a store that keeps content until then names a time.
    if seconds:
        left = timedelta(seconds=seconds - 5)
        ArchivedContent.objects.update(expires=F("expires") - left)


def let_hours_pass(entries: list[LogEntry], seconds: int) -> None:
    ArchivedContent.objects.update(expires=F("expires") - timedelta(hours=2))
    caches["shared"].clear()


def get_alice() -> User:
    return User.objects.get(username="alice")


EVENTS = {
    "nothing": Event(lambda *_: None),
    "rows added": Event(lambda *_: make_entries(12)),
    "rows deleted": Event(lambda entries, seconds: delete(entries[:3])),
    "rows given away": Event(give_away),
    "minutes passed": Event(let_time_pass),
    "hours passed": Event(let_hours_pass, is_closed=True),
    "a permission lost": Event(lambda *_: get_alice().user_permissions.clear(), is_closed=True),
    "a group left": Event(lambda *_: get_alice().groups.clear(), is_closed=True),
    "the call refused": Event(
        lambda *_: User.objects.filter(username="alice").update(last_name="Former"), is_closed=True
    ),
}
FEATURES = {
    "handler": tuple(HANDLERS),
    "answer": tuple(ANSWERS),
    "envelope": ("ResponseV2Envelope", "PlainEnvelope"),
    "store": ("DatabaseArchive", "CacheArchive"),
    "event": tuple(EVENTS),
}
STRENGTH = 3 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 2


def is_possible(case: Mapping[str, str]) -> bool:
    """Return whether values can meet: REST framework's own handler has only one kind of answer."""
    return case.get("handler") != "stock" or case.get("answer", "serialized") == "serialized"


CASES = list(draw(STRENGTH, FEATURES, is_possible))


def make_entries(count: int) -> list[LogEntry]:
    alice = get_alice()
    made = LogEntry.objects.bulk_create(
        LogEntry(user=alice, action_flag=CHANGE) for _ in range(count)
    )
    for entry in made:
        entry.object_repr = f"note<{entry.pk}> {WORDS}"[:200]
    LogEntry.objects.bulk_update(made, ["object_repr"])
    return made


def find_marks(text: str) -> set[int]:
    return {int(mark) for mark in MARK.findall(text)}


def read_rest(agent: Any, archive_id: str) -> Iterator[str]:
    offset: int | None = 0
    while offset is not None:
        raw = agent.call("content_retrieve", archive_id=archive_id, offset=offset).raw
        if raw.get("isError"):
            assert "There is no such content for you" in raw["content"][0]["text"]
            return
        body = json.loads(raw["content"][0]["text"])
        data = body if "archive_id" in body else body["data"]
        yield data["text"] if "text" in data else json.dumps(data)
        offset = data["next_offset"]


def get_result(agent: Any, tool: str) -> str:
    raw = agent.call(tool).raw
    assert not raw.get("isError"), raw
    return "\n".join(block["text"] for block in raw["content"] if block["type"] == "text")


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
def test_a_caller_can_fetch_all_that_was_left_out_while_their_rights_last(expose, alice, answer):
    user = get_alice()
    user.groups.add(Group.objects.create(name="readers"))
    user.user_permissions.add(Permission.objects.first())
    patterns = make_patterns(answer)
    for case in (case for case in CASES if case["answer"] == answer):
        expose(
            *patterns,
            ENVELOPE_CLASS=f"drf_mcp.envelopes.{case['envelope']}",
            ARCHIVE_CLASS=f"drf_mcp.stored.{case['store']}",
            MAX_RESULT_TOKENS=1000,
            DIGESTER_CLASS=None,
        )
        event = EVENTS[case["event"]]
        with transaction.atomic():
            entries = make_entries(20)
            result = get_result(alice, HANDLERS[case["handler"]])
            every = {entry.pk for entry in entries}
            promised = every - find_marks(result)
            (archive_id,) = set(ARCHIVED.findall(result))
            assert promised, result
            seconds = sum(map(int, SECONDS.findall(result)))
            assert bool(seconds) == (case["store"] == "DatabaseArchive")
            event.change(entries, seconds)
            given = find_marks("".join(read_rest(alice, archive_id)))
            if event.is_closed:
                assert given == set(), case
            else:
                assert promised - given == set(), case
                assert given <= every, case
            transaction.set_rollback(True)
