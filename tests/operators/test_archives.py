"""Checks of what fits results into their budget."""

from __future__ import annotations

import pytest
from django.db import connection

from drf_mcp.archive import Archive, CacheArchive, Entry
from drf_mcp.truncation import Condensed, Digester

BACKENDS = "django.core.cache.backends"


class Silent(Digester):
    """Condenses nothing."""


class Terse(Digester):
    def condense(self, text: str, query: str) -> Condensed:
        return Condensed(text.split()[0])


class Forgetful(Archive):
    def store(self, entry: Entry) -> None: ...


class OwnCacheArchive(CacheArchive):
    """Keeps entries in a cache, in its own way."""


@pytest.mark.parametrize(
    ("mcp_settings", "lacks"),
    [
        ({"DIGESTER_CLASS": Silent}, ["Silent has no method condense()."]),
        ({"ARCHIVE_CLASS": Forgetful}, ["no method read().", "no method latest()."]),
        ({"DIGESTER_CLASS": Terse, "ARCHIVE_CLASS": OwnCacheArchive}, []),
        ({"DIGESTER_CLASS": None, "ARCHIVE_CLASS": None}, []),
    ],
)
def test_a_class_that_lacks_something_is_an_error(settings, found, mcp_settings, lacks):
    settings.DRF_MCP = mcp_settings
    messages = [error.msg for error in found("drf_mcp.E005")]
    assert len(messages) == len(lacks)
    assert all(message.endswith(lack) for message, lack in zip(messages, lacks, strict=True))


@pytest.fixture
def warned(settings, found):
    def of(backend: str, **mcp_settings) -> list[str]:
        settings.CACHES = {
            "default": {"BACKEND": f"{BACKENDS}.locmem.LocMemCache"},
            "shared": {"BACKEND": f"{BACKENDS}.{backend}", "LOCATION": "redis://localhost"},
        }
        settings.DRF_MCP = {
            "ARCHIVE_CLASS": "drf_mcp.archive.CacheArchive",
            "ARCHIVE_CACHE": "shared",
            **mcp_settings,
        }
        return [warning.msg for warning in found("drf_mcp.W007", deploy=True)]

    return of


@pytest.mark.parametrize(
    ("backend", "trouble"),
    [("locmem.LocMemCache", "belongs to one process"), ("dummy.DummyCache", "keeps nothing")],
)
def test_a_cache_that_other_processes_do_not_see_is_told_of_before_deploying(
    warned, found, backend, trouble
):
    for archive_class in (CacheArchive, OwnCacheArchive):
        (message,) = warned(backend, ARCHIVE_CLASS=archive_class)
        assert "the cache 'shared'" in message
        assert trouble in message
    assert found("drf_mcp.W007") == []


@pytest.mark.parametrize(
    "backend", ["redis.RedisCache", "db.DatabaseCache", "filebased.FileBasedCache"]
)
def test_a_shared_cache_is_in_order(warned, backend):
    assert warned(backend) == []


@pytest.mark.parametrize(
    "mcp_settings",
    [
        {"ARCHIVE_CLASS": "drf_mcp.archive.DatabaseArchive"},
        {"ARCHIVE_CLASS": None},
        {"MAX_RESULT_TOKENS": None},
    ],
)
def test_the_cache_does_not_matter_where_nothing_is_archived_in_it(warned, mcp_settings):
    assert warned("locmem.LocMemCache", **mcp_settings) == []


def test_the_cache_of_throttles_is_no_archive(settings, found):
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.UserRateThrottle"],
    }
    settings.DRF_MCP = {"ARCHIVE_CLASS": "drf_mcp.archive.CacheArchive"}
    (error,) = found("drf_mcp.E006")
    assert "the cache 'default', which throttles use too" in error.msg


@pytest.mark.parametrize("engine", ["cache", "cached_db"])
def test_the_cache_of_sessions_is_no_archive(settings, found, engine):
    settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{engine}"
    settings.SESSION_CACHE_ALIAS = "shared"
    settings.CACHES = {
        name: {"BACKEND": f"{BACKENDS}.locmem.LocMemCache"} for name in ("default", "shared")
    }
    settings.DRF_MCP = {
        "ARCHIVE_CLASS": "drf_mcp.archive.CacheArchive",
        "ARCHIVE_CACHE": "shared",
    }
    (error,) = found("drf_mcp.E006")
    assert "the cache 'shared', which sessions use too" in error.msg


@pytest.mark.parametrize("archive", ["drf_mcp.archive.DatabaseArchive", None])
def test_an_archive_that_is_no_cache_shares_none(settings, found, archive):
    settings.SESSION_ENGINE = "django.contrib.sessions.backends.cache"
    settings.DRF_MCP = {"ARCHIVE_CLASS": archive}
    assert found("drf_mcp.E006") == []


@pytest.fixture
def lost_tables(db) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE drf_mcp_archivedchunk RENAME TO elsewhere")


def test_missing_tables_of_the_archive_are_found(settings, found, lost_tables):
    settings.DRF_MCP = {}
    assert [warning.hint for warning in found("drf_mcp.W015", deploy=True)]
    assert found("drf_mcp.W015") == []


@pytest.mark.parametrize("archive", ["drf_mcp.archive.CacheArchive", None])
def test_tables_do_not_matter_to_another_archive(settings, found, lost_tables, archive):
    settings.DRF_MCP = {"ARCHIVE_CLASS": archive}
    assert found("drf_mcp.W015", deploy=True) == []


@pytest.mark.django_db
def test_tables_that_are_there_are_in_order(settings, found):
    settings.DRF_MCP = {}
    assert found("drf_mcp.W015", deploy=True) == []
