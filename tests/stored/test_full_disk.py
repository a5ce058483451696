"""On a full disk results are shortened, and promise no archived content."""

from __future__ import annotations

import resource
import sys
from contextlib import contextmanager

import pytest
from django.urls import path
from rest_framework.response import Response
from rest_framework.views import APIView


@contextmanager
def full_disk(monkeypatch):
    """Refuse to write beyond 100 bytes of a file, as a full disk does."""
    # Python before 3.14 keeps the first bytes of a module that it compiles now, and no process can
    # load that module afterwards ("marshal data too short").
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Rows(APIView):
    """Returns more rows than a result holds."""

    authentication_classes = permission_classes = throttle_classes = []

    def get(self, request) -> Response:
        return Response([{"id": number, "text": "x" * 100} for number in range(100)])


@pytest.fixture
def folder(tmp_path, expose, settings):
    """The folder of a file archive."""
    backend = "django.core.cache.backends.filebased.FileBasedCache"
    settings.CACHES = {**settings.CACHES, "shared": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
    archive = "drf_mcp.archives.CacheArchive"
    expose(path("rows/", Rows.as_view()), ARCHIVE_CLASS=archive, MAX_RESULT_TOKENS=1000)
    return tmp_path


@pytest.mark.slow
def test_a_full_disk_promises_nothing_until_there_is_space(folder, alice, monkeypatch):
    with full_disk(monkeypatch):
        result = alice.call("rows")
    meta = result.envelope["meta"]
    assert 0 < len(result.data["results"]) < 100
    assert "content_archive_hashes" not in meta
    assert "ARCHIVE_UNAVAILABLE" in {detail["code"] for detail in meta["warning_details"]}
    assert "content_retrieve" not in str(meta["warning_details"])
    assert list(folder.iterdir()) == []
    result = alice.call("rows")
    (archive_id,) = result.envelope["meta"]["content_archive_hashes"]
    rest, offset = [], 0
    while offset is not None:
        data = alice.call("content_retrieve", archive_id=archive_id, offset=offset).data
        rest, offset = rest + data["items"], data["next_offset"]
    assert len(result.data["results"]) + len(rest) == 100
