"""A database to which each thread opens its own connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection, connections


@contextmanager
def use_shared_database(request: Any, folder: Path, *apps: str) -> Iterator[None]:
    """Use PostgreSQL where it is the database, or else a file of SQLite with the tables of apps."""
    blocker = request.getfixturevalue("django_db_blocker")
    if connection.vendor == "postgresql":
        request.getfixturevalue("django_db_setup")
        with blocker.unblock():
            yield
        return
    usual, usually = connections["default"], connections.databases["default"]
    own = {"NAME": str(folder / "shared.sqlite3")}
    options = {"timeout": 20, "transaction_mode": "IMMEDIATE"}
    with blocker.unblock():
        connections.databases["default"] = {**usually, **own, "OPTIONS": options}
        connections["default"] = connections.create_connection("default")
        for app in apps:
            call_command("migrate", app, verbosity=0)
        yield
        connections["default"].close()
        connections["default"], connections.databases["default"] = usual, usually
