"""The checks of the archive."""

from __future__ import annotations

import pytest
from django.db import connection

from drf_mcp.stored import Archive, CacheArchive, Entry
from drf_mcp.truncation import Condensed, Digester

BACKENDS = "django.core.cache.backends"
CACHE = "drf_mcp.archives.CacheArchive"


class WithoutCondense(Digester): ...


class Terse(Digester):
    def condense(self, text: str, query: str) -> Condensed:
        return Condensed(text.split()[0])


class WithoutRead(Archive):
    def store(self, entry: Entry) -> None: ...


class OwnCacheArchive(CacheArchive):
    """Keeps entries in a cache, with its own code."""


@pytest.mark.slow
@pytest.mark.usefixtures("bare_project")
def test_a_class_without_a_required_method_is_an_error(settings, found):
    rows = [
        ({"DIGESTER_CLASS": WithoutCondense}, ["WithoutCondense has no condense()."]),
        ({"ARCHIVE_CLASS": WithoutRead}, ["no read().", "no latest()."]),
        ({"DIGESTER_CLASS": Terse, "ARCHIVE_CLASS": OwnCacheArchive}, []),
        ({"DIGESTER_CLASS": None, "ARCHIVE_CLASS": None}, []),
    ]
    for mcp_settings, lacks in rows:
        settings.DRF_MCP = mcp_settings
        messages = [error.msg for error in found("drf_mcp.E003")]
        assert len(messages) == len(lacks)
        assert all(message.endswith(lack) for message, lack in zip(messages, lacks, strict=True))


# --- Caches -------------------------------------------------------------------------------


@pytest.fixture
def warned(settings, found, bare_project):
    def of(backend: str, **mcp_settings) -> list[str]:
        settings.CACHES = {
            "default": {"BACKEND": f"{BACKENDS}.locmem.LocMemCache"},
            "shared": {"BACKEND": f"{BACKENDS}.{backend}", "LOCATION": "redis://localhost"},
        }
        settings.DRF_MCP = {"ARCHIVE_CLASS": CACHE, "ARCHIVE_CACHE": "shared", **mcp_settings}
        return [warning.msg for warning in found("drf_mcp.W007", deploy=True)]

    return of


@pytest.mark.slow
def test_a_cache_that_is_not_shared_is_reported_before_deployment(warned, found):
    troubles = {"locmem.LocMemCache": "belongs to one process", "dummy.DummyCache": "keeps nothing"}
    for backend, trouble in troubles.items():
        for archive_class in (CacheArchive, OwnCacheArchive):
            (message,) = warned(backend, ARCHIVE_CLASS=archive_class)
            assert "the cache 'shared'" in message
            assert trouble in message
        assert found("drf_mcp.W007") == []


@pytest.mark.slow
def test_a_shared_or_unused_cache_is_not_reported(warned):
    for backend in ("redis.RedisCache", "db.DatabaseCache", "filebased.FileBasedCache"):
        assert warned(backend) == []
    for unused in (
        {"ARCHIVE_CLASS": "drf_mcp.archives.DatabaseArchive"},
        {"ARCHIVE_CLASS": None},
        {"MAX_RESULT_TOKENS": None},
    ):
        assert warned("locmem.LocMemCache", **unused) == []


@pytest.mark.slow
def test_an_archive_in_the_cache_of_throttles_is_reported(settings, found):
    """Another cache is reported."""
    throttles = ["rest_framework.throttling.UserRateThrottle"]
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_CLASSES": throttles}
    settings.DRF_MCP = {"ARCHIVE_CLASS": CACHE}
    (error,) = found("drf_mcp.E006")
    assert "the cache 'default', which throttles use too" in error.msg
    backend = {"BACKEND": f"{BACKENDS}.locmem.LocMemCache"}
    settings.CACHES = {"default": backend, "shared": {**backend, "LOCATION": "shared"}}
    settings.DRF_MCP = {"ARCHIVE_CLASS": CACHE, "ARCHIVE_CACHE": "shared"}
    assert found("drf_mcp.E006") == []


@pytest.mark.slow
@pytest.mark.usefixtures("bare_project")
def test_an_archive_in_the_cache_of_sessions_is_reported(settings, found):
    """An archive without a cache shares none."""
    settings.SESSION_CACHE_ALIAS = "shared"
    settings.CACHES = {
        name: {"BACKEND": f"{BACKENDS}.locmem.LocMemCache"} for name in ("default", "shared")
    }
    for engine in ("cache", "cached_db"):
        settings.SESSION_ENGINE = f"django.contrib.sessions.backends.{engine}"
        settings.DRF_MCP = {"ARCHIVE_CLASS": CACHE, "ARCHIVE_CACHE": "shared"}
        (error,) = found("drf_mcp.E006")
        assert "the cache 'shared', which sessions use too" in error.msg
        for archive in ("drf_mcp.archives.DatabaseArchive", None):
            settings.DRF_MCP = {"ARCHIVE_CLASS": archive}
            assert found("drf_mcp.E006") == []


# --- Tables -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("bare_project", "db")
def test_missing_tables_of_the_archive_are_reported(settings, found):
    """An archive without tables does not need them."""
    settings.DRF_MCP = {}
    assert found("drf_mcp.W015", deploy=True) == []
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE drf_mcp_archivedchunk RENAME TO elsewhere")
    assert [warning.hint for warning in found("drf_mcp.W015", deploy=True)]
    assert found("drf_mcp.W015") == []
    for archive in (CACHE, None):
        settings.DRF_MCP = {"ARCHIVE_CLASS": archive}
        assert found("drf_mcp.W015", deploy=True) == []
