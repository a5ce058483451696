"""The archive classes: stored content comes back to its owner until it expires."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from io import StringIO

import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection
from django.urls import path
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.response import Response
from rest_framework.views import APIView

from drf_mcp.exposure import registry
from drf_mcp.models import ArchivedContent
from drf_mcp.settings import mcp_settings
from drf_mcp.stored import Archive, ArchiveUnavailable, CacheArchive, DatabaseArchive, Entry
from drf_mcp.stored.stores import new_archive_id
from drf_mcp.views import MCPView
from tests.stored.hashes import hash_items

ITEMS = [
    {"id": "b", "pointer": "/0", "value": {"z": 1.50, "a": "é\x00\ud83d \U0001f600", "n": None}},
    {"id": "a,b", "pointer": "/1", "value": [True, 10**30, "ł" * 5000]},
]


CACHES = "django.core.cache.backends"
# The entries that each of eight threads stores.
ROUNDS = 5


def entry(owner: str = "7", tool: str = "things_list", items: list | None = None) -> Entry:
    return Entry.of(new_archive_id(), owner, tool, ITEMS if items is None else items)


def stored(**members) -> Entry:
    made = entry(**members)
    mcp_settings.ARCHIVE_CLASS().store(made)
    return made


@pytest.fixture
def archive(archive_class) -> Archive:
    return mcp_settings.ARCHIVE_CLASS()


def test_an_entry_comes_back_as_it_was_stored(archive):
    made = stored()
    found = archive.fetch(made.archive_id, "7")
    assert found == made
    assert found.items == ITEMS
    assert list(found.items[0]["value"]) == ["z", "a", "n"]


def test_an_entry_is_read_by_its_owner_and_an_anonymous_one_by_its_id_alone(archive):
    own, anonymous = stored(owner="7"), stored(owner="", items=[])
    found = {
        reader: [
            *(archive.fetch(made.archive_id, reader) for made in (own, anonymous)),
            *(archive.find(made.content_hash, reader) for made in (own, anonymous)),
        ]
        for reader in ("7", "8", "")
    }
    stranger = [None, anonymous, None, None]
    assert found == {"7": [own, anonymous, own, None], "8": stranger, "": stranger}


def test_the_newest_entry_of_a_hash_is_found(archive):
    stored(tool="things_list")
    newest = stored(tool="others_list")
    assert archive.find(newest.content_hash, "7").archive_id == newest.archive_id


def test_equal_content_of_one_owner_is_stored_once(archive):
    made, again = entry(), entry()
    assert archive.store(made) == made.archive_id
    assert archive.store(again) == made.archive_id
    assert archive.read(again.archive_id) is None


def test_equal_content_of_another_owner_or_call_is_stored_separately(archive):
    stored()
    for members in ({"owner": "8"}, {"owner": ""}, {"tool": "others_list"}):
        other = entry(**members)
        assert archive.store(other) == other.archive_id
        assert archive.read(other.archive_id).items == ITEMS


def test_an_unknown_id_finds_nothing(archive):
    stored()
    for name in ("", "unknown", "a b", "x" * 300, "../../etc", "é", "a\nb"):
        assert archive.fetch(name, "7") is None
        assert archive.find(name, "7") is None


def test_an_entry_expires(archive, settings, monkeypatch):
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_TTL": 60}
    made = stored()
    assert archive.fetch(made.archive_id, "7") is not None
    # The clocks of the database and of the cache.
    now, seconds = timezone.now() + timedelta(seconds=61), time.time() + 61
    monkeypatch.setattr("django.utils.timezone.now", lambda: now)
    monkeypatch.setattr("time.time", lambda: seconds)
    assert archive.fetch(made.archive_id, "7") is None
    assert archive.find(made.content_hash, "7") is None


def load(archive: Archive) -> list[Entry]:
    wrong: list[Entry] = []

    def work(number: int) -> None:
        for round_ in range(ROUNDS):
            made = entry(str(number), items=[{"id": str(round_), "pointer": "", "value": number}])
            archive.store(made)
            if archive.fetch(made.archive_id, str(number)) != made:
                wrong.append(made)
            if archive.find(made.content_hash, str(number)) != made:
                wrong.append(made)
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


@pytest.mark.slow
def test_eight_threads_read_what_they_stored(database_file):
    assert load(CacheArchive()) == []
    assert load(DatabaseArchive()) == []
    assert ArchivedContent.objects.count() == 8 * ROUNDS


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_the_hash_is_that_of_the_items(value):
    items = [{"id": "a", "pointer": "/0", "length": 1, "value": value}]
    assert entry(items=items).content_hash == hash_items(items)


def test_ids_are_random_and_have_one_length():
    ids = {new_archive_id() for _ in range(100)}
    assert len(ids) == 100
    assert {len(archive_id) for archive_id in ids} == {22}


def test_a_cache_that_stores_nothing_is_unavailable(settings):
    settings.CACHES = {"default": {"BACKEND": f"{CACHES}.dummy.DummyCache"}}
    with pytest.raises(ArchiveUnavailable):
        CacheArchive().store(entry())


def test_the_setting_names_the_cache(settings):
    backend = f"{CACHES}.locmem.LocMemCache"
    settings.CACHES = {name: {"BACKEND": backend, "LOCATION": name} for name in ("default", "big")}
    settings.DRF_MCP = {
        **settings.DRF_MCP,
        "ARCHIVE_CLASS": "drf_mcp.archives.CacheArchive",
        "ARCHIVE_CACHE": "big",
    }
    made = stored()
    assert caches["big"].get(f"drf_mcp:archive:{made.archive_id}")
    assert not caches["default"].get(f"drf_mcp:archive:{made.archive_id}")


@pytest.mark.django_db
def test_the_command_deletes_expired_entries(settings):
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    old, new, out = stored(owner="7"), stored(owner="8"), StringIO()
    ArchivedContent.objects.filter(pk=old.archive_id).update(
        expires=timezone.now() - timedelta(seconds=1)
    )
    call_command("mcp_expire", stdout=out)
    assert out.getvalue() == "Deleted expired archives: 1\n"
    assert list(ArchivedContent.objects.values_list("pk", flat=True)) == [new.archive_id]


def test_an_archive_class_must_define_store_fetch_and_find():
    archive = Archive()
    for step in (lambda: archive.store(entry()), lambda: archive.fetch("a", "")):
        with pytest.raises(NotImplementedError, match="Archive must define"):
            step()
    with pytest.raises(NotImplementedError, match="latest"):
        archive.find("sha256:" + "0" * 64, "7")
    assert archive.expire() == 0
    assert str(ArchivedContent(archive_id="a", tool="t")) == "t a"


class Rows(APIView):
    permission_classes = ()

    def get(self, request) -> Response:
        return Response([{"id": number, "text": "word " * 60} for number in range(300)])


@pytest.mark.django_db
def test_what_one_process_alone_could_read_is_not_named(expose, alice, settings):
    settings.CACHES = {"default": {"BACKEND": f"{CACHES}.locmem.LocMemCache"}}
    archive = {"ARCHIVE_CLASS": "drf_mcp.archives.CacheArchive", "ARCHIVE_CACHE": "default"}
    expose(path("rows/", Rows.as_view()), **archive)
    meta = alice.call("rows").envelope["meta"]
    codes = [each["code"] for each in meta["warning_details"]]
    assert codes == ["CONTENT_TRUNCATED", "ARCHIVE_UNAVAILABLE"]
    assert "content_retrieve(" not in str(meta)


@pytest.mark.django_db
def test_an_endpoint_that_is_routed_alone_fetches_what_it_left_out(settings, alice):
    urls = [path("rows/", Rows.as_view()), path("mcp", MCPView.as_view())]
    settings.ROOT_URLCONF = type("URLConf", (), {"urlpatterns": urls})
    settings.DRF_MCP = {"EXPOSE": "urlconf", "ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"}
    registry.reload()
    assert set(alice.tools()) == {"rows", "content_retrieve"}
    meta = alice.call("rows").envelope["meta"]
    (archive_id,) = meta["content_archive_hashes"]
    (name, *_) = meta["dropped_content_ids"]
    (item, *_) = alice.call("content_retrieve", archive_id=archive_id, ids=[name]).data["items"]
    assert item["value"]["text"] == "word " * 60
