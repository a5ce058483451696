"""A task, with each message that is sent to the endpoint and each response."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from benchmarks.agents.projects import Endpoint, Project
from benchmarks.agents.tasks import Tasks
from drf_mcp.test import MCPClient


class RecordingClient(MCPClient):
    """Keeps each message and its response as a pair."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.messages: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def make_message(
        self, method: str, params: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        message, headers = super().make_message(method, params)
        message["id"] = len(self.messages) + 1
        self.sent = message
        return message, headers

    def read_message(self, response: Any) -> dict[str, Any]:
        received = super().read_message(response)
        self.messages.append((self.sent, received))
        return received


class RecordedEndpoint(Endpoint):
    """Our endpoint, with a client that keeps all messages."""

    def open(self) -> dict[str, Any]:
        self.client: RecordingClient = RecordingClient(raise_request_exception=False)
        self.client.credentials(HTTP_AUTHORIZATION=self.authorization)
        self.client.request_mcp("server/discover", {})
        return self.client.request_mcp("tools/list", {})[0]


class Transcript:
    """The messages of the first task whose text contains some words.

    Args:
        project: the project, which is already served.
        words: words from the task's text.
    """

    def __init__(self, project: Project, words: str) -> None:
        tasks = project.read("tasks")
        self.task = next((t for t in tasks if words.casefold() in t["task"].casefold()), None)
        self.project = project

    def write(self) -> Iterator[str]:
        """Yield the lines of a Markdown text; no line if no task contains the words."""
        if self.task is None:
            return
        endpoint = RecordedEndpoint(self.project, self.project.user)
        with endpoint.undoing():
            reading = Tasks(endpoint).work(self.task)
        yield f"## {self.task['task']}"
        for sent, received in endpoint.client.messages:
            yield from ("", f"The client sends `{sent['method']}`:", "")
            yield from self.write_message(sent)
            yield from ("", "The endpoint answers:", "")
            yield from self.write_message(self.shorten(received))
        if reading.failure:
            yield from ("", f"The task failed: {reading.failure}")

    def write_message(self, message: Mapping[str, Any]) -> Iterator[str]:
        yield "```json"
        yield json.dumps(message, indent=2, ensure_ascii=False)
        yield "```"

    def shorten(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a message; of the list only the tools of the task, and how many others it has."""
        tools = message.get("result", {}).get("tools")
        if tools is None:
            return message
        used = {step["tool"] for step in self.task["steps"]}
        shown = [tool for tool in tools if tool["name"] in used]
        rest = f"... and {len(tools) - len(shown)} more tools"
        return {**message, "result": {**message["result"], "tools": [*shown, rest]}}
