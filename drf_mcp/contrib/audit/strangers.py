"""Callers whom nobody knows: counted by address, so that their requests fill no table."""

from __future__ import annotations

import atexit
import logging
import threading
import time
from typing import Any, TypeAlias

from django.utils import timezone

from drf_mcp.access.limits import get_address
from drf_mcp.codes import standard_code
from drf_mcp.contrib.audit.models import AuditedCall, Verdict
from drf_mcp.exceptions import contain

logger = logging.getLogger("drf_mcp")

# Seconds between two writes of a process.
INTERVAL = 60
# Addresses that are counted apart between two writes; all others are counted as one.
MOST_ADDRESSES = 1_000
OTHERS = "others"

# How many messages came, by address and HTTP status.
Counts: TypeAlias = dict[tuple[str, int], int]


class StrangerCounter:
    """Counts the messages of callers without a valid credential, by address.

    Args:
        auditor: the `Auditor` that keeps the rows.
    """

    def __init__(self, auditor: Any) -> None:
        self.auditor = auditor
        self.counts: Counts = {}
        self.began: Any = None
        self.written = -float(INTERVAL)
        self.lock = threading.Lock()
        atexit.register(self.flush)

    def count(self, request: Any, status: int) -> None:
        """Count one message, and write all counts once a minute has passed since the last time.

        Args:
            request: the request, whose address is the one that REST framework's throttles see.
        """
        key = get_address(request) or "", status
        with self.lock:
            if key not in self.counts and len(self.counts) >= MOST_ADDRESSES:
                key = OTHERS, status
            self.began = self.began or timezone.now()
            self.counts[key] = self.counts.get(key, 0) + 1
            is_due = time.monotonic() - self.written >= INTERVAL
        if is_due:
            self.flush()

    def flush(self) -> None:
        """Write what was counted since the last time."""
        with self.lock:
            counts, began = self.counts, self.began
            self.counts, self.began = {}, None
            self.written = time.monotonic()
        if not counts:
            return
        rows = [
            AuditedCall(
                time=began,
                verdict=Verdict.DENIED,
                address=address,
                code=standard_code(status),
                status=status,
                messages=count,
            )
            for (address, status), count in counts.items()
        ]
        contain(lambda: self.save(rows), report_unwritten)

    def save(self, rows: list[AuditedCall]) -> None:
        self.auditor.rows.bulk_create(row for row in rows if self.auditor.is_kept(row))


def report_unwritten(exc: Exception) -> None:
    """Log that rows were lost."""
    logger.error("The audit of a call could not be written", exc_info=exc)
