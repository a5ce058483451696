"""From a message and what became of it to its row."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from django.db import connections, router
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.access.authentication import Caller
from drf_mcp.codes import screaming_code, standard_code
from drf_mcp.contrib.audit.models import AuditedCall, Verdict
from drf_mcp.contrib.audit.strangers import StrangerCounter, report_unwritten
from drf_mcp.exceptions import ProtocolError, Refused, Unavailable, contain
from drf_mcp.json_text import to_bytes
from drf_mcp.observability.records import CallRecord
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.protocol.context import MessageObserver
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.arguments.masking import escape_unprintable

logger = logging.getLogger("drf_mcp")

# What is recorded of those who are let in.
CALLS = frozenset({"tools/call", "resources/read", "prompts/get"})
# The statuses of callers who are not let in.
DENIALS = frozenset({401, 403})
# What callers without a valid credential are refused with, whatever status REST framework gives it.
STRANGERS = (NotAuthenticated, AuthenticationFailed)
# Characters of the arguments of one call, each of which is cut already.
MAX_ARGUMENTS = 20_000
# Rows that one statement deletes.
MOST_DELETED = 5_000

LENGTHS: Mapping[str, int] = {
    field.name: field.max_length
    for field in AuditedCall._meta.concrete_fields
    if field.get_internal_type() == "CharField" and field.max_length
}


class Auditor:
    """Keeps the record of calls; a subclass may override what is kept of them.

    `AuditConfig.auditor_class` names it. The database is the one that the project's routers
    choose for `AuditedCall`.
    """

    @cached_property
    def strangers(self) -> StrangerCounter:
        return StrangerCounter(self)

    def open(self, message: Any, caller: Caller) -> Audit:
        """Return the audit of one message, which a door has received.

        Args:
            message: the message; None where the door has not read one.
        """
        return Audit(self, message, caller)

    def is_kept(self, row: AuditedCall) -> bool:
        """Return whether a row is written that tells of an answer: all calls, and denials."""
        return row.method in CALLS or row.verdict == Verdict.DENIED

    def get_user(self, user: Any) -> dict[str, Any]:
        """Return the columns that name the user, None or an anonymous one for nobody."""
        pk = getattr(user, "pk", None)
        if pk is None:
            return {}
        return {"user_pk": pk, "user_label": user.get_username()}

    def get_credential(self, caller: Caller) -> dict[str, Any]:
        """Return the columns that name the credential, never the credential itself.

        The prefix is that of tokens that have one in ``prefix`` or ``token_key``. The client is
        that of django-oauth-toolkit's token or of the claims ``client_id`` and ``azp``.
        """
        auth = getattr(caller.request, "auth", None)
        authenticator = caller.successful_authenticator
        claims = getattr(auth, "claims", auth)
        claims = claims if isinstance(claims, Mapping) else {}
        client = getattr(getattr(auth, "application", None), "client_id", None)
        return {
            "credential": "" if authenticator is None else type(authenticator).__name__,
            "token_prefix": getattr(auth, "prefix", None) or getattr(auth, "token_key", None),
            "oauth_client": client or claims.get("client_id") or claims.get("azp"),
        }

    def get_client(self, message: Any, caller: Caller) -> dict[str, Any]:
        """Return the columns that name the program that calls, as far as it says."""
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

    @property
    def rows(self) -> Any:
        return AuditedCall._default_manager.using(router.db_for_write(AuditedCall))

    def save(self, row: AuditedCall) -> None:
        alias = router.db_for_write(AuditedCall)
        # What broke the connection under a view is no reason to lose the row.
        if connections[alias].errors_occurred:
            connections[alias].close_if_unusable_or_obsolete()
        row.save(using=alias, force_insert=row.pk is None)

    def expire(self, days: int | None = None) -> int | None:
        """Delete rows older than that, and return how many; None if all are to be kept.

        Args:
            days: None for AUDIT_RETENTION.
        """
        days = mcp_settings.AUDIT_RETENTION if days is None else days
        return None if days is None else self.delete(timezone.now() - timedelta(days=days))

    def delete(self, until: datetime) -> int:
        old, deleted = self.rows.filter(time__lt=until), 0
        while keys := list(old.order_by("pk").values_list("pk", flat=True)[:MOST_DELETED]):
            deleted += old.filter(pk__gte=keys[0], pk__lte=keys[-1]).delete()[0]
        return deleted


class Audit(MessageObserver):
    """Follows one message until it is answered.

    Attributes:
        record: the call, once it is over.
        error: why there is no call, or why its answer could not be sent.
    """

    def __init__(self, auditor: Auditor, message: Any, caller: Caller) -> None:
        self.auditor = auditor
        self.message = message
        self.caller = caller
        self.record: CallRecord | None = None
        self.error: Exception | None = None
        self.arguments = ""
        # Of a resource no name but the tool's was sent.
        self.tool_name = ""
        self.time, self.started = timezone.now(), time.perf_counter()
        # The row of a call that is under way, in strict mode.
        self.row: AuditedCall | None = None

    def end_call(self, record: CallRecord) -> None:
        self.record = record

    def fail(self, exc: Exception) -> None:
        self.error = exc

    def begin(self, tool: Any, arguments: Any) -> None:
        """Write the row before the call of a caller who is known, in strict mode.

        Raises:
            Unavailable: if it cannot be written.
        """
        if not mcp_settings.AUDIT_STRICT:
            return

        def refuse(exc: Exception) -> None:
            logger.error("A call was refused: its audit could not be written", exc_info=exc)
            self.row = None
            text = _("The call was not made, because it could not be recorded.")
            raise Unavailable(text) from exc

        contain(lambda: self.write_first(tool, arguments), refuse)

    def write_first(self, tool: Any, arguments: Any) -> None:
        self.keep_arguments(tool, arguments)
        row = self.make_row()
        self.auditor.save(row)
        self.row = row

    def close(self) -> None:
        """Write what became of the message; a failure is logged and changes no answer."""

        error = self.error
        if isinstance(error, Refused) and error.http_status in DENIALS:
            self.auditor.strangers.count(self.caller.request, error.http_status)
        elif isinstance(error, STRANGERS):
            self.auditor.strangers.count(self.caller.request, 401)
        else:
            contain(self.write_last, report_unwritten)

    def write_last(self) -> None:
        if self.row is None:
            if self.error is None and self.message is not None and self.message.method not in CALLS:
                return
            if self.record is not None:
                self.keep_arguments(self.record.tool, self.record.sent)
            row = self.make_row()
            if not self.auditor.is_kept(row):
                return
        else:
            row = self.row
            self.fill(row, self.get_end())
        self.auditor.save(row)

    def make_row(self) -> AuditedCall:
        row = AuditedCall(time=self.time, arguments=self.arguments)
        self.fill(row, self.get_beginning())
        self.fill(row, self.get_end())
        return row

    def fill(self, row: AuditedCall, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            if (limit := LENGTHS.get(name)) is not None:
                value = "" if value is None else escape_unprintable(str(value), limit)[:limit]
            setattr(row, name, value)

    def get_beginning(self) -> dict[str, Any]:
        message, caller, auditor = self.message, self.caller, self.auditor
        parts: list[Callable[[], dict[str, Any]]] = [
            lambda: auditor.get_user(caller.user),
            lambda: auditor.get_credential(caller),
            lambda: auditor.get_client(message, caller),
        ]
        values = {"endpoint": caller.request.path}
        if message is not None:
            tool = message.params.get("name") if message.method in CALLS else ""
            values |= {"method": message.method, "tool": self.tool_name or tool}
        for part in parts:
            values |= contain(part, self.leave_out)
        return values

    def get_end(self) -> dict[str, Any]:
        if self.record is not None:
            return self.get_outcome(self.record)
        if self.error is None:
            return {}
        return {**self.get_refusal(self.error), "duration_ms": self.duration_ms}

    def get_outcome(self, record: CallRecord) -> dict[str, Any]:
        outcome, failure = record.outcome, record.outcome.failure
        verdict, rows = Verdict.SUCCESS, outcome.telemetry.get("rows_changed")
        if failure is not None:
            verdict, rows = Verdict.SOFT_FAILURE if failure.soft else Verdict.FAILED, None
        if outcome.questions:
            verdict = Verdict.ASKED
        if outcome.is_trial:
            rows = None
        return {
            "verdict": verdict,
            "is_trial": outcome.is_trial,
            "code": "" if failure is None else failure.code,
            "status": outcome.status,
            "rows_changed": rows if isinstance(rows, int) and rows >= 0 else None,
            "request_id": outcome.request_id,
            "duration_ms": self.duration_ms,
        }

    def get_refusal(self, exc: Exception) -> dict[str, Any]:
        if isinstance(exc, ProtocolError):
            status, code = exc.http_status, screaming_code(type(exc).__name__)
            data = exc.data if isinstance(exc.data, Mapping) else {}
            request_id = data.get("request_id")
        else:
            status, request_id = getattr(exc, "status_code", 500), None
            code = standard_code(status)
        verdict = Verdict.DENIED if isinstance(exc, APIException) else Verdict.FAILED
        return {"verdict": verdict, "code": code, "status": status, "request_id": request_id}

    def keep_arguments(self, tool: Any, arguments: Any) -> None:
        self.tool_name = tool.name

        def encode() -> str:
            kept = self.auditor.get_arguments(tool, arguments)
            text = json.dumps(kept, ensure_ascii=False, default=str)
            return to_bytes(text).decode()[:MAX_ARGUMENTS]

        if arguments is not None:
            self.arguments = contain(encode, lambda exc: str(self.leave_out(exc) or ""))

    def leave_out(self, exc: Exception) -> dict[str, Any]:
        logger.error("Part of an audit could not be told", exc_info=exc)
        return {}

    @property
    def duration_ms(self) -> float:
        return round((time.perf_counter() - self.started) * 1000, 2)
