"""One view in all four envelopes, and over plain HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from rest_framework.test import APIClient

from drf_mcp.envelopes import OkEnvelope, PlainEnvelope, ResponseV2Envelope, StatusEnvelope
from drf_mcp.tools import registry
from drf_mcp.views import MCPView
from tests.agents import Agent, Result

ENVELOPES = {
    "response_v2": ResponseV2Envelope,
    "ok": OkEnvelope,
    "status": StatusEnvelope,
    "plain": PlainEnvelope,
}

# What the tool measures, and what names the one call.
VOLATILE = {"request_id", "telemetry", "timestamp", "execution_time", "tool_name"}


def told(envelope: Any) -> Any:
    if not isinstance(envelope, dict):
        return envelope
    return {name: told(value) for name, value in envelope.items() if name not in VOLATILE}


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

    def agent(self, envelope: str) -> Agent:
        """Return an agent at the endpoint of that envelope."""
        client = Client(raise_request_exception=False)
        return self.agents.setdefault(envelope, Agent(client, path=f"/mcp/{envelope}"))

    def call(self, envelope: str = "response_v2", **arguments: Any) -> Result:
        """Call the first tool; the result is held against the oracles."""
        return self.agent(envelope).call_with(self.tool, arguments)

    def read(self, envelope: str = "response_v2", **arguments: Any) -> dict[str, Any]:
        """Call the first tool and return its envelope."""
        return self.call(envelope, **arguments).envelope

    def get(self, url: str = "/thing/") -> Any:
        """Return the body that plain HTTP gives."""
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
