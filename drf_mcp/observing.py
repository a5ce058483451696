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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from drf_mcp.dispatch import contain
from drf_mcp.exceptions import ProtocolError
from drf_mcp.outcomes import Outcome
from drf_mcp.protocol import Message
from drf_mcp.protocol.constants import CLIENT_INFO_KEY
from drf_mcp.settings import mcp_settings
from drf_mcp.signals import tool_called, tool_failed
from drf_mcp.tools import Registry, Tool
from drf_mcp.tools.logged import logged_arguments, printable

if TYPE_CHECKING:
    from drf_mcp.server import Exchange

logger = logging.getLogger("drf_mcp")
calls = logging.getLogger("drf_mcp.calls")

UNTRACED: AbstractContextManager[Any] = nullcontext()
LINE = "%s: %s (%d) in %.1f ms, user %s, %s"


@dataclass(frozen=True)
class FinishedCall:
    """A call that is over.

    Attributes:
        tool: the tool.
        outcome: what it came to.
        result: the members of the result, as encoded.
        exchange: the message that asked for it.
        duration_ms: how long it took, its result written.
    """

    tool: Tool
    outcome: Outcome
    result: Mapping[str, Any]
    exchange: Exchange
    duration_ms: float

    @property
    def word(self) -> str:
        """The outcome in a word: ``success``, ``soft_failure`` or the error code."""
        failure = self.outcome.failure
        if failure is None:
            return "success"
        return "soft_failure" if failure.soft else printable(failure.code.lower())

    @property
    def user_id(self) -> str | None:
        """The primary key of the caller's user, None for an anonymous one."""
        user = self.exchange.caller.authenticate().user
        pk = getattr(user, "pk", None)
        return None if pk is None else printable(str(pk))

    @property
    def client(self) -> str | None:
        """What the client calls itself, None where its revision does not say so per message."""
        info = self.exchange.message.meta.get(CLIENT_INFO_KEY)
        name = info.get("name") if isinstance(info, dict) else None
        return printable(name) if isinstance(name, str) else None

    @cached_property
    def arguments(self) -> Any:
        """The arguments without secrets, where LOG_ARGUMENTS is on; else None."""
        if not mcp_settings.LOG_ARGUMENTS:
            return None
        return logged_arguments(self.tool, self.exchange.message.params.get("arguments"))

    def fields(self) -> dict[str, Any]:
        """Return what the log record tells; every field always, None where unknown."""
        return {
            "tool": self.tool.name,
            "outcome": self.word,
            "status": self.outcome.status,
            "duration_ms": self.duration_ms,
            "queries": self.outcome.telemetry.get("database_queries"),
            "bytes": len(self.result["content"]),
            "request_id": self.outcome.request_id,
            "user_id": self.user_id,
            "client": self.client,
            "revision": self.exchange.era.revision,
            "arguments": self.arguments,
        }


def observe(
    tool: Tool, outcome: Outcome, result: Mapping[str, Any], exchange: Exchange, started: float
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
    call = FinishedCall(tool, outcome, result, exchange, duration)
    if logged:
        contain(lambda: log_call(call), unobserved)
    if tracing:
        contain(lambda: tracing.describe(call), unobserved)
    send_signals(call)


def unobserved(exc: Exception) -> None:
    """Log that a call could not be told of."""
    logger.error("A tool call could not be recorded", exc_info=exc)


def log_call(call: FinishedCall) -> None:
    """Write the record of a call."""
    fields = call.fields()
    told = ("tool", "outcome", "status", "duration_ms", "user_id", "request_id")
    write(logging.INFO, LINE, tuple(fields[name] for name in told), fields)


def log_refusal(item: Any, exc: ProtocolError) -> None:
    """Write the record of a message that is answered by a JSON-RPC error."""
    if not calls.isEnabledFor(logging.DEBUG):
        return
    method = printable(item.method) if isinstance(item, Message) else None
    fields = {"method": method, "code": exc.code, "status": exc.http_status}
    args = (method or "message", exc.code, printable(exc.message, 200))
    write(logging.DEBUG, "%s refused: %d %s", args, fields)


def write(level: int, line: str, args: tuple[Any, ...], fields: Mapping[str, Any]) -> None:
    """Write a record with fields.

    ``extra`` would raise where a project's own record factory has set one of them already,
    such as ``request_id``.
    """
    record = calls.makeRecord(calls.name, level, __file__, 0, line, args, None)
    vars(record).update(fields)
    calls.handle(record)


def send_signals(call: FinishedCall) -> None:
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


def traced(exchange: Exchange, registry: Registry) -> AbstractContextManager[Any]:
    """Return a context in which a message is served: a span, where spans are recorded."""
    tracing = tracing_module()
    if tracing is None:
        return UNTRACED

    def untraced(exc: Exception) -> AbstractContextManager[Any]:
        logger.error("A span could not be started", exc_info=exc)
        return UNTRACED

    return contain(lambda: tracing.server_span(exchange, registry), untraced)


def tracing_module() -> Any:
    """Return `drf_mcp.tracing` where spans are recorded, else None.

    A process that records any has imported OpenTelemetry; in every other one nothing of it
    is imported here.
    """
    if "opentelemetry.trace" not in sys.modules:
        return None
    from drf_mcp import tracing

    return tracing if tracing.is_recording() else None
