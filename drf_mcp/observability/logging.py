"""Who watches the calls: a log record, signals and spans, none of which costs what nobody uses.

The logger ``drf_mcp.calls`` gets one record per call of a tool (INFO) and one per message
that was refused before it was a call (DEBUG). Its fields are attributes of the record, as
with ``extra``.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from drf_mcp.exceptions import ProtocolError, contain
from drf_mcp.observability.records import CallRecord, RequestContext
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Message
from drf_mcp.signals import tool_called, tool_failed
from drf_mcp.tools.arguments.masking import escape_unprintable
from drf_mcp.tools.registry import Registry
from drf_mcp.tools.tool import Tool

logger = logging.getLogger("drf_mcp")
calls = logging.getLogger("drf_mcp.calls")

UNTRACED: AbstractContextManager[Any] = nullcontext()
LINE = "%s: %s (%d) in %.1f ms, user %s, %s"


def observe(
    tool: Tool,
    outcome: Outcome,
    result: Mapping[str, Any],
    exchange: RequestContext,
    started: float,
) -> None:
    """Tell whoever watches of a call that is over; nothing that fails here fails the call.

    Args:
        tool: the tool that was called.
        outcome: what it came to.
        result: the members of the result, as encoded.
        exchange: the message that asked for it.
        started: when it began, as ``time.perf_counter`` tells.
    """
    logged = calls.isEnabledFor(logging.INFO)
    tracing = tracing_module()
    if not (logged or tracing or tool_called.receivers or tool_failed.receivers):
        return
    duration = round((time.perf_counter() - started) * 1000, 2)
    call = CallRecord(tool, outcome, result, exchange, duration)
    if logged:
        contain(lambda: log_call(call), unobserved)
    if tracing:
        contain(lambda: tracing.describe(call), unobserved)
    send_signals(call)


def unobserved(exc: Exception) -> None:
    """Log that a call could not be told of."""
    logger.error("A tool call could not be recorded", exc_info=exc)


def log_call(call: CallRecord) -> None:
    """Write the record of a call."""
    fields = call.fields()
    told = ("tool", "outcome", "status", "duration_ms", "user_id", "request_id")
    write(logging.INFO, LINE, tuple(fields[name] for name in told), fields)


def log_refusal(item: Any, exc: ProtocolError) -> None:
    """Write the record of a message that is answered by a JSON-RPC error."""
    if not calls.isEnabledFor(logging.DEBUG):
        return
    method = escape_unprintable(item.method) if isinstance(item, Message) else None
    fields = {"method": method, "code": exc.code, "status": exc.http_status}
    args = (method or "message", exc.code, escape_unprintable(exc.message, 200))
    write(logging.DEBUG, "%s refused: %d %s", args, fields)


def write(level: int, line: str, args: tuple[Any, ...], fields: Mapping[str, Any]) -> None:
    """Write a record with fields.

    ``extra`` would raise where a project's own record factory has set one of them already,
    such as ``request_id``.
    """
    record = calls.makeRecord(calls.name, level, __file__, 0, line, args, None)
    vars(record).update(fields)
    calls.handle(record)


def send_signals(call: CallRecord) -> None:
    """Send ``tool_called``, and ``tool_failed`` for a result with ``isError``."""
    told: dict[str, Any] = {
        "tool": call.tool,
        "outcome": call.outcome,
        "request": call.exchange.caller.request,
        "duration_ms": call.duration_ms,
    }
    tool_called.send_robust(Tool, **told)
    if call.outcome.is_error:
        tool_failed.send_robust(Tool, **told)


def traced(
    exchange: RequestContext, registry: Registry, version: str
) -> AbstractContextManager[Any]:
    """Return a context in which a message is served: a span, where spans are recorded."""
    tracing = tracing_module()
    if tracing is None:
        return UNTRACED

    def untraced(exc: Exception) -> AbstractContextManager[Any]:
        logger.error("A span could not be started", exc_info=exc)
        return UNTRACED

    return contain(lambda: tracing.server_span(exchange, registry, version), untraced)


def tracing_module() -> Any:
    """Return `drf_mcp.observability.tracing` where spans are recorded, else None.

    A process that records any has imported OpenTelemetry; in every other one nothing of it
    is imported here.
    """
    if "opentelemetry.trace" not in sys.modules:
        return None
    from drf_mcp.observability import tracing

    return tracing if tracing.is_recording() else None
