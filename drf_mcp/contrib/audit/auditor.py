"""The auditor, which chooses what is recorded, and the count of callers without a credential."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import cached_property, partial
from typing import Any, TypeAlias
from weakref import WeakSet

from django.db import InterfaceError, OperationalError, connections, router, transaction
from django.dispatch import receiver
from django.utils import timezone

from drf_mcp.access.limits import find_address
from drf_mcp.codes import standard_code
from drf_mcp.contrib.audit.models import AuditedCall, Verdict
from drf_mcp.contrib.audit.recording import CALLS, fill, make_auditor, report_unwritten
from drf_mcp.exceptions import attempt, catch
from drf_mcp.features import Caller, mcp_settings
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.signals import records_wanted

logger = logging.getLogger("drf_mcp")
# Rows that one statement deletes.
MAX_DELETED = 5_000
# Seconds between two writes of the counts of a process.
INTERVAL = 60
# Addresses that are counted apart between two writes; all others are counted as one.
MAX_ADDRESSES = 1_000
OTHER_ADDRESSES = "others"
# The values of a row.
Record: TypeAlias = Mapping[str, Any]
batches: WeakSet[RecordBatch] = WeakSet()


class StrangerCounter:
    """Counts the messages of callers without a valid credential, by address.

    Args:
        auditor: the `Auditor` that keeps the rows.
    """

    def __init__(self, auditor: Any) -> None:
        self.auditor = auditor
        self.counts: dict[tuple[str, int], int] = {}
        self.began: Any = None
        self.written = -float(INTERVAL)
        self.lock = threading.Lock()
        atexit.register(self.flush)

    def count(self, request: Any, status: int) -> None:
        """Count one message by its address, and write all counts once a minute has passed."""
        key = find_address(request) or "", status
        with self.lock:
            if key not in self.counts and len(self.counts) >= MAX_ADDRESSES:
                key = OTHER_ADDRESSES, status
            self.began = self.began or timezone.now()
            self.counts[key] = self.counts.get(key, 0) + 1
            is_due = time.monotonic() - self.written >= INTERVAL
        if is_due:
            self.flush()

    def flush(self) -> None:
        """Write a row for each address and status counted since the last write."""
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
        is_kept, table = self.auditor.is_kept, self.auditor.rows
        attempt(lambda: table.bulk_create(filter(is_kept, rows)), otherwise=report_unwritten)


class Auditor:
    """Records calls; a subclass may override what is recorded.

    `AuditConfig.auditor_class` names it. The project's routers choose the database of
    `AuditedCall`.
    """

    @cached_property
    def strangers(self) -> StrangerCounter:
        return StrangerCounter(self)

    def is_kept(self, row: AuditedCall) -> bool:
        """Return whether a row is written: by default, calls and denials are."""
        return row.method in CALLS or row.verdict == Verdict.DENIED

    def get_user(self, user: Any) -> dict[str, Any]:
        """Return the columns that name the user; none for an anonymous user or None."""
        pk = getattr(user, "pk", None)
        if pk is None:
            return {}
        return {"user_pk": pk, "user_label": user.get_username()}

    def get_credential(self, caller: Caller) -> dict[str, Any]:
        """Return the columns that name the credential, never the credential itself.

        The prefix is the token's attribute ``prefix`` or ``token_key``. The client is
        the application of the token, or the claim ``client_id`` or ``azp``.
        """
        auth = getattr(caller.request, "auth", None)
        authenticator = caller.successful_authenticator
        claims = getattr(auth, "claims", auth)
        claims = claims if isinstance(claims, Mapping) else {}
        # allauth has the id of the client in the token.
        client = getattr(getattr(auth, "application", auth), "client_id", None)
        return {
            "credential": "" if authenticator is None else type(authenticator).__name__,
            "token_prefix": getattr(auth, "prefix", None) or getattr(auth, "token_key", None),
            "oauth_client": client or claims.get("client_id") or claims.get("azp"),
        }

    def get_client(self, message: Any, caller: Caller) -> dict[str, Any]:
        """Return the columns that name the client, as it names itself."""
        info = None
        if message is not None:
            info = message.meta.get(CLIENT_INFO_KEY) or message.params.get("clientInfo")
        info = info if isinstance(info, Mapping) else {}
        return {
            "client_name": info.get("name"),
            "client_version": info.get("version"),
            "user_agent": caller.request.META.get("HTTP_USER_AGENT"),
        }

    def get_arguments(self, tool: Any, arguments: Any) -> Any:
        """Return the arguments as they are kept: secrets masked, long values cut."""
        return tool.sanitize_arguments(arguments)

    @cached_property
    def batch(self) -> RecordBatch:
        return RecordBatch(self.write)

    def keep(self, record: Record) -> None:
        """Have a row written: soon, or at once in strict mode and in a transaction of the caller's.

        Args:
            record: the values of the row.
        """
        is_nested = connections[router.db_for_write(AuditedCall)].in_atomic_block
        if not is_nested and not mcp_settings.AUDIT_STRICT:
            self.batch.add(record)
        elif self.is_kept(row := fill(AuditedCall(), record)):
            self.save(row)

    def flush(self) -> None:
        """Write what waits in this process."""
        self.batch.flush()
        self.strangers.flush()

    def write(self, records: Sequence[Record]) -> Sequence[Record]:
        """Write records, and return the records that the database could not take now."""
        rows: list[AuditedCall] = []

        def make(record: Record) -> None:
            row = fill(AuditedCall(), record)
            if self.is_kept(row):
                rows.append(row)

        for record in records:
            attempt(partial(make, record), otherwise=report_unwritten)
        with catch() as caught:
            self.save_rows(rows)
            return ()
        if isinstance(caught.exception, (OperationalError, InterfaceError)):
            logger.warning("The audit of %d calls waits for its database", len(rows))
            return records
        # The database refuses a row, so each is written by itself.
        for row in rows:
            attempt(partial(self.save, row), otherwise=report_unwritten)
        return ()

    @property
    def rows(self) -> Any:
        return AuditedCall._default_manager.using(router.db_for_write(AuditedCall))

    def save_rows(self, rows: Sequence[AuditedCall]) -> None:
        """Write rows together: `save` is for one row."""
        alias = router.db_for_write(AuditedCall)
        with transaction.atomic(using=alias):
            self.rows.bulk_create(rows)

    def save(self, row: AuditedCall) -> None:
        alias = router.db_for_write(AuditedCall)
        # The view's call may have broken the connection.
        if connections[alias].errors_occurred:
            connections[alias].close_if_unusable_or_obsolete()
        row.save(using=alias, force_insert=row.pk is None)

    def expire(self) -> int | None:
        """Delete rows older than AUDIT_RETENTION, and return their number; None without it."""
        if (days := mcp_settings.AUDIT_RETENTION) is None:
            return None
        old, deleted = self.rows.filter(time__lt=timezone.now() - timedelta(days=days)), 0
        while keys := list(old.order_by("pk").values_list("pk", flat=True)[:MAX_DELETED]):
            deleted += old.filter(pk__gte=keys[0], pk__lte=keys[-1]).delete()[0]
        return deleted


class RecordBatch:
    """Keeps records until a thread of the process writes them together, within a second.

    Args:
        write: writes records, and returns the records that the database could not take now.
    """

    # Half a second to wait leaves half a second to write.
    seconds = 0.5
    # A server may run no threads besides its requests (uWSGI): then a request writes.
    max_seconds = 2.0
    # Kept while the database is away.
    max_waiting = 10_000
    # Set by a signal that ends the process: what comes from then on is written at once.
    is_stopping = threading.Event()

    def __init__(self, write: Callable[[Sequence[Record]], Sequence[Record]]) -> None:
        self.write = write
        self.begin()
        batches.add(self)

    def begin(self) -> None:
        # After a fork, the parent writes what waits: the child does not have the parent's thread.
        self.waiting: list[Record] = []
        self.thread: threading.Thread | None = None
        self.late = 0.0
        self.lock, self.writing = threading.Lock(), threading.Lock()

    def add(self, record: Record) -> None:
        """Keep a record, to be written soon."""
        now = time.monotonic()
        with self.lock:
            if not self.waiting:
                self.late = now + self.max_seconds
            self.waiting.append(record)
            is_late = now > self.late
            if self.thread is None and not self.is_stopping.is_set():
                self.thread = threading.Thread(target=self.run, daemon=True)
                self.thread.start()
        if is_late or self.is_stopping.is_set():
            self.flush()

    def run(self) -> None:
        while True:
            self.is_stopping.wait(self.seconds)
            self.flush()
            connections.close_all()
            with self.lock:
                if not self.waiting or self.is_stopping.is_set():
                    self.thread = None
                    return

    def flush(self) -> None:
        """Write what waits; return when all that was added before is written."""
        with self.writing:
            with self.lock:
                records, self.waiting = self.waiting, []
            if records and (left := self.write(records)):
                with self.lock:
                    kept = [*left, *self.waiting]
                    self.waiting = kept[-self.max_waiting :]
                    self.late = time.monotonic() + self.max_seconds
                if lost := len(kept) - len(self.waiting):
                    logger.error("The audit of %d calls is lost: the database is away", lost)


def flush_at_exit() -> None:
    for batch in [*batches]:
        batch.flush()
        if batch.waiting:
            logger.error("The audit of %d calls is lost at the exit", len(batch.waiting))


def begin_in_child() -> None:
    for batch in [*batches]:
        batch.begin()


atexit.register(flush_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=begin_in_child)


@receiver(records_wanted)
def flush_wanted(**kwargs: Any) -> None:
    if auditor := make_auditor():
        auditor.flush()


def flush_at_signal() -> None:
    """Write what waits when uvicorn stops: it ends by the signal itself, without `atexit`."""
    is_main = threading.current_thread() is threading.main_thread()
    if "uvicorn" not in sys.modules or not is_main:
        return
    before = signal.getsignal(signal.SIGTERM)

    def stop(number: int, frame: Any) -> None:
        RecordBatch.is_stopping.set()
        # The other threads write: the signal may have interrupted a statement of this thread.
        for thread in [batch.thread for batch in batches]:
            if thread is not None:
                thread.join(1.0)
        if callable(before):
            before(number, frame)
        elif before == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    signal.signal(signal.SIGTERM, stop)
