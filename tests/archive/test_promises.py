"""What an answer names can be fetched by its caller, and nothing that they may not read.

One property over kinds of answers, handlers, envelopes, stores, and what happens in between.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.core.cache import cache
from django.db import transaction
from django.db.models import F
from hypothesis import settings

from drf_mcp.models import ArchivedContent
from tests.archive.promised import ANSWERS, HANDLERS, WORDS, make_patterns

pytestmark = pytest.mark.django_db
MARK = re.compile(r"note<(\d+)>")
ARCHIVED = re.compile(r"archive_id='([A-Za-z0-9_-]+)'")
SECONDS = re.compile(r"within (\d+) seconds")
ENVELOPES = ["ResponseV2Envelope", "OkEnvelope", "StatusEnvelope", "PlainEnvelope"]
STORES = ["DatabaseArchive", "CacheArchive"]
# Those whose rows REST framework made, for a view that has a queryset. StandardMCPResponse leaves
# plain JSON of them.
SERIALIZED = {"serialized", "success_response", "as JSON", "OkResponse", "soft failure"}
LISTING = {"stock", "overridden list()", "action"}


@dataclass
class Happening:
    """What happens between an answer and the reading of its rest.

    Attributes:
        change: does it, and gets the entries and the seconds that the answer named.
        gone: how many of the entries, the oldest first, their caller may not read any more.
        is_closed: whether nothing may be read at all.
    """

    change: Callable[[list[LogEntry], int], object]
    gone: int = 0
    is_closed: bool = False


def add(entries: list[LogEntry], seconds: int) -> None:
    make_entries(12)


def delete(entries: list[LogEntry], seconds: int) -> None:
    LogEntry.objects.filter(pk__in=[entry.pk for entry in entries[:3]]).delete()


def give_away(entries: list[LogEntry], seconds: int) -> None:
    keys = [entry.pk for entry in entries[:3]]
    LogEntry.objects.filter(pk__in=keys).update(user=User.objects.get(username="bob"))


def lose_a_permission(entries: list[LogEntry], seconds: int) -> None:
    User.objects.get(username="alice").user_permissions.clear()


def leave_a_group(entries: list[LogEntry], seconds: int) -> None:
    User.objects.get(username="alice").groups.clear()


def be_refused(entries: list[LogEntry], seconds: int) -> None:
    User.objects.filter(username="alice").update(last_name="Former")


def let_time_pass(entries: list[LogEntry], seconds: int) -> None:
    # Only a store that keeps to its time names one.
    if seconds:
        left = timedelta(seconds=seconds - 5)
        ArchivedContent.objects.update(expires=F("expires") - left)


def let_hours_pass(entries: list[LogEntry], seconds: int) -> None:
    ArchivedContent.objects.update(expires=F("expires") - timedelta(hours=2))
    cache.clear()


HAPPENINGS = {
    "nothing": Happening(lambda entries, seconds: None),
    "rows added": Happening(add),
    "rows deleted": Happening(delete, gone=3),
    "rows given away": Happening(give_away, gone=3),
    "minutes passed": Happening(let_time_pass),
    "hours passed": Happening(let_hours_pass, is_closed=True),
    "a permission lost": Happening(lose_a_permission, is_closed=True),
    "a group left": Happening(leave_a_group, is_closed=True),
    "the call refused": Happening(be_refused, is_closed=True),
}
NIGHTLY = 100
CELLS = [("stock", "serialized"), *itertools.product([*HANDLERS][1:], ANSWERS)]


def make_entries(count: int) -> list[LogEntry]:
    alice, made = User.objects.get(username="alice"), []
    for _ in range(count):
        entry = LogEntry.objects.create(user=alice, object_repr="", action_flag=CHANGE)
        LogEntry.objects.filter(pk=entry.pk).update(object_repr=f"note<{entry.pk}> {WORDS}"[:200])
        made.append(entry)
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


@pytest.mark.parametrize(
    ("handler", "answer"), CELLS, ids=[f"{handler}-{answer}" for handler, answer in CELLS]
)
def test_nothing_is_lost_that_its_caller_may_read_and_nothing_else_is_given(
    expose, alice, handler, answer
):
    user = User.objects.get(username="alice")
    user.groups.add(Group.objects.create(name="readers"))
    user.user_permissions.add(Permission.objects.first())
    turn = CELLS.index((handler, answer))
    for number, (name, happening) in enumerate(HAPPENINGS.items()):
        # At a desk each cell has a third of them, and the cells together have each pair.
        if settings.default.max_examples < NIGHTLY and (turn + number) % 3:
            continue
        # Each cell has other envelopes and stores for what happens.
        envelope, store = ENVELOPES[(turn + number) % 4], STORES[(turn // 4 + number) % 2]
        expose(
            *make_patterns(answer),
            ENVELOPE_CLASS=f"drf_mcp.envelopes.{envelope}",
            ARCHIVE_CLASS=f"drf_mcp.archive.{store}",
            MAX_RESULT_TOKENS=1000,
            DIGESTER_CLASS=None,
        )
        with transaction.atomic():
            entries = make_entries(20)
            result = get_result(alice, HANDLERS[handler])
            every = {entry.pk for entry in entries}
            promised = every - find_marks(result)
            (archive_id,) = set(ARCHIVED.findall(result))
            assert promised, result
            seconds = sum(map(int, SECONDS.findall(result)))
            assert bool(seconds) == (store == "DatabaseArchive")
            happening.change(entries, seconds)
            given = find_marks("".join(read_rest(alice, archive_id)))
            said = (name, envelope, store)
            if happening.is_closed:
                assert given == set(), said
            else:
                gone = {entry.pk for entry in entries[: happening.gone]}
                assert promised - gone - given == set(), said
                if handler in LISTING and answer in SERIALIZED:
                    assert given & gone == set(), said
                assert given <= every, said
            transaction.set_rollback(True)
