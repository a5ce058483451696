"""Watches every message that the servers of this process send, and checks it after the test.

The checks: the official ``mcp-types`` of the revision, the validity of every schema in a list, a
result and its own ``outputSchema``, equality of both channels, and the "response-v2" contract.
Nothing is checked during a test, so that a test can count queries and measure time.
"""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, get_args
from unittest import mock

from django.core.exceptions import ImproperlyConfigured
from jsonschema import Draft202012Validator
from mcp_types import methods
from mcp_types.jsonrpc import JSONRPCError, JSONRPCResponse

from drf_mcp.calls.capability import ToolsCapability
from drf_mcp.calls.results import POINTER, get_output_schema, make_envelope
from drf_mcp.envelopes import Envelope, ResponseV2Envelope
from drf_mcp.protocol import select_era
from drf_mcp.renderers import EnvelopeJSONRenderer
from drf_mcp.server import Server
from drf_mcp.settings import mcp_settings
from tests.oracles.contract import is_response_v2, judge_response_v2
from tests.oracles.tasks import judge_task


@dataclass
class Watched:
    """A message that a server sent.

    Attributes:
        item: the message that it answers.
        headers: the headers of that message.
        body: its bytes.
        envelope_class: the envelope of a tool result, None for other results.
        schema: the tool's ``outputSchema``, or that of the envelope if it has none.
    """

    item: Any
    headers: Any
    body: bytes = b""
    envelope_class: type[Envelope] | None = None
    schema: Any = None

    def judge(self) -> None:
        """Check the message with everything that applies to it.

        Raises:
            ValueError, AssertionError, jsonschema.ValidationError: if a check fails.
        """
        if not self.body:
            return
        message = json.loads(self.body)
        if "error" in message:
            check_error(message)
            return
        JSONRPCResponse.model_validate(message)
        result, method = message["result"], self.item.method
        revision = select_era(self.item, self.headers).revision
        if method.startswith("tasks/") or result.get("resultType") == "task":
            judge_task(method, result)
            return
        methods.validate_server_result(method, revision, result, surface=get_official_types(result))
        if method == "tools/list":
            judge_definitions(result["tools"])
        asks = result.get("resultType") == "input_required"
        if self.envelope_class is not None and not asks:
            self.judge_result(result)

    def judge_result(self, result: dict[str, Any]) -> None:
        """Check a tool result with its envelope and its ``outputSchema``."""
        envelope = result["content"][0]["text"]
        if "structuredContent" in result:
            if envelope != POINTER:
                assert result["structuredContent"] == json.loads(envelope), "the channels differ"
            envelope = result["structuredContent"]
            if self.schema is not None:
                compiled(json.dumps(self.schema)).validate(envelope)
        elif self.envelope_class is ResponseV2Envelope:
            envelope = json.loads(envelope)
        if self.envelope_class is ResponseV2Envelope:
            judge_response_v2(envelope)


def check_error(message: dict[str, Any]) -> None:
    """Validate a JSON-RPC error with the official type.

    The type requires an id, which ``schema.ts`` makes optional since 2025-11-25.
    """
    JSONRPCError.model_validate({"id": None, **message})


def get_official_types(result: dict[str, Any]) -> dict[tuple[str, str], Any]:
    """Return the official types, with each union narrowed to the type that the result names.

    A type ignores members that it does not know, so a member of a union without required members
    would accept any result.
    """
    asks = result.get("resultType") == "input_required"
    return SURFACES[asks]


def narrow_union(kind: Any, *, asks: bool) -> Any:
    """Return the member of a union that asks for input, or the other one."""
    members = [
        member for member in get_args(kind) if (member.__name__ == "InputRequiredResult") is asks
    ]
    return members[0] if members else kind


SURFACES = {
    asks: {key: narrow_union(kind, asks=asks) for key, kind in methods.SERVER_RESULTS.items()}
    for asks in (False, True)
}


def judge_definitions(tools: list[dict[str, Any]]) -> None:
    """Check that every schema of a list is a valid schema."""
    for tool in tools:
        for name in ("inputSchema", "outputSchema"):
            if name in tool:
                compiled(json.dumps(tool[name]))


@functools.cache
def compiled(schema: str) -> Draft202012Validator:
    """Return the validator of a schema, whose validity is checked once."""
    read = json.loads(schema)
    Draft202012Validator.check_schema(read)
    return Draft202012Validator(read)


def find_output_schema(tool: Any, envelope_class: type[Envelope]) -> Any:
    """Return the ``outputSchema`` of a tool, or that of its envelope if the list has none.

    None if the setting OUTPUT_SCHEMA is invalid.
    """
    envelope = make_envelope(envelope_class)
    try:
        return get_output_schema(tool, envelope) or envelope.schema({})
    except ImproperlyConfigured:
        return None


class Watch:
    """The messages since the last check."""

    def __init__(self) -> None:
        self.served = threading.local()
        self.messages: list[Watched] = []
        self.bodies: list[bytes] = []
        self.patches: list[Any] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch every server and renderer of this process."""
        handle_message, write_result = Server.handle_message, ToolsCapability.write_result
        render = EnvelopeJSONRenderer.render

        def watched_message(server: Server, item: Any, headers: Any, caller: Any) -> Any:
            outer = getattr(self.served, "message", None)
            watched = self.served.message = Watched(item, headers)
            try:
                reply = handle_message(server, item, headers, caller)
            finally:
                self.served.message = outer
            watched.body = reply.body
            self.messages.append(watched)
            return reply

        def watched_write_result(capability: ToolsCapability, outcome: Any, call: Any) -> Any:
            watched = self.served.message
            watched.envelope_class = type(capability.get_envelope(call.tool))
            watched.schema = find_output_schema(call.tool, watched.envelope_class)
            return write_result(capability, outcome, call)

        def watched_render(renderer: Any, *args: Any, **kwargs: Any) -> bytes:
            body = render(renderer, *args, **kwargs)
            chosen = renderer.envelope_class or mcp_settings.ENVELOPE_CLASS
            if body and chosen is ResponseV2Envelope:
                self.bodies.append(body)
            return body

        self.patches = [
            mock.patch.object(Server, "handle_message", watched_message),
            mock.patch.object(ToolsCapability, "write_result", watched_write_result),
            mock.patch.object(EnvelopeJSONRenderer, "render", watched_render),
        ]
        with self.patched():
            yield

    @contextmanager
    def patched(self) -> Iterator[None]:
        """Replace the functions that are watched."""
        with ExitStack() as stack:
            for patch in self.patches:
                stack.enter_context(patch)
            yield

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Watch nothing, for tests that count function calls."""
        for patch in reversed(self.patches):
            patch.__exit__(None, None, None)
        try:
            yield
        finally:
            for patch in self.patches:
                patch.__enter__()

    def judge(self) -> None:
        """Check all messages since the last check."""
        messages, bodies = self.messages, self.bodies
        self.messages, self.bodies = [], []
        for watched in messages:
            watched.judge()
        for body in bodies:
            envelope = json.loads(body)
            # A tool may use another envelope, and a response without a body has none.
            if is_response_v2(envelope):
                judge_response_v2(envelope)
