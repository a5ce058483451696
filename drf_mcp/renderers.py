"""The envelope for plain REST consumers: the body that a tool would have, without MCP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rest_framework.renderers import JSONRenderer

from drf_mcp.envelopes import Envelope
from drf_mcp.outcomes import MISSING
from drf_mcp.problems import ArgumentLocator
from drf_mcp.reading import Answer, new_request_id, outcome_of
from drf_mcp.results import make_envelope
from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool, registry
from drf_mcp.tools.refusals import escape
from drf_mcp.tools.sent import sent_call


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
        if response is None or view is None or response.status_code == 204:
            return super().render(data, accepted_media_type, renderer_context)
        request = view.request
        tool = registry.tool_at(request.resolver_match, request.method)
        answer = Answer(
            status=response.status_code,
            data=data,
            headers=response.headers,
            view=view,
            query_string=request.META.get("QUERY_STRING", ""),
        )
        name = tool.name if tool else view.get_view_name()
        outcome = replace(
            outcome_of(name, answer, locator(tool, view)), request_id=new_request_id()
        )
        rendered = make_envelope(self.envelope_of(tool)).render(outcome)
        return super().render(rendered, accepted_media_type, renderer_context)

    def envelope_of(self, tool: Tool | None) -> type[Envelope]:
        """Return the envelope class: the renderer's, the tool's or the project's."""
        own = tool.options.envelope_class if tool else None
        chosen: type[Envelope] = self.envelope_class or own or mcp_settings.ENVELOPE_CLASS
        return chosen


def locator(tool: Tool | None, view: Any) -> ArgumentLocator:
    """Return what finds the argument an error speaks of: a tool's, or the request's own."""
    if tool is None:
        return RequestPointers(view.request)
    return tool.pointers(sent_call(tool.arguments, view))


class RequestPointers:
    """Finds values of a request that no tool stands for, by the view's own names.

    Args:
        request: REST framework's request.
    """

    def __init__(self, request: Any) -> None:
        self.body = request.data
        self.query = request.query_params

    def knows(self, name: str | int) -> bool:
        """Return whether the request sent something by that name."""
        return self.value(name) is not MISSING

    def value(self, name: str | int) -> Any:
        """Return what the request sent by a name: in the body, or in the query."""
        if isinstance(self.body, list) and isinstance(name, int) and name < len(self.body):
            return self.body[name]
        for source in (self.body, self.query):
            if isinstance(source, Mapping) and name in source:
                return source[name]
        return MISSING

    def pointer(self, path: Sequence[str | int]) -> str:
        """Return the JSON pointer into the body."""
        return "".join(f"/{escape(str(part))}" for part in path)

    def received(self, pointer: str) -> Any:
        """Return nothing: the caller knows what it sent."""
        return MISSING

    def accepted(self, pointer: str) -> str | None:
        """Return nothing: without a tool nobody has described it."""
        return None

    def moved(self, query: Mapping[str, str]) -> Mapping[str, Any]:
        """Return the query parameters of the next page."""
        return {**self.query.dict(), **query}
