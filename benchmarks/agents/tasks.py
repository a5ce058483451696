"""Tasks: what an agent reads until it has the answer, if it uses the tools of the list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.projects import Endpoint, get_at
from drf_mcp.test import MCPRefused, ToolResult


@dataclass(frozen=True)
class Reading:
    """What a task gave to read.

    Attributes:
        task: the entry of the data file.
        texts: the results, in order.
        failure: why it failed, "" if it did not.
    """

    task: Mapping[str, Any]
    texts: tuple[str, ...]
    failure: str = ""


class Tasks:
    """Runs tasks against an endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def run(self, tasks: Iterable[Mapping[str, Any]]) -> Iterator[Reading]:
        for task in tasks:
            with self.endpoint.undoing():
                yield self.work(task)

    def work(self, task: Mapping[str, Any]) -> Reading:
        results: list[ToolResult] = []
        answers: list[Any] = []
        for step in task["steps"]:
            if step["tool"] not in self.endpoint.tools:
                return Reading(task, (), f"There is no tool {step['tool']}.")
            for result in self.take(step, answers):
                if isinstance(result, MCPRefused) or result.is_error:
                    return Reading(task, (), getattr(result, "text", str(result)))
                results.append(result)
            answers.append(results[-1].data)
        texts = tuple(result.text for result in results)
        missing = [answer for answer in task["answer"] if answer not in "".join(texts)]
        return Reading(task, texts, f"The results do not hold {missing}." if missing else "")

    def take(
        self, step: Mapping[str, Any], answers: list[Any]
    ) -> Iterator[ToolResult | MCPRefused]:
        """Yield the results of a step, several if the step reads all pages."""
        arguments = self.read_arguments(step, answers)
        while True:
            result = self.endpoint.call(step["tool"], arguments)
            yield result
            if isinstance(result, MCPRefused) or result.is_error:
                return
            further = get_at(result.envelope, "meta.pagination.next")
            if not step.get("all_pages") or not further:
                return
            arguments = further

    def read_arguments(self, step: Mapping[str, Any], answers: list[Any]) -> dict[str, Any]:
        offered = self.endpoint.tools[step["tool"]]["inputSchema"]["properties"]
        extra = {k: v for k, v in step.get("if_offered", {}).items() if k in offered}
        arguments = {**step["arguments"], **extra}
        return {name: self.resolve(value, answers) for name, value in arguments.items()}

    def resolve(self, value: Any, answers: list[Any]) -> Any:
        """Return the value of "$0.results.0.id": a member of an earlier step's answer."""
        if isinstance(value, dict):
            return {name: self.resolve(each, answers) for name, each in value.items()}
        if isinstance(value, list):
            return [self.resolve(each, answers) for each in value]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        number, _, path = value[1:].partition(".")
        answer = answers[int(number)]
        # A list may be the whole answer, or one of its members.
        found = get_at(answer, path)
        return get_at(answer, path.removeprefix("results.")) if found is None else found
