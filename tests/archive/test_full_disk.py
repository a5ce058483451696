"""Where the disk takes no more, results are shortened and promise nothing."""

from __future__ import annotations

import resource
from contextlib import contextmanager

import pytest


@contextmanager
def full_disk():
    """Refuse what this process writes beyond 100 bytes of a file, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def folder(tmp_path, settings):
    """Archives in files."""
    backend = "django.core.cache.backends.filebased.FileBasedCache"
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_CLASS": "drf_mcp.archive.CacheArchive"}
    return tmp_path


@pytest.mark.slow
def test_files_that_cannot_be_written_are_not_promised(agent_of, folder):
    admin = agent_of("admin")
    # What is made at the first call alone.
    admin.tools()
    with full_disk():
        result = admin.call("orders_list", page_size=100)
    meta = result.envelope["meta"]
    assert 0 < len(result.data["results"]) < 100
    assert "content_archive_hashes" not in meta
    assert "ARCHIVE_UNAVAILABLE" in {detail["code"] for detail in meta["warning_details"]}
    assert "content_retrieve" not in str(meta["warning_details"])
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_with_room_again_the_rest_can_be_fetched(agent_of, folder):
    admin = agent_of("admin")
    with full_disk():
        admin.call("orders_list", page_size=100)
    result = admin.call("orders_list", page_size=100)
    (archive_id,) = result.envelope["meta"]["content_archive_hashes"]
    rest = admin.call("content_retrieve", archive_id=archive_id).data["items"]
    assert len(result.data["results"]) + len(rest) == 100
