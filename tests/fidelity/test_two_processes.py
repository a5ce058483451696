"""What one process stores another retrieves: through a database, through a shared cache."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.db import connections

from drf_mcp.fidelity import CacheArchive, DatabaseArchive

ROOT = Path(__file__).resolve().parents[2]
ITEMS = [
    {"id": str(n), "pointer": f"/{n}", "value": {"note": f"é {n} \U0001f600" * 50}}
    for n in range(90)
]


def stored_elsewhere(owner: str, archive_class: str, **django_settings: Any) -> list[str]:
    """Store the items in another process; return the archive id and the hash."""
    asked = {
        "owner": owner,
        "items": ITEMS,
        "settings": {
            "INSTALLED_APPS": ["django.contrib.contenttypes", "django.contrib.auth", "drf_mcp"],
            "USE_TZ": True,
            "DRF_MCP": {"ARCHIVE_CLASS": f"drf_mcp.fidelity.{archive_class}"},
            **django_settings,
        },
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.fidelity.stored_elsewhere"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def database_file(tmp_path, django_db_blocker):
    """A database in a file that both processes open, as the default database of this one."""
    members = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "shared.sqlite3")}
    usual = connections["default"]
    with django_db_blocker.unblock():
        connections["default"] = connections.create_connection("default")
        connections["default"].settings_dict = {**usual.settings_dict, **members}
        call_command("migrate", "drf_mcp", verbosity=0)
        yield members
        connections["default"].close()
        connections["default"] = usual


def test_through_a_database(database_file):
    archive_id, digest = stored_elsewhere(
        "7", "DatabaseArchive", DATABASES={"default": database_file}
    )
    assert DatabaseArchive().fetch(archive_id, "7").items == ITEMS
    assert DatabaseArchive().find(digest, "7").archive_id == archive_id
    assert DatabaseArchive().fetch(archive_id, "8") is None


def test_through_a_shared_cache(tmp_path, settings):
    shared = {
        "default": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(tmp_path),
        }
    }
    settings.CACHES = shared
    archive_id, digest = stored_elsewhere("7", "CacheArchive", CACHES=shared)
    assert CacheArchive().fetch(archive_id, "7").items == ITEMS
    assert CacheArchive().find(digest, "7").archive_id == archive_id
    assert CacheArchive().fetch(archive_id, "8") is None
    caches["default"].clear()
