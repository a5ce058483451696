"""FastMCP's ``from_openapi`` over drf-spectacular's document of a project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.agents.other_package.live import LiveServer
from benchmarks.agents.other_package.names import RouteNames
from benchmarks.agents.other_package.results import PlainResult
from benchmarks.agents.projects import Endpoint, Project
from benchmarks.environments import find_python
from drf_mcp.test import ToolResult

SERVER = Path(__file__).with_name("server.py")


class Session:
    """FastMCP's server and client in another process; this process serves their HTTP requests.

    Attributes:
        version: FastMCP's version.
        page: the result of ``tools/list``.
        names: FastMCP's names of our tools.
    """

    def __init__(self, project: Project, own: Endpoint, code_mode: bool = False) -> None:
        self.live = LiveServer()
        self.process = subprocess.Popen(
            # Isolated mode: the folder of the script is not on the import path.
            [find_python("fastmcp"), "-I", str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        document = self.make_document(project)
        paths = RouteNames.find_common_paths(document["paths"])
        document["paths"] = {path: document["paths"][path] for path in paths}
        opened = self.ask({"document": document, "url": self.live.url, "code_mode": code_mode})
        self.version: str = opened["version"]
        self.page: dict[str, Any] = opened["page"]
        self.names = RouteNames(opened["routes"], own.tools)

    def make_document(self, project: Project) -> dict[str, Any]:
        run = subprocess.run(
            [sys.executable, "-m", "benchmarks.agents.other_package.document", project.name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        document: dict[str, Any] = json.loads(run.stdout)
        return document

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a line and return the answer. Serve FastMCP's HTTP requests until it arrives."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.live.wait_for_line(self.process.stdout))
        return answer

    def close(self) -> None:
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()
        self.live.close()


def merge(schema: Any, root: Mapping[str, Any]) -> Any:
    """Return a schema with ``$ref`` and ``allOf`` resolved, as a model reads it."""
    if isinstance(schema, list):
        return [merge(each, root) for each in schema]
    if not isinstance(schema, dict):
        return schema
    parts = [merge(each, root) for each in schema.get("allOf", ())]
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        parts.append(merge(root.get("$defs", {}).get(name, {}), root))
    own = {
        name: {key: merge(each, root) for key, each in value.items()}
        if name == "properties"
        else merge(value, root)
        for name, value in schema.items()
        if name not in ("allOf", "$ref", "$defs")
    }
    return {key: value for part in [*parts, own] for key, value in part.items()}


class FastMCPEndpoint(Endpoint):
    """FastMCP's server as a user reaches it: every request has the user's token."""

    def __init__(self, project: Project, user: str, session: Session) -> None:
        self.session = session
        super().__init__(project, user)
        self.names = session.names
        self.tools = {
            name: {**tool, "inputSchema": merge(tool["inputSchema"], tool["inputSchema"])}
            for name, tool in self.tools.items()
        }
        self.package = f"FastMCP {session.version}"

    @classmethod
    @contextmanager
    def opening(cls, own: Endpoint, code_mode: bool = False) -> Iterator[FastMCPEndpoint]:
        """Open FastMCP's endpoint for the project of our endpoint, in code mode or not."""
        session = Session(own.project, own, code_mode)
        try:
            yield cls(own.project, own.project.user, session)
        finally:
            session.close()

    def open(self) -> dict[str, Any]:
        return self.session.page

    def as_user(self, user: str) -> Endpoint:
        return FastMCPEndpoint(self.project, user, self.session)

    def send(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        headers = {"Authorization": self.authorization}
        call = {"tool": tool, "arguments": dict(arguments), "headers": headers}
        result = PlainResult(self.session.ask(call))
        self.crash = self.session.live.crash
        return result
