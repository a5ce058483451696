"""One view, called over plain HTTP and as a tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import path
from rest_framework.test import APIClient

from drf_mcp.exposure import registry
from tests.agents import Agent, Result


@dataclass(frozen=True)
class Doors:
    """A view and its two callers.

    Attributes:
        http: a plain HTTP client without credentials.
        agent: an agent without credentials.
        tool: the name of the first tool.
    """

    http: APIClient
    agent: Agent
    tool: str

    def call(self, **arguments: Any) -> Result:
        """Call the first tool."""
        return self.agent.call_with(self.tool, arguments)

    def get(self, url: str = "/thing/", **parameters: Any) -> Any:
        """Get the view's answer over plain HTTP."""
        return self.http.get(url, parameters)


@pytest.fixture
def serve(expose, db) -> Callable[..., Doors]:
    def mount(*targets: Any, route: str = "thing/", **mcp_settings: Any) -> Doors:
        patterns = [path(route, target) if callable(target) else target for target in targets]
        expose(*patterns, **mcp_settings)
        client = Client(raise_request_exception=False)
        http = APIClient(raise_request_exception=False)
        return Doors(http, Agent(client), next(iter(registry.tools())))

    return mount
