"""Sending a request and undoing it, so that another one meets the same rows and cookies."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection
from dataclasses import replace

from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from drf_mcp.test.client import MCPClient
from drf_mcp.test.comparison import Observed

WRITE = re.compile(r'\s*(INSERT INTO|UPDATE|DELETE FROM)\s+["`\[]?(\w+)', re.IGNORECASE)


class Undone(Exception):
    """Ends a savepoint."""


def undone(
    client: MCPClient, send: Callable[[], Observed], ignored_writes: Collection[str] = ()
) -> Observed:
    """Return what a request came to, and undo it; its writes are told from its SQL.

    Args:
        client: who sends it; a cookie whose row goes with the savepoint goes as well.
        send: sends it.
        ignored_writes: tables whose writes are not told.
    """
    cookies = copy.deepcopy(client.cookies)
    with CaptureQueriesContext(connection) as queries:
        try:
            with transaction.atomic():
                observed = send()
                raise Undone
        except Undone:
            pass
    client.cookies = cookies
    matches = [WRITE.match(query["sql"]) for query in queries]
    writes = [f"{m[1].upper()} {m[2]}" for m in matches if m and m[2] not in ignored_writes]
    return replace(observed, writes=writes)
