"""Measures each message, and names its request after the tool."""

from __future__ import annotations

import functools
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from django.apps import apps
from django.db.models import Sum

from drf_mcp.archives import DatabaseArchive
from drf_mcp.budgets import count_tokens
from drf_mcp.codes import CODES
from drf_mcp.contrib.metrics.meters import CALL, DURATION, ERRORS, NAMES, TOKENS, TOOL
from drf_mcp.exceptions import ProtocolError, attempt
from drf_mcp.features import (
    Caller,
    CallState,
    Feature,
    Guard,
    Kind,
    ListOf,
    MessageObserver,
    Proceed,
    Setting,
    mcp_settings,
)
from drf_mcp.option_types.installed import features
from drf_mcp.outcomes import Outcome

logger = logging.getLogger("drf_mcp")

OTHER = "_OTHER"
# Codes of the project's own that are counted apart; all others are counted as one.
MAX_CODES = 100
codes: set[str] = set()
# Bytes of a result whose tokens are estimated; the rest counts as its beginning does.
MEASURED = 50_000


class MetricsFeature(Feature):
    settings = {
        # Who may read the numbers. See docs/observing.md. For a Prometheus that signs in as no
        # administrator.
        "METRICS_PERMISSION_CLASSES": Setting(
            ["rest_framework.permissions.IsAdminUser"],
            ListOf(Kind("a permission class", callable, imports=True)),
        ),
    }
    gauges = {"archive_characters": "drf_mcp.contrib.metrics.feature.count_archived"}

    def observe(self, message: Any, caller: Caller) -> MessageObserver | None:
        config: Any = apps.get_app_config("drf_mcp_metrics")
        return Measurement(config.meters, message) if config.meters else None

    def get_guards(self, call: CallState) -> Sequence[Guard]:
        return [NameGuard()] if call.context is not None else ()


def count_archived() -> Any:
    """Return the characters of archived content, None where no table has them."""
    archive_class = mcp_settings.ARCHIVE_CLASS
    if not (archive_class and issubclass(archive_class, DatabaseArchive)):
        return None
    return archive_class().rows.aggregate(size=Sum("size"))["size"] or 0


class NameGuard(Guard):
    """Names the request after its tool in django-prometheus and in Sentry."""

    order = 0

    def __call__(self, call: CallState, proceed: Proceed) -> Outcome:
        assert call.context is not None
        request, name = call.caller.request, f"{call.context.message.method} {call.tool.name}"
        name_request(request, name)
        try:
            return proceed(call)
        finally:
            # A call within the call has given its own name.
            name_request(request, name)


def name_request(request: Any, name: str) -> None:
    # Both read the name after the view; Sentry also where the view crashes.
    if match := getattr(request, "resolver_match", None):
        match.view_name = name
    # A process that reports to Sentry has imported it.
    if sentry := sys.modules.get("sentry_sdk"):
        sentry.get_current_scope().set_transaction_name(name, source="custom")


@functools.cache
def find_methods() -> frozenset[str]:
    from drf_mcp.views import MCPView

    server: Any = MCPView.server_class
    classes: list[Any] = [*server.capability_classes, *features.capability_classes]
    return frozenset(server.lifecycle).union(*(each.methods for each in classes))


class Measurement(MessageObserver):
    """Measures one message, from its receipt to its answer."""

    def __init__(self, meters: Sequence[Any], message: Any) -> None:
        self.meters = meters
        self.message = message
        self.started = time.perf_counter()
        self.record: Any = None
        self.error: Exception | None = None

    def end_call(self, record: Any) -> None:
        self.record = record

    def fail(self, exc: Exception) -> None:
        self.error = exc

    def close(self) -> None:
        def leave_out(exc: Exception) -> None:
            logger.error("A message could not be measured", exc_info=exc)

        attempt(self.write, otherwise=leave_out)

    def write(self) -> None:
        seconds = time.perf_counter() - self.started
        method = OTHER if self.message is None else self.message.method
        # A client may send any method; what is answered is a method of the server.
        if self.error is not None and method not in find_methods():
            method = OTHER
        labels = {"mcp.method.name": method, **self.find_end()}
        if method in NAMES and self.record is not None:
            labels[NAMES[method]] = self.record.tool.name
        if method == CALL:
            labels["gen_ai.operation.name"] = "execute_tool"
            if self.record is not None:
                self.write_result(self.record.outcome, {TOOL: self.record.tool.name})
        self.add(DURATION, seconds, labels)

    def find_end(self) -> Mapping[str, str]:
        failed = {"drf_mcp.outcome": "error"}
        if isinstance(exc := self.error, ProtocolError):
            return {
                **failed,
                "error.type": f"{exc.code}",
                "rpc.response.status_code": f"{exc.code}",
            }
        if exc is not None:
            return {
                **failed,
                "error.type": str(getattr(exc, "status_code", type(exc).__qualname__)),
            }
        if self.record is not None and self.record.outcome.is_error and self.record.word != "asked":
            return {**failed, "error.type": "tool_error"}
        return {"drf_mcp.outcome": "success" if self.record is None else self.record.word}

    def write_result(self, outcome: Outcome, labels: Mapping[str, str]) -> None:
        if outcome.failure is not None and outcome.is_error and not outcome.is_asked:
            code = outcome.failure.code
            if code not in CODES and len(codes) < MAX_CODES:
                codes.add(code)
            known = code in CODES or code in codes
            self.add(ERRORS, 1, {**labels, "drf_mcp.error.code": code if known else OTHER})
        if content := self.record.result.get("content"):
            part = content[:MEASURED]
            tokens = count_tokens(part.decode(errors="replace").replace('\\"', '"'))
            self.add(TOKENS, tokens * len(content) // len(part), labels)

    def add(self, instrument: Any, number: float, labels: Mapping[str, str]) -> None:
        for meter in self.meters:
            meter.add(instrument, number, labels)
