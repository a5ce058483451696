"""Tasks as single calls and as one program: the tokens that an agent writes and reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.projects import PROJECTS, Endpoint
from benchmarks.agents.tasks import Tasks
from benchmarks.agents.tokens import Tokens
from drf_mcp.test import ToolResult

COMPOSE = "tools_compose"


class NotedEndpoint(Endpoint):
    """An endpoint that records what an agent writes and reads."""

    written: list[str]
    read: list[str]

    def send(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = super().send(tool, arguments)
        # An agent writes a program as text; only the client encodes it as JSON.
        alone = arguments.get("program") if len(arguments) == 1 else None
        self.written.append(alone or json.dumps({"name": tool, "arguments": arguments}))
        self.read.append(result.text)
        return result


@dataclass(frozen=True)
class Composed:
    """The cost of a task in both ways.

    Attributes:
        task: the text of the task.
        calls: the number of calls without a program.
        failures: why the calls failed and why the program failed, "" for success.
        tokens: those written and read, first by the calls, then by the program.
    """

    task: str
    calls: int
    failures: tuple[str, str]
    tokens: tuple[tuple[int, int], tuple[int, int]]


def compose_all() -> list[Composed]:
    """Do the tasks of the example shop in both ways."""
    project, tokens = PROJECTS[0], Tokens()
    with project.serving(COMPOSE="writes"):
        endpoint = NotedEndpoint(project, project.user)
        return [compose(endpoint, task, tokens) for task in project.read_all("programs", "shop")]


def compose(endpoint: NotedEndpoint, task: Mapping[str, Any], tokens: Tokens) -> Composed:
    ways, failures, calls = [], [], 0
    steps = [{"tool": COMPOSE, "arguments": {"program": task["program"]}}]
    for way in (task["steps"], steps):
        endpoint.written, endpoint.read = [], []
        with endpoint.undoing():
            reading = Tasks(endpoint).work({**task, "steps": way})
        failure = reading.failure
        if way is steps and not failure:
            # An order of rows or a count that is wrong holds the same words.
            result = json.loads(reading.texts[-1])["data"]["result"]
            failure = "" if result == task["result"] else f"The result is {result}."
        failures.append(failure)
        calls = calls or len(endpoint.written)
        ways.append((sum(tokens.count_all(endpoint.written)), sum(tokens.count_all(endpoint.read))))
    return Composed(task["task"], calls, (failures[0], failures[1]), (ways[0], ways[1]))


def make_lines(every: list[Composed]) -> Iterator[str]:
    """Yield the table."""
    yield f"Tasks in several calls, and in one program; tokens counted by {Tokens().encoder}."
    yield ""
    yield "| task | calls | written | read | program | read |"
    yield "|---|--:|--:|--:|--:|--:|"
    for each in every:
        counts = (str(count) for way in each.tokens for count in way)
        yield f"| {' | '.join([each.task, str(each.calls), *counts])} |"
    for each in every:
        yield from (f"failed: {each.task}: {failure}" for failure in each.failures if failure)
