"""Log records, signals and spans of calls; none is made without a handler, receiver or tracer.

The logger ``drf_mcp.calls`` gets one record for each call of a tool (INFO) and for each message
that was refused before the call (DEBUG). The fields are attributes of the record, as with
``extra``.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from drf_mcp.exceptions import ProtocolError, contain
from drf_mcp.observability.records import CallRecord
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Message
from drf_mcp.protocol.capability import RequestContext
from drf_mcp.signals import tool_called, tool_failed
from drf_mcp.tools.arguments.errors import escape_unprintable
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")
calls = logging.getLogger("drf_mcp.calls")

UNTRACED: AbstractContextManager[Any] = nullcontext()
LINE = "%s: %s (%d) in %.1f ms, user %s, %s"
SHOWN = ("tool", "outcome", "status", "duration_ms", "user_id", "request_id")


class CallLogger:
    """Traces one request and records its call; what it raises changes no answer."""

    def __init__(self, context: RequestContext) -> None:
        self.context = context

    def trace(
        self, get_tools: Callable[[], Mapping[str, Any]], version: str
    ) -> AbstractContextManager[Any]:
        tracing = get_tracing()
        if tracing is None:
            return UNTRACED

        def leave_out(exc: Exception) -> AbstractContextManager[Any]:
            logger.error("A span could not be started", exc_info=exc)
            return UNTRACED

        make_span = partial(tracing.ServerSpan.of_request, self.context, get_tools, version)
        return contain(make_span, leave_out)

    def record(
        self, tool: Any, outcome: Outcome, result: Mapping[str, Any], started: float
    ) -> None:
        is_logged, tracing = calls.isEnabledFor(logging.INFO), get_tracing()
        observers, receivers = self.context.observers, tool_called.receivers
        if not (is_logged or tracing or observers or receivers or tool_failed.receivers):
            return
        duration = round((time.perf_counter() - started) * 1000, 2)
        call = CallRecord(tool, outcome, result, self.context, duration)

        def leave_out(exc: Exception) -> None:
            logger.error("A tool call could not be recorded", exc_info=exc)

        for observer in observers:
            observer.end_call(call)
        if is_logged:
            contain(lambda: self.log(call), leave_out)
        if tracing:
            contain(lambda: tracing.describe_call(call), leave_out)
        if isinstance(tool, Tool):
            self.send_signals(call)

    def log(self, call: CallRecord) -> None:
        fields = call.fields
        write_record(logging.INFO, LINE, tuple(fields[name] for name in SHOWN), fields)

    def send_signals(self, call: CallRecord) -> None:
        details: dict[str, Any] = {
            "tool": call.tool,
            "outcome": call.outcome,
            "request": self.context.caller.request,
            "duration_ms": call.duration_ms,
        }
        tool_called.send_robust(type(call.tool), **details)
        if call.outcome.is_error:
            tool_failed.send_robust(type(call.tool), **details)


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


def get_tracing() -> Any:
    # A process with a tracer provider has imported OpenTelemetry. In other processes it is not
    # imported here.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return None
    # Another thread may be importing the module now.
    get_provider = getattr(trace, "get_tracer_provider", None)
    if get_provider is None:
        return None
    if type(get_provider()) in (trace.ProxyTracerProvider, trace.NoOpTracerProvider):
        return None
    from drf_mcp.observability import tracing

    return tracing
