"""One message from its receipt to its row, and the guard that writes the row before the call."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from django.apps import apps
from django.utils import timezone
from rest_framework.exceptions import APIException, AuthenticationFailed, NotAuthenticated

from drf_mcp.arguments.errors import escape_unprintable
from drf_mcp.budgets import count_tokens
from drf_mcp.codes import screaming_code, standard_code
from drf_mcp.contrib.audit.intent import IntentGuard, find_intent_name
from drf_mcp.contrib.audit.models import AuditedCall, Verdict
from drf_mcp.errors import MASK, CallRefused, mask_member
from drf_mcp.exceptions import (
    ProtocolError,
    Refused,
    Unavailable,
    UnknownTool,
    attempt,
    catch,
)
from drf_mcp.features import (
    Caller,
    CallState,
    Choice,
    Feature,
    Flag,
    Guard,
    MessageObserver,
    Number,
    Proceed,
    Setting,
    mcp_settings,
)
from drf_mcp.interaction.exchange import WANTED
from drf_mcp.json_text import to_bytes
from drf_mcp.observability.records import CallRecord
from drf_mcp.outcomes import Outcome

logger = logging.getLogger("drf_mcp")

# The methods whose messages are recorded even where the caller is known.
CALLS = frozenset({"tools/call", "resources/read", "prompts/get"})
# The statuses of callers who are refused.
DENIED_STATUSES = frozenset({401, 403})
# Errors of callers without a valid credential, whatever their status.
UNKNOWN_CALLERS = (NotAuthenticated, AuthenticationFailed)
# Characters of the arguments of one call, after each is cut.
MAX_ARGUMENTS = 20_000
# Bytes of a result whose tokens are counted.
MEASURED = 4_000
# Characters of a short secret.
SHORT = 3
MAX_LENGTHS: Mapping[str, int] = {
    field.name: field.max_length
    for field in AuditedCall._meta.concrete_fields
    if field.get_internal_type() == "CharField" and field.max_length
}


def report_unwritten(exc: Exception) -> None:
    logger.error("The audit of a call could not be written", exc_info=exc)


def _leave_part_out(exc: Exception) -> dict[str, Any]:
    logger.error("Part of an audit could not be written", exc_info=exc)
    return {}


def fill(row: AuditedCall, values: Mapping[str, Any]) -> AuditedCall:
    """Return a row with values, cut to what its columns hold."""
    for name, value in values.items():
        if (limit := MAX_LENGTHS.get(name)) is not None:
            value = "" if value is None else escape_unprintable(str(value), limit)[:limit]
        setattr(row, name, value)
    return row


class Audit(MessageObserver):
    """Follows one message until it is answered, and writes its row.

    Attributes:
        record: the call, once it is over.
        error: why there is no call, or why its answer could not be sent.
    """

    def __init__(self, auditor: Any, message: Any, caller: Caller) -> None:
        self.auditor = auditor
        self.message = message
        self.caller = caller
        self.record: CallRecord | None = None
        self.error: Exception | None = None
        self.arguments = self.intent = self.wanted = ""
        # A request for a resource names no tool.
        self.tool_name = ""
        self.time, self.started = timezone.now(), time.perf_counter()
        # The row that strict mode writes before the call.
        self.row: AuditedCall | None = None

    def end_call(self, record: CallRecord) -> None:
        self.record = record

    def fail(self, exc: Exception) -> None:
        self.error = exc

    def begin(self, tool: Any, arguments: Any) -> None:
        """Write the row before the call, in strict mode.

        Raises:
            Unavailable: if the row cannot be written.
        """
        with catch() as caught:
            self.keep_arguments(tool, arguments)
            row = fill(AuditedCall(), self.find_values())
            self.auditor.save(row)
            self.row = row
            return
        logger.error(
            "A call was refused: its audit could not be written", exc_info=caught.exception
        )
        text = "The call was not made, because it could not be recorded."
        raise Unavailable(text) from caught.exception

    def close(self) -> None:
        """Write the row of the message; a failure is logged and changes no answer."""
        error = self.error
        if isinstance(error, Refused) and error.http_status in DENIED_STATUSES:
            self.auditor.strangers.count(self.caller.request, error.http_status)
        elif isinstance(error, UNKNOWN_CALLERS):
            self.auditor.strangers.count(self.caller.request, 401)
        else:
            attempt(self._write_last, otherwise=report_unwritten)

    def _write_last(self) -> None:
        if self.row is not None:
            self.auditor.save(fill(self.row, self._find_end()))
            return
        if self.error is None and self.message is not None and self.message.method not in CALLS:
            return
        if self.record is not None:
            self.keep_arguments(self.record.tool, self.record.sent)
        self.auditor.keep(self.find_values())

    def keep_arguments(self, tool: Any, arguments: Any) -> None:
        self.tool_name = tool.name

        def encode() -> str:
            kept = self.auditor.get_arguments(tool, arguments)
            if isinstance(kept, Mapping) and (name := find_intent_name(tool)) in kept:
                kept = {**kept}
                # The agent may repeat the secret of an argument.
                intent = str(arguments.get(name, kept.pop(name)))
                intent = _mask_secrets(intent, _find_masked(arguments, kept))
                self.intent = str(self.auditor.get_arguments(tool, {name: intent})[name])
            text = json.dumps(kept, ensure_ascii=False, default=str)
            return to_bytes(text).decode()[:MAX_ARGUMENTS]

        if arguments is not None:
            self.arguments = attempt(encode, otherwise=lambda exc: str(_leave_part_out(exc) or ""))

    def find_values(self) -> dict[str, Any]:
        message, caller, auditor = self.message, self.caller, self.auditor
        values = {"time": self.time, "arguments": self.arguments, "endpoint": caller.request.path}
        values |= {"intent": self.intent}
        if message is not None:
            tool = message.params.get("name") if message.method in CALLS else ""
            values |= {"method": message.method, "tool": self.tool_name or tool}
        values |= attempt(lambda: auditor.get_user(caller.user), otherwise=_leave_part_out)
        values |= attempt(lambda: auditor.get_credential(caller), otherwise=_leave_part_out)
        values |= attempt(lambda: auditor.get_client(message, caller), otherwise=_leave_part_out)
        return {**values, **self._find_end()}

    def _find_end(self) -> dict[str, Any]:
        record, exc = self.record, self.error
        wanted = exc.name if isinstance(exc, UnknownTool) else self.wanted
        wanted = " ".join(wanted.lower().split())
        duration_ms = round((time.perf_counter() - self.started) * 1000, 2)
        if record is not None:
            outcome, failure = record.outcome, record.outcome.failure
            verdict, rows = Verdict.SUCCESS, outcome.telemetry.get("rows_changed")
            if failure is not None:
                verdict = Verdict.SOFT_FAILURE if failure.soft else Verdict.FAILED
            if outcome.is_asked:
                verdict = Verdict.ASKED
            is_counted = failure is None and not outcome.is_trial
            is_counted = is_counted and isinstance(rows, int) and rows >= 0
            return {
                **_describe_failure(failure),
                "verdict": verdict,
                "wanted": wanted,
                "is_trial": outcome.is_trial,
                "code": "" if failure is None else failure.code,
                "status": outcome.status,
                "rows_changed": rows if is_counted else None,
                "request_id": outcome.request_id,
                "duration_ms": duration_ms,
                "result_tokens": _count_result(record.result.get("content")),
            }
        if exc is None:
            return {}
        if isinstance(exc, ProtocolError):
            status, code = exc.http_status, screaming_code(type(exc).__name__)
            request_id = exc.data.get("request_id") if isinstance(exc.data, Mapping) else None
        else:
            status, request_id = getattr(exc, "status_code", 500), None
            code = standard_code(status)
        return {
            "verdict": Verdict.DENIED if isinstance(exc, APIException) else Verdict.FAILED,
            "wanted": wanted,
            "code": code,
            "status": status,
            "request_id": request_id,
            "duration_ms": duration_ms,
        }


def _mask_secrets(text: str, secrets: Iterable[str]) -> str:
    # A short one, such as a digit, is masked as a word alone: else no text could be read.
    found = [
        re.escape(each) if len(each) > SHORT else rf"(?<!\w){re.escape(each)}(?!\w)"
        for each in sorted(secrets, key=len, reverse=True)
    ]
    return re.sub("|".join(found), MASK, text) if found else text


def _find_masked(sent: Any, kept: Any) -> Iterator[str]:
    """Yield the values of arguments that are masked where they are kept."""
    pairs: Iterable[tuple[Any, Any]] = ()
    if isinstance(sent, Mapping):
        pairs = [(v, kept.get(n) if isinstance(kept, Mapping) else kept) for n, v in sent.items()]
    elif isinstance(sent, list):
        pairs = zip(sent, kept if isinstance(kept, list) else repeat(kept), strict=False)
    elif kept == MASK and sent not in ("", None):
        yield str(sent)
    for pair in pairs:
        yield from _find_masked(*pair)


def _describe_failure(failure: Any) -> dict[str, str]:
    if failure is None:
        return {}
    problem = next(iter(failure.problems), None)
    if problem is None:
        return {"sentence": mask_member("", failure.message)}
    return {
        "argument": problem.pointer,
        # A view may repeat a secret that it refuses.
        "sentence": MASK if problem.received == MASK else mask_member("", problem.message),
    }


def _count_result(content: Any) -> int | None:
    """Return the tokens of a result, the rest estimated as its beginning; None where unknown."""
    if not isinstance(content, bytes) or not content:
        return None
    part = content[:MEASURED]
    return count_tokens(part.decode(errors="replace")) * len(content) // len(part)


class RecordGuard(Guard):
    """Records a call before it is made, and refuses a call that cannot be recorded.

    Without AUDIT_STRICT the guard only notes what the caller looked for in vain.
    """

    order = 300

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        observers = call.context.observers if call.context else ()
        audits = [each for each in observers if isinstance(each, Audit)]
        if mcp_settings.AUDIT_STRICT:
            # Arguments that cannot be bound are refused here, before a row is written.
            call.bound  # noqa: B018 - reading it binds them
            # A caller without a valid credential is refused here, before a row is written.
            call.caller.authenticate()
            try:
                for audit in audits:
                    audit.begin(call.tool, call.arguments)
            except Unavailable as exc:
                raise CallRefused(exc) from exc
        outcome = proceed(call)
        for audit in audits:
            audit.wanted = WANTED.get(call) or ""
        return outcome


def make_auditor() -> Any:
    """Return what keeps the records, None where the settings of tests keep none."""
    config: Any = apps.app_configs.get("drf_mcp_audit")
    return config and config.auditor


def expire_audit() -> int | None:
    """Delete the records that AUDIT_RETENTION does not keep, and return their number."""
    auditor = make_auditor()
    return None if auditor is None else auditor.expire()


class AuditFeature(Feature):
    """Keeps a record of calls, and of callers who are not let in."""

    settings = {
        # True records each call before it is made, and refuses a call that cannot be recorded.
        # False records a call that is over. See docs/audit.md.
        "AUDIT_STRICT": Setting(False, Flag()),
        # Days after which `manage.py mcp_expire` deletes the records of calls. None: never.
        "AUDIT_RETENTION": Setting(None, Number().or_none()),
        # "optional" or "required" gives each tool an argument "intent", in which the agent says why
        # it makes the call: the audit keeps the sentence, and no view gets it.
        "INTENT": Setting(None, Choice("optional", "required").or_none()),
    }
    tool_source = "drf_mcp.contrib.audit.intent.IntentSource"
    page_parts = ("drf_mcp.contrib.audit.page.AuditPart",)

    tool_review = "drf_mcp.contrib.audit.review.AuditReview"
    expires = {"audited_calls": "drf_mcp.contrib.audit.recording.expire_audit"}

    def observe(self, message: Any, caller: Any) -> MessageObserver | None:
        auditor = make_auditor()
        return auditor and Audit(auditor, message, caller)

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        needs_intent = mcp_settings.INTENT == "required"
        return [*([IntentGuard()] if needs_intent else ()), RecordGuard()]
