"""Log records, signals and spans of calls, made only for a handler, a receiver or a tracer.

The logger ``drf_mcp.calls`` gets one record for each call of a tool (INFO) and for each message
that was refused before the call (DEBUG). The fields are attributes of the record, as with
``extra``. Installed apps may observe a message as well.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from drf_mcp.arguments.errors import escape_unprintable
from drf_mcp.exceptions import ProtocolError, attempt, catch
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Message
from drf_mcp.protocol.capability import MessageObserver, RequestContext
from drf_mcp.routes.tool import Tool
from drf_mcp.settings import mcp_settings
from drf_mcp.signals import tool_called, tool_failed

logger = logging.getLogger("drf_mcp")
calls = logging.getLogger("drf_mcp.calls")

UNTRACED: AbstractContextManager[Any] = nullcontext()
LINE = "%s: %s (%d) in %.1f ms, user %s, %s"
SHOWN = ("tool", "outcome", "status", "duration_ms", "user_id", "request_id")


@dataclass(frozen=True)
class CallRecord:
    """A call that is over, for observers, logs and spans."""

    tool: Any
    outcome: Outcome
    result: Mapping[str, Any]
    context: RequestContext
    duration_ms: float

    @property
    def word(self) -> str:
        failure = self.outcome.failure
        if failure is None:
            return "success"
        if self.outcome.is_asked:
            return "asked"
        return "soft_failure" if failure.soft else escape_unprintable(failure.code.lower())

    @property
    def sent(self) -> Any:
        """The arguments that the caller sent, any JSON value, or the URI of a resource."""
        params = self.context.message.params
        return {"uri": params["uri"]} if "uri" in params else params.get("arguments")

    @cached_property
    def arguments(self) -> Any:
        return self.tool.sanitize_arguments(self.sent) if mcp_settings.LOG_ARGUMENTS else None

    @property
    def fields(self) -> dict[str, Any]:
        message = self.context.message
        pk = getattr(self.context.caller.authenticate().user, "pk", None)
        return {
            "tool": self.tool.name,
            "method": message.method,
            "outcome": self.word,
            "status": self.outcome.status,
            "duration_ms": self.duration_ms,
            "queries": self.outcome.telemetry.get("database_queries"),
            "bytes": len(self.result.get("content", b"")),
            "request_id": self.outcome.request_id,
            "is_trial": self.outcome.is_trial,
            "user_id": None if pk is None else escape_unprintable(str(pk)),
            "client": escape_unprintable(self.context.client_name) or None,
            "revision": self.context.era.revision,
            "arguments": self.arguments,
        }


def record_call(
    context: RequestContext, tool: Any, outcome: Outcome, result: Mapping[str, Any], started: float
) -> None:
    """Give a call that is over to observers, log, span and signals, which do not change it."""
    is_logged, tracing = calls.isEnabledFor(logging.INFO), _find_tracing()
    observers = context.observers
    if not (is_logged or tracing or observers or tool_called.receivers or tool_failed.receivers):
        return
    duration = round((time.perf_counter() - started) * 1000, 2)
    call = CallRecord(tool, outcome, result, context, duration)

    def log() -> None:
        fields = call.fields
        write_record(logging.INFO, LINE, tuple(fields[name] for name in SHOWN), fields)

    def leave_out(exc: Exception) -> None:
        logger.error("A tool call could not be recorded", exc_info=exc)

    for observer in observers:
        observer.end_call(call)
    if is_logged:
        attempt(log, otherwise=leave_out)
    if tracing:
        attempt(lambda: tracing.describe_call(call), otherwise=leave_out)
    if isinstance(tool, Tool):
        details: dict[str, Any] = {"tool": tool, "outcome": outcome, "duration_ms": duration}
        for signal in (tool_called, tool_failed) if outcome.is_error else (tool_called,):
            signal.send_robust(type(tool), request=context.caller.request, **details)


def log_refusal(item: Any, exc: ProtocolError) -> None:
    if not calls.isEnabledFor(logging.DEBUG):
        return
    method = escape_unprintable(item.method) if isinstance(item, Message) else None
    fields = {"method": method, "code": exc.code, "status": exc.http_status}
    args = (method or "message", exc.code, escape_unprintable(exc.message, 200))
    write_record(logging.DEBUG, "%s refused: %d %s", args, fields)


def write_record(level: int, line: str, args: tuple[Any, ...], fields: Mapping[str, Any]) -> None:
    record = calls.makeRecord(calls.name, level, __file__, 0, line, args, None)
    # ``extra`` raises where the project's own record factory has set a field, such as
    # ``request_id``.
    vars(record).update(fields)
    calls.handle(record)


def trace_message(context: RequestContext, registry: Any) -> AbstractContextManager[Any]:
    """Return the span in which a message is answered; a failure to start it is only logged."""
    tracing = _find_tracing()
    if tracing is None:
        return UNTRACED
    with catch() as caught:
        return tracing.ServerSpan.of_request(context, registry)  # type: ignore[no-any-return]
    logger.error("A span could not be started", exc_info=caught.exception)
    return UNTRACED


def _find_tracing() -> Any:
    # OpenTelemetry is not imported here: a process with a tracer provider has imported it.
    trace = sys.modules.get("opentelemetry.trace")
    # Another thread may be importing the module now.
    get_provider = getattr(trace, "get_tracer_provider", None)
    if trace is None or get_provider is None:
        return None
    if type(get_provider()) in (trace.ProxyTracerProvider, trace.NoOpTracerProvider):
        return None
    from drf_mcp.observability import tracing

    return tracing


def open_observers(message: Any, caller: Any) -> Sequence[MessageObserver]:
    """Return the observers of a request, or of None, a message that was not read."""
    if message is not None and (type(message) is not Message or message.id is None):
        return []
    found = (observe(message, caller) for observe in features.hooks["observe"])
    return [observer for observer in found if observer is not None]


def report_refusal(caller: Any, exc: Exception) -> None:
    """Report that a caller was refused before the message was read."""
    for observer in open_observers(None, caller):
        observer.fail(exc)
        observer.close()
