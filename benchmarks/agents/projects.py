"""The projects whose lists of tools are scored."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.test import override_settings

from benchmarks.agents.other_package.names import Names
from drf_mcp.test import MCPClient, MCPRefused, ToolResult

DATA = Path(__file__).parent / "data"
# The smallest possible image; data files call it "$PNG".
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
        user: the user whose token the agent has.
        settings: the settings that this process needs to serve the project.
    """

    name: str
    subjects: tuple[str, ...]
    user: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @contextmanager
    def serving(self, **options: Any) -> Iterator[None]:
        """Serve the project in this process, with more settings of the package."""
        served = {**self.settings.get("DRF_MCP", settings.DRF_MCP), **options}
        with override_settings(**{**self.settings, "DRF_MCP": served}):
            yield

    def get_authorization(self, user: str) -> str:
        """Return the header with a user's token."""
        from rest_framework.authtoken.models import Token

        return f"Token {Token.objects.get(user__username=user).key}"

    def read(self, name: str) -> list[dict[str, Any]]:
        """Return the entries of a kind that are about this project."""
        return [{"subject": s, **entry} for s in self.subjects for entry in self.read_all(name, s)]

    def read_all(self, name: str, subject: str) -> list[dict[str, Any]]:
        # A domain has a file of its own.
        own = DATA / "domains" / f"{subject}.json"
        is_domain = own.exists()
        path, member = (own, name) if is_domain else (DATA / f"{name}.json", subject)
        content = path.read_text(encoding="utf-8").replace("$PNG", PNG)
        every: dict[str, list[dict[str, Any]]] = json.loads(content)
        # Domains have no faults.
        return every.get(member, []) if is_domain else every[member]


class Endpoint:
    """The MCP endpoint of a project that this process serves, as a user reaches it.

    Attributes:
        package: the package of the endpoint.
        names: its names of the tools and arguments in the data files.
        crash: the exception that the last call caught, None for none.
    """

    package = "drf_mcp"

    def __init__(self, project: Project, user: str) -> None:
        self.project = project
        self.authorization = project.get_authorization(user)
        self.names = Names()
        self.crash: BaseException | None = None
        self.page = self.open()
        self.tools: dict[str, dict[str, Any]] = {t["name"]: t for t in self.page["tools"]}

    def open(self) -> dict[str, Any]:
        """Return the list."""
        # An exception in a view becomes a response, as on a server.
        self.client = MCPClient(raise_request_exception=False)
        self.client.credentials(HTTP_AUTHORIZATION=self.authorization)
        return self.client.request_mcp("tools/list", {})[0]

    def as_user(self, user: str) -> Endpoint:
        """Return the endpoint for another user."""
        return type(self)(self.project, user)

    def send(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        return self.client.call_tool(tool, arguments)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult | MCPRefused:
        """Call a tool, with fresh throttles.

        Confirms what the answer asks to confirm, like an agent that has looked at it.
        """
        cache.clear()
        try:
            result = self.send(tool, arguments)
            asks = result.error is not None and result.error.code == "CONFIRMATION_REQUIRED"
            return self.send(tool, result.data["next"]) if asks else result
        except MCPRefused as exc:
            return exc

    @contextmanager
    def undoing(self) -> Iterator[None]:
        """Roll back what the calls within the block write."""
        with transaction.atomic():
            yield
            transaction.set_rollback(True)

    def try_call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Call a tool, roll back what it wrote, and return its result.

        Raises:
            MCPRefused: if there is no such tool.
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

# The questions about `KEPT` are kept out of tuning: no change of the search is based on them.
TUNED, KEPT = ("helpdesk", "boxoffice", "warehouse"), ("seedbank", "harbour")
DOMAINS = tuple(
    Project(
        name,
        (name,),
        "mara",
        {"ROOT_URLCONF": f"benchmarks.agents.domains.{name}", "DRF_MCP": {"EXPOSE": "urlconf"}},
    )
    for name in (*TUNED, *KEPT)
)


def find_projects(name: str | None) -> list[Project]:
    """Return the project with a name; for no name all projects of this repository.

    Raises:
        LookupError: if there is no such project.
    """
    if name is None:
        return list(PROJECTS)
    found = [each for each in (*PROJECTS, *DOMAINS) if each.name == name]
    if not found:
        raise LookupError(name)
    return found


def get_at(value: Any, path: str) -> Any:
    """Return the value at a dotted path such as ``results.0.id``, None if there is none."""
    for step in filter(None, path.split(".")):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            return None
    return value
