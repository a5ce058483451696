"""One process retrieves what another stored, through a database and through a shared cache."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches

from drf_mcp.stored import CacheArchive, DatabaseArchive
from tests.stored.conftest import database_file  # noqa: F401

ROOT = Path(__file__).resolve().parents[2]
ITEMS = [
    {"id": str(n), "pointer": f"/{n}", "value": {"note": f"é {n} \U0001f600" * 50}}
    for n in range(90)
]


def store_elsewhere(owner: str, archive_class: str, **django_settings: Any) -> list[str]:
    program_input = {
        "owner": owner,
        "items": ITEMS,
        "settings": {
            "INSTALLED_APPS": ["django.contrib.contenttypes", "django.contrib.auth", "drf_mcp"],
            "USE_TZ": True,
            "DRF_MCP": {"ARCHIVE_CLASS": f"drf_mcp.stored.{archive_class}"},
            **django_settings,
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.stored.stored_elsewhere"],
        input=json.dumps(program_input),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_through_a_database(database_file):  # noqa: F811
    archive_id, digest = store_elsewhere(
        "7", "DatabaseArchive", DATABASES={"default": database_file}
    )
    assert DatabaseArchive().fetch(archive_id, "7").items == ITEMS
    assert DatabaseArchive().find(digest, "7").archive_id == archive_id
    assert DatabaseArchive().fetch(archive_id, "8") is None


@pytest.mark.nightly
def test_through_a_shared_cache(tmp_path, settings):
    shared = {
        "default": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(tmp_path),
        }
    }
    settings.CACHES = shared
    archive_id, digest = store_elsewhere("7", "CacheArchive", CACHES=shared)
    assert CacheArchive().fetch(archive_id, "7").items == ITEMS
    assert CacheArchive().find(digest, "7").archive_id == archive_id
    assert CacheArchive().fetch(archive_id, "8") is None
    caches["default"].clear()
