"""A renderer that writes responses of plain HTTP in the envelope of tool results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.http import RawPostDataException, UnreadablePostError
from rest_framework.exceptions import APIException
from rest_framework.renderers import JSONRenderer

from drf_mcp.arguments.call import Call
from drf_mcp.calls.results import choose_envelope_class, make_envelope
from drf_mcp.dispatch.content import BODILESS, Content
from drf_mcp.dispatch.dispatcher import Dispatcher
from drf_mcp.dispatch.errors import ArgumentLocator, ErrorMapper
from drf_mcp.dispatch.next_steps import add_hints
from drf_mcp.dispatch.response import ViewResponse, build_outcome, new_request_id
from drf_mcp.envelopes import Envelope, parse_own_envelope
from drf_mcp.json_text import JSONPointer
from drf_mcp.outcomes import MISSING, Outcome
from drf_mcp.routes.registry import registry
from drf_mcp.routes.tool import Tool

UNREADABLE = (APIException, SuspiciousOperation, RawPostDataException, UnreadablePostError)


class EnvelopeJSONRenderer(JSONRenderer):
    """Renders every response, errors included, in the envelope of tool results.

    Use it per view in ``renderer_classes`` or for the project in
    ``DEFAULT_RENDERER_CLASSES``. A tool call of such a view is not wrapped twice.

    Attributes:
        envelope_class: the envelope; None for the tool's or the project's.
    """

    envelope_class: type[Envelope] | None = None
    renders_envelope = True

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        """Return the envelope as JSON; nothing for a response that has no body."""
        context = renderer_context or {}
        response, view = context.get("response"), context.get("view")
        if response is None or view is None or response.status_code in BODILESS:
            return super().render(data, accepted_media_type, renderer_context)
        # An attribute of the response, since a cache may keep the response with its bytes.
        response.is_enveloped = True
        request = view.request
        urlconf = getattr(request, "urlconf", None)
        tool = registry.tool_at(request.resolver_match, request.method, urlconf)
        envelope = make_envelope(self.envelope_class or choose_envelope_class(tool))
        prepared = envelope.prepare(self.make_outcome(tool, data, response, view), self.encode)
        body = envelope.render(prepared)
        return super().render(body, accepted_media_type, renderer_context)

    def encode(self, value: Any) -> str:
        return json.dumps(value, cls=self.encoder_class, ensure_ascii=False)

    def make_outcome(self, tool: Tool | None, data: Any, response: Any, view: Any) -> Outcome:
        """Return the outcome that a tool call would have."""
        request = view.request
        answer = ViewResponse(
            status=response.status_code,
            content=Content(data),
            headers=response.headers,
            view=view,
            request=request,
            excepted=response.exception,
            query_string=request.META.get("QUERY_STRING", ""),
        )
        body: Any = {}
        # The body is needed for errors only, and a view that worked may not have read it.
        if response.exception or answer.status >= 400:
            try:
                body = request.data
            except UNREADABLE:
                body = {}
        name = view.get_view_name() if tool is None else tool.name

        def get_arguments() -> Any:
            if tool is None:
                return RequestPointers(request, body)
            sent = tool.arguments.from_request(view.kwargs, request.query_params, body)
            return tool.pointers(Call(sent))

        def make_mapper() -> ErrorMapper:
            return Dispatcher().make_error_mapper(None, request, get_arguments())

        named = getattr(view, "mcp_writes_envelope", None)
        recognize = partial(parse_own_envelope, named=named)
        outcome = build_outcome(answer, name, make_mapper, recognize)
        if tool is not None:
            outcome = add_hints(outcome, tool)
        return replace(outcome, request_id=outcome.request_id or new_request_id())


class RequestPointers(ArgumentLocator):
    """Finds the values of a plain HTTP request that an error is about."""

    def __init__(self, request: Any, body: Any) -> None:
        self.body = body
        self.query = request.query_params

    def knows(self, name: str | int) -> bool:
        return self.value(name) is not MISSING

    def sends_list(self) -> bool:
        return isinstance(self.body, list)

    def value(self, name: str | int) -> Any:
        if isinstance(self.body, list) and isinstance(name, int) and name < len(self.body):
            return self.body[name]
        for source in (self.body, self.query):
            if isinstance(source, Mapping) and name in source:
                return source[name]
        return MISSING

    def pointer(self, path: Sequence[str | int]) -> str:
        return JSONPointer.from_path(path)

    def replace_query(self, query: Mapping[str, str]) -> Mapping[str, Any]:
        return {**self.query.dict(), **query}
