"""The tables of the archive: chunks, limits for each owner, expiry and failures."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import DatabaseError, connection
from django.db.models import QuerySet
from django.urls import path
from django.utils import timezone
from rest_framework.response import Response
from rest_framework.throttling import UserRateThrottle
from rest_framework.views import APIView

from drf_mcp.models import ArchivedChunk, ArchivedContent
from drf_mcp.stored import ArchiveFull, DatabaseArchive, Entry
from drf_mcp.stored.stores import new_archive_id

pytestmark = pytest.mark.django_db


class SmallArchive(DatabaseArchive):
    """Keeps little for each owner, in short chunks."""

    max_entries = 3
    max_size = 2_000
    chunk_size = 100
    sweep = 2


def make_entry(value: object, owner: str = "7") -> Entry:
    item = {"id": "1", "pointer": "/0", "value": value}
    return Entry.of(new_archive_id(), owner, "things_list", [item])


def store(value: object, owner: str = "7", archive: type[DatabaseArchive] = SmallArchive) -> str:
    return archive().store(make_entry(value, owner))


def chunks() -> list[str]:
    return [
        *ArchivedContent.objects.values_list("text", flat=True),
        *ArchivedChunk.objects.values_list("text", flat=True),
    ]


def get_stored_ids() -> set[str]:
    return set(ArchivedContent.objects.values_list("pk", flat=True))


def test_content_is_read_from_chunks_of_limited_length():
    for length in (0, 50, 99, 100, 101, 1_000):
        value = "é" * (length // 6) + "x" * (length % 6)
        archive_id = store(value, owner=str(length))
        assert SmallArchive().read(archive_id).items[0]["value"] == value
    assert max(map(len, chunks())) <= 100


def test_no_row_has_more_than_half_a_million_characters():
    store("x" * 5_000_000, archive=DatabaseArchive)
    assert max(map(len, chunks())) == 500_000
    assert len(chunks()) == 11


def test_a_full_archive_keeps_its_entries_and_refuses_more():
    """Callers who share an owner do not displace each other's content either."""
    other = store("theirs", owner="8")
    for owner, values in {
        "7": ["0", "1", "2"],
        "9": ["0" * 900, "1" * 900],
        "": ["0", "1", "2"],
        "alone too much": ["small"],
    }.items():
        ids = {store(value, owner) for value in values}
        for value in ("x" * 3_000, *([] if "small" in values else ["9" * len(values[0])])):
            with pytest.raises(ArchiveFull):
                store(value, owner)
        found = ArchivedContent.objects.filter(owner=owner)
        assert set(found.values_list("pk", flat=True)) == ids
    assert other in get_stored_ids()


def test_expired_entries_do_not_count_towards_the_limit():
    ids = [store(number) for number in range(3)]
    ArchivedContent.objects.filter(pk=ids[0]).update(expires=timezone.now() - timedelta(seconds=1))
    assert store("new") in get_stored_ids()


def test_long_content_is_stored_whole_or_not_at_all(monkeypatch):
    def fail(*rows):
        raise DatabaseError("the disk is full")

    monkeypatch.setattr(QuerySet, "bulk_create", fail)
    with pytest.raises(DatabaseError):
        store("x" * 1_000)
    assert get_stored_ids() == set()


def test_storing_equal_content_again_extends_its_lifetime():
    archive_id = store("same")
    ArchivedContent.objects.update(expires=timezone.now() + timedelta(seconds=5))
    assert store("same") == archive_id
    assert ArchivedContent.objects.get().expires > timezone.now() + timedelta(minutes=14)


def test_a_thousand_results_of_two_owners_are_all_stored():
    archive = DatabaseArchive()
    first = archive.store(make_entry(0, "0"))
    row = ArchivedContent.objects.get()
    others = {new_archive_id(): str(number % 2) for number in range(998)}
    members = {name: getattr(row, name) for name in ("tool", "size", "created", "expires")}
    ArchivedContent.objects.bulk_create(
        ArchivedContent(archive_id=archive_id, owner=owner, **members)
        for archive_id, owner in others.items()
    )
    last = archive.store(make_entry(999, "1"))
    assert get_stored_ids() == {first, *others, last}
    assert archive.fetch(first, "0").items[0]["value"] == 0


class Counted(APIView):
    """Returns many rows, a few times an hour."""

    class Throttle(UserRateThrottle):
        rate = "3/hour"

    throttle_classes = [Throttle]

    def get(self, request) -> Response:
        return Response([{"id": n, "note": f"{request.query_params} {n}" * 9} for n in range(900)])


@pytest.fixture
def counted(expose) -> None:
    expose(
        path("counted/", Counted.as_view()),
        ARCHIVE_CLASS="drf_mcp.archives.DatabaseArchive",
        EXTRA_QUERY=True,
    )


@pytest.mark.slow
def test_archived_results_do_not_displace_throttles(counted, agent_of, settings):
    """The throttles keep their places in a cache of twenty entries."""
    usual = settings.CACHES["default"]
    settings.CACHES = {"default": {**usual, "OPTIONS": {"MAX_ENTRIES": 20}}}
    bob = agent_of("bob")
    for number in range(3):
        assert bob.call("counted", query={"n": number}).envelope["success"]
    for number in range(40):
        store(number, owner="8", archive=DatabaseArchive)
    assert bob.call("counted").code == "RATE_LIMIT_EXCEEDED"


@pytest.mark.slow
def test_a_result_for_a_full_archive_promises_nothing_and_warns(counted, agent_of, settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_CLASS": f"{__name__}.SmallArchive"}
    meta = agent_of("bob").call("counted").envelope["meta"]
    assert "content_archive_hashes" not in meta
    assert "content_retrieve" not in str(meta)
    (said,) = [d for d in meta["warning_details"] if d["code"] == "ARCHIVE_FULL"]
    assert "until it expires" in said["message"]


def test_the_bounds_count_the_holder_whatever_owner_or_tenant(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "MAX_KEPT_RESULTS": 2}
    for number, (owner, holder) in enumerate([("a/7", "7"), ("", "7"), ("", "8")]):
        DatabaseArchive().store(replace(make_entry(number, owner), holder=holder))
    with pytest.raises(ArchiveFull, match="the rests of 2 results of yours are"):
        DatabaseArchive().store(replace(make_entry(3, "b/7"), holder="7"))
    assert ArchivedContent.objects.count() == 3


def rename_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE drf_mcp_archivedcontent RENAME TO elsewhere")


def make_table_read_only() -> None:
    refuse = (
        "CREATE TRIGGER refuse BEFORE INSERT ON drf_mcp_archivedcontent "
        "BEGIN SELECT RAISE(ABORT, 'read-only'); END"
        if connection.vendor == "sqlite"
        else "ALTER TABLE drf_mcp_archivedcontent ADD CONSTRAINT refuse CHECK (size < 0) NOT VALID"
    )
    with connection.cursor() as cursor:
        cursor.execute(refuse)


@pytest.mark.slow
@pytest.mark.parametrize("fail", [rename_table, make_table_read_only])
def test_a_result_without_a_writable_table_is_shortened_and_promises_nothing(
    counted, agent_of, fail
):
    fail()
    result = agent_of("bob").call("counted")
    meta = result.envelope["meta"]
    assert result.envelope["success"]
    assert "content_archive_hashes" not in meta
    assert "content_retrieve" not in str(meta)
    assert "ARCHIVE_UNAVAILABLE" in [detail["code"] for detail in meta["warning_details"]]
    if fail is make_table_read_only:
        # The caller's transaction still works.
        assert ArchivedContent.objects.count() == 0


@pytest.mark.slow
def test_a_call_succeeds_without_the_archives_database(counted, agent_of, monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError("There is no database.")

    monkeypatch.setattr(DatabaseArchive, "table", property(refuse))
    assert agent_of("bob").call("counted").envelope["success"]
