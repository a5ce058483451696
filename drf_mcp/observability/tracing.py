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
from opentelemetry.trace import Link, Span, SpanKind, StatusCode
from rest_framework.exceptions import APIException

from drf_mcp import __version__
from drf_mcp.arguments.errors import escape_unprintable
from drf_mcp.exceptions import ProtocolError
from drf_mcp.protocol.capability import RequestContext

CALL, READ, PROMPT = "tools/call", "resources/read", "prompts/get"


class ServerSpan:
    """A context manager with the span of a message."""

    def __init__(self, parent: Context, span: Span) -> None:
        self.parent = parent
        self.span = span

    @classmethod
    def of_request(cls, request: RequestContext, registry: Any) -> ServerSpan:
        name = request.message.method
        attributes: dict[str, Any] = {
            "mcp.method.name": name,
            "mcp.protocol.version": request.era.revision,
            "jsonrpc.request.id": escape_unprintable(str(request.message.id)),
        }
        if request.caller.view is not None:
            attributes |= {"network.transport": "tcp", "network.protocol.name": "http"}
        if name == CALL:
            attributes["gen_ai.operation.name"] = "execute_tool"
            tool = request.message.params.get("name")
            # Unknown names are left out, since callers could send any number of them.
            if isinstance(tool, str) and tool in registry.tools(request.urlconf):
                attributes["gen_ai.tool.name"] = tool
                name = f"{name} {tool}"
        elif name == PROMPT and isinstance(prompt := request.message.params.get("name"), str):
            attributes["gen_ai.prompt.name"] = escape_unprintable(prompt)
        elif name == READ and isinstance(uri := request.message.params.get("uri"), str):
            attributes["mcp.resource.uri"] = escape_unprintable(uri)
        parent, links = cls._find_parent(request)
        tracer = trace.get_tracer("drf_mcp", __version__)
        return cls(parent, tracer.start_span(name, parent, SpanKind.SERVER, attributes, links))

    @staticmethod
    def _find_parent(request: RequestContext) -> tuple[Context, list[Link]]:
        # The parent is the caller's span in ``_meta``, the ambient span, such as the HTTP
        # request, or the caller's span in the HTTP headers. An ambient span that is not the parent
        # is linked.
        current = context.get_current()
        ambient = trace.get_current_span(current).get_span_context()
        meta = request.message.meta
        parent = propagate.extract({k: v for k, v in meta.items() if isinstance(v, str)}, current)
        found = trace.get_current_span(parent).get_span_context()
        if not found.is_valid:
            headers = {
                name.removeprefix("HTTP_").replace("_", "-").lower(): value
                for name, value in request.caller.request.META.items()
                if name.startswith("HTTP_") and isinstance(value, str)
            }
            parent = propagate.extract(headers, parent)
        return parent, [Link(ambient)] if ambient.is_valid and ambient != found else []

    def __enter__(self) -> Span:
        self.token = context.attach(trace.set_span_in_context(self.span, self.parent))
        return self.span

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        context.detach(self.token)
        if isinstance(exc, ProtocolError):
            self.span.set_attribute("rpc.response.status_code", str(exc.code))
            _mark_failed(self.span, str(exc.code), exc.message)
        elif isinstance(exc, APIException):
            _mark_failed(self.span, str(exc.status_code))
        elif exc is not None:
            self.span.record_exception(exc)
            _mark_failed(self.span, type(exc).__qualname__)
        self.span.end()


def _mark_failed(span: Span, error_type: str, description: str | None = None) -> None:
    span.set_attribute("error.type", error_type)
    span.set_status(StatusCode.ERROR, description)


def describe_call(call: Any) -> None:
    # The call is a `CallRecord`.
    span = trace.get_current_span()
    if call.context.message.method == CALL:
        # A call may have been redirected to another tool.
        span.set_attribute("gen_ai.tool.name", call.tool.name)
        span.update_name(f"{CALL} {call.tool.name}")
    span.set_attribute("drf_mcp.outcome", call.word)
    span.set_attribute("drf_mcp.request_id", call.outcome.request_id)
    span.set_attribute("drf_mcp.status", call.outcome.status)
    if call.outcome.is_trial:
        span.set_attribute("drf_mcp.is_trial", True)
    if call.arguments is not None:
        span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call.arguments))
    if call.outcome.is_error:
        _mark_failed(span, "tool_error", call.word)
