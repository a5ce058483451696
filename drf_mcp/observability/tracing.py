"""Spans of OpenTelemetry, by its semantic conventions for MCP.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

Imported only in a process that has imported OpenTelemetry itself.
"""

from __future__ import annotations

import json
from types import TracebackType
from typing import Any

from opentelemetry import context, propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode, Tracer
from rest_framework.exceptions import APIException

from drf_mcp.exceptions import ProtocolError
from drf_mcp.observability.records import CallRecord, RequestContext
from drf_mcp.tools.arguments.masking import escape_unprintable
from drf_mcp.tools.registry import Registry

CALL = "tools/call"


def is_recording() -> bool:
    """Return whether the process has a tracer provider, so that spans go anywhere."""
    provider = trace.get_tracer_provider()
    return not isinstance(provider, (trace.ProxyTracerProvider, trace.NoOpTracerProvider))


def server_span(exchange: RequestContext, registry: Registry, version: str) -> ServerSpan:
    """Return the span of a message, not yet started, by this version of the package."""
    attributes = message_attributes(exchange)
    name = exchange.message.method
    if name == CALL:
        attributes["gen_ai.operation.name"] = "execute_tool"
        called = exchange.message.params.get("name")
        # A name that is no tool's would make as many spans as callers can think of.
        if isinstance(called, str) and called in registry.tools(exchange.urlconf):
            attributes["gen_ai.tool.name"] = called
            name = f"{name} {called}"
    tracer = trace.get_tracer("drf_mcp", version)
    return ServerSpan(tracer, name, attributes, *parent_of(exchange))


def message_attributes(exchange: RequestContext) -> dict[str, Any]:
    """Return the attributes that every message has."""
    attributes: dict[str, Any] = {
        "mcp.method.name": exchange.message.method,
        "mcp.protocol.version": exchange.era.revision,
        "jsonrpc.request.id": escape_unprintable(str(exchange.message.id)),
    }
    if exchange.caller.view is not None:
        attributes |= {"network.transport": "tcp", "network.protocol.name": "http"}
    return attributes


def parent_of(exchange: RequestContext) -> tuple[Context, list[Link]]:
    """Return the context that a span goes into, and a link to the ambient one it leaves.

    The parent is the caller's, from ``_meta``; else the ambient span, such as that of the
    HTTP request; else the caller's, from the HTTP headers.
    """
    current = context.get_current()
    ambient = trace.get_current_span(current).get_span_context()
    meta = exchange.message.meta
    parent = propagate.extract({k: v for k, v in meta.items() if isinstance(v, str)}, current)
    found = trace.get_current_span(parent).get_span_context()
    if not found.is_valid:
        parent = propagate.extract(http_headers(exchange.caller.request.META), parent)
    return parent, [Link(ambient)] if ambient.is_valid and ambient != found else []


def http_headers(meta: dict[str, Any]) -> dict[str, str]:
    """Return the headers of a request, their names in lower case."""
    return {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in meta.items()
        if name.startswith("HTTP_") and isinstance(value, str)
    }


class ServerSpan:
    """A context in which a message is served, and the span that tells of it.

    Args:
        tracer: starts the span.
        name: the span's name.
        attributes: what is known of the message.
        parent: the context of the span.
        links: spans that it belongs to besides.
    """

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        attributes: dict[str, Any],
        parent: Context,
        links: list[Link],
    ) -> None:
        self.parent = parent
        self.span = tracer.start_span(name, parent, SpanKind.SERVER, attributes, links)

    def __enter__(self) -> Span:
        self.token = context.attach(trace.set_span_in_context(self.span, self.parent))
        return self.span

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        context.detach(self.token)
        if isinstance(exc, ProtocolError):
            self.span.set_attribute("rpc.response.status_code", str(exc.code))
            mark_failed(self.span, str(exc.code), exc.message)
        elif isinstance(exc, APIException):
            mark_failed(self.span, str(exc.status_code))
        elif exc is not None:
            self.span.record_exception(exc)
            mark_failed(self.span, type(exc).__qualname__)
        self.span.end()


def mark_failed(span: Span, error_type: str, description: str | None = None) -> None:
    """Mark a span as failed ("error.type")."""
    span.set_attribute("error.type", error_type)
    span.set_status(StatusCode.ERROR, description)


def describe(call: CallRecord) -> None:
    """Write on the current span what a call came to."""
    span = trace.get_current_span()
    span.set_attribute("drf_mcp.outcome", call.word)
    span.set_attribute("drf_mcp.request_id", call.outcome.request_id)
    span.set_attribute("drf_mcp.status", call.outcome.status)
    if call.arguments is not None:
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call.arguments))
    if call.outcome.is_error:
        mark_failed(span, "tool_error", call.word)
