"""The two projects whose tools are judged, each with its own list."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.test import override_settings
from rest_framework.authtoken.models import Token

from drf_mcp.test import MCPClient, MCPRefused, ToolResult

DATA = Path(__file__).parent / "data"
# The smallest picture there is; data files name it "$PNG".
PNG = (
    "data:image/png;name=cover.png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42"
    "mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True)
class Project:
    """A project that agents use.

    Attributes:
        name: its name in the report.
        subjects: the parts of the data files that ask about its tools.
        user: whose token the agent has.
        settings: the settings that make the process this project.
    """

    name: str
    subjects: tuple[str, ...]
    user: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def serving(self) -> Iterator[Endpoint]:
        """Serve the project, and give an endpoint as its user sees it."""
        with override_settings(**self.settings):
            yield Endpoint(self.user)

    def read(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of a data file that are about this project."""
        content = (DATA / f"{name}.json").read_text(encoding="utf-8")
        entries = json.loads(content.replace("$PNG", PNG))
        return [{"subject": s, **entry} for s in self.subjects for entry in entries[s]]


class Endpoint:
    """The MCP endpoint of a project that is being served, in this process."""

    def __init__(self, user: str) -> None:
        # A view that crashes is an answer like any other, as it is on a server.
        self.client = MCPClient(raise_request_exception=False)
        token = Token.objects.get(user__username=user)
        self.client.credentials(HTTP_AUTHORIZATION=f"Token {token.key}")
        self.page, self.response = self.client.request_mcp("tools/list", {})
        self.tools: dict[str, dict[str, Any]] = {t["name"]: t for t in self.page["tools"]}

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult | MCPRefused:
        """Call a tool, with throttles that have counted nothing."""
        cache.clear()
        try:
            return self.client.call_tool(tool, arguments)
        except MCPRefused as exc:
            return exc

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Undo what the calls inside write."""
        with transaction.atomic():
            yield
            transaction.set_rollback(True)

    def try_call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool, undo what it wrote, and return its result.

        Raises:
            MCPRefused: if it is no tool.
        """
        with self.undoing():
            result = self.call(tool, arguments)
        if isinstance(result, MCPRefused):
            raise result
        return result


PROJECTS = (
    Project("shop and library", ("shop", "library"), "carol"),
    Project(
        "loans",
        ("loans",),
        "mara",
        {"ROOT_URLCONF": "benchmarks.agents.loans.urls", "DRF_MCP": {"EXPOSE": "urlconf"}},
    ),
)


def get_at(value: Any, path: str) -> Any:
    """Return what a dotted path leads to, ``results.0.id``, None where it leads nowhere."""
    for step in filter(None, path.split(".")):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
