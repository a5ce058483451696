"""Archives of every class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections


@pytest.fixture(params=["CacheArchive", "DatabaseArchive"])
def archive_class(request, settings, db) -> str:
    name = f"drf_mcp.stored.{request.param}"
    settings.DRF_MCP = {**settings.DRF_MCP, "ARCHIVE_CLASS": name, "ARCHIVE_CACHE": "shared"}
    return name


@pytest.fixture
def database_file(tmp_path, django_db_blocker) -> Iterator[dict[str, Any]]:
    """The settings of a file database, which is the default database of every thread."""
    usual, databases = connections["default"], connections.databases
    members = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "shared.sqlite3")}
    usually = databases["default"]
    options = {"timeout": 20, "transaction_mode": "IMMEDIATE"}
    with django_db_blocker.unblock():
        databases["default"] = {**usually, **members, "OPTIONS": options}
        connections["default"] = connections.create_connection("default")
        call_command("migrate", "drf_mcp", verbosity=0)
        yield members
        connections["default"].close()
        connections["default"], databases["default"] = usual, usually
