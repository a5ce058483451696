"""One view in all four envelopes and over plain HTTP, and a reader of envelopes from views."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from jsonschema import Draft202012Validator
from rest_framework.response import Response
from rest_framework.test import APIClient

from drf_mcp.envelopes import (
    OkEnvelope,
    PlainEnvelope,
    ResponseV2Envelope,
    StatusEnvelope,
    parse_own_envelope,
)
from drf_mcp.exposure import registry
from drf_mcp.views import MCPView
from tests.agents import Agent, Result
from tests.dispatch.views import answering
from tests.envelopes.samples import parsed
from tests.oracles.contract import judge_response_v2

ENVELOPES = {
    "response_v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}

# Measurements, and members that name a single call.
VOLATILE = {"request_id", "telemetry", "timestamp", "execution_time", "tool_name"}


def drop_volatile(envelope: Any) -> Any:
    if not isinstance(envelope, dict):
        return envelope
    return {name: drop_volatile(value) for name, value in envelope.items() if name not in VOLATILE}


SCHEMAS = {
    name: Draft202012Validator(ENVELOPES[name]().schema({}))
    for name in ("response_v2", "ok", "status")
}


def reread(body: Any, envelope: str = "response_v2", status: int = 200) -> dict[str, Any]:
    """Return an envelope's rendering of a body that is an envelope of any contract.

    Does what a call does with such a body. Checks the result with its schema and its contract.
    """
    outcome = parse_own_envelope(body, status)
    assert outcome is not None
    request_id = outcome.request_id or "req_1"
    answer = parsed(ENVELOPES[envelope](), replace(outcome, tool="thing", request_id=request_id))
    SCHEMAS[envelope].validate(answer)
    if envelope == "response_v2":
        judge_response_v2(answer)
    return answer


class Served:
    """One view: plain HTTP, and an endpoint for each envelope.

    Attributes:
        http: a plain HTTP client without credentials.
        tool: the name of the first tool.
    """

    def __init__(self) -> None:
        self.http = APIClient(raise_request_exception=False)
        self.tool = next(iter(registry.tools()))
        self.agents: dict[str, Agent] = {}
        self.act: Callable[[Any], Any] = lambda request: Response({})

    def answer_with(self, what: Any, status: int = 200) -> Served:
        """Let the view of `thing` raise an exception, call a function, or answer with a value."""

        def act(request) -> Any:
            if isinstance(what, BaseException):
                raise what
            return what(request) if inspect.isfunction(what) else Response(what, status=status)

        self.act = act
        return self

    def agent(self, envelope: str) -> Agent:
        """Return an agent at the endpoint of an envelope."""
        client = Client(raise_request_exception=False)
        return self.agents.setdefault(envelope, Agent(client, path=f"/mcp/{envelope}"))

    def call(self, envelope: str = "response_v2", **arguments: Any) -> Result:
        """Call the first tool; the oracles check the result."""
        return self.agent(envelope).call_with(self.tool, arguments)

    def read(self, envelope: str = "response_v2", **arguments: Any) -> dict[str, Any]:
        """Call the first tool and return its envelope."""
        return self.call(envelope, **arguments).envelope

    def get(self, url: str = "/thing/") -> Any:
        """Return the body of the plain HTTP response."""
        return json.loads(self.http.get(url).content)


@pytest.fixture
def serve(expose, db) -> Callable[..., Served]:
    def mount(*targets: Any, **mcp_settings: Any) -> Served:
        endpoints = [
            path(f"mcp/{name}", MCPView.as_view(envelope_class=envelope_class))
            for name, envelope_class in ENVELOPES.items()
        ]
        things = [path("thing/", target) if callable(target) else target for target in targets]
        expose(*endpoints, *things, **mcp_settings)
        return Served()

    return mount


@pytest.fixture
def thing(serve) -> Served:
    """A view whose answer the test chooses with `answer_with`."""
    served: Served = serve(answering(lambda request: served.act(request)))
    return served
