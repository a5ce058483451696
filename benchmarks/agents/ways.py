"""Tasks of several steps, in each way in which a list can offer its tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from benchmarks.agents.entries import Entries
from benchmarks.agents.judge import compact, show
from benchmarks.agents.projects import DOMAINS, Endpoint, Project
from benchmarks.agents.search import Search, split_words
from benchmarks.agents.tasks import Tasks
from benchmarks.agents.tokens import Tokens
from drf_mcp.test import MCPRefused, ToolResult

SEARCH, COMPOSE, FOUND = "tools_search", "tools_compose", 5
ROWS = re.compile(r"(a\d+)\['results'\]")
REFERENCE = re.compile(r"\$(\d+)((?:\.\w+)*)")


class Failed(Exception):
    """A task could not be done."""


@dataclass
class TasksInOneWay:
    """The result of a project's tasks in one way.

    Attributes:
        shown: what an agent is given before the first task.
        texts: what the agent wrote and read, for each task that was done.
        failures: why tasks failed.
    """

    shown: str
    texts: list[list[str]] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Way:
    """Does tasks at an endpoint whose list shows every tool."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.tasks = Tasks(endpoint)
        self.texts: list[str] = []

    def get_shown(self) -> list[Mapping[str, Any]]:
        return list(self.endpoint.page["tools"])

    def run(self, tasks: Sequence[Mapping[str, Any]]) -> TasksInOneWay:
        shown = self.get_shown()
        handled = TasksInOneWay(compact([show(tool) for tool in shown]) if shown else "")
        for task in tasks:
            self.texts = []
            with self.endpoint.undoing():
                try:
                    missing = [each for each in task["answer"] if each not in self.work(task)]
                    failure = f"{missing} is missing." if missing else ""
                except Failed as exc:
                    failure = str(exc)
            if failure:
                handled.failures.append(f"{task['task']}: {failure}")
            else:
                handled.texts.append(self.texts)
        return handled

    def work(self, task: Mapping[str, Any]) -> str:
        """Return the text that has to contain the answer."""
        answers: list[Any] = []
        for step in task["steps"]:
            self.find(step)
            arguments = self.tasks.resolve(step["arguments"], answers)
            answers.append(self.call(*self.address(step, arguments)).data)
        return "".join(self.texts)

    def find(self, step: Mapping[str, Any]) -> None:
        """Find the tool of a step, if necessary by a second search for the words of its name."""
        for query in (step["search"], step["tool"].replace("_", " ")):
            if self.look(query, step["tool"]):
                return
        raise Failed(f"{step['search']} does not find {step['tool']}.")

    def look(self, query: str, tool: str) -> bool:
        """Return whether a search shows a tool; here the list shows all tools."""
        return True

    def address(self, step: Mapping[str, Any], arguments: Any) -> tuple[str, Mapping[str, Any]]:
        return step["tool"], arguments

    def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        result = self.endpoint.call(name, arguments)
        if isinstance(result, MCPRefused) or result.is_error:
            raise Failed(getattr(result, "text", str(result)))
        # An agent writes a program as text, not as JSON.
        alone = arguments.get("program") or arguments.get("code")
        self.texts += [alone or compact({"name": name, "arguments": arguments}), result.text]
        return result


class DeferredWay(Way):
    """The client holds back all tools, and shows those that its own search finds."""

    def __init__(self, endpoint: Endpoint) -> None:
        super().__init__(endpoint)
        self.search = Search(endpoint.tools)

    def get_shown(self) -> list[Mapping[str, Any]]:
        return []

    def work(self, task: Mapping[str, Any]) -> str:
        self.seen: set[str] = set()
        return super().work(task)

    def look(self, query: str, tool: str) -> bool:
        scores = self.search.find_scores(split_words(query))
        found = sorted(scores, key=lambda name: -scores[name])[:FOUND]
        # The agent has already read a tool that an earlier search found.
        new = [name for name in found if name not in self.seen]
        self.texts += [
            compact({"query": query}),
            compact([show(self.endpoint.tools[name]) for name in new]),
        ]
        self.seen.update(found)
        return tool in self.seen


class SearchedWay(Way):
    """The list has a search and two tools that run a tool by its name."""

    def look(self, query: str, tool: str) -> bool:
        self.found = read_hits(self.call(SEARCH, {"query": query}))
        return tool in self.found

    def address(self, step: Mapping[str, Any], arguments: Any) -> tuple[str, Mapping[str, Any]]:
        return self.found[step["tool"]], {"name": step["tool"], "arguments": arguments}


def read_hits(result: ToolResult) -> dict[str, str]:
    """Return the tools that a search found, each with the tool that runs it."""
    hits = result.data["tools"]
    return {hit["signature"].partition("(")[0]: hit["run_with"] for hit in hits}


class ProgramWay(Way):
    """Does all steps of a task in one program, written with every tool in view.

    All programs are written from the steps in the same manner, with the functions of each package.
    """

    def work(self, task: Mapping[str, Any]) -> str:
        for step in task["steps"]:
            self.find(step)
        *former, last = [self.write_call(step) for step in task["steps"]]
        lines = [f"a{number} = {call}" for number, call in enumerate(former)]
        shown = self.write_value(task["shown"]) if "shown" in task else ""
        lines.append(self.write_result(f"[{last}, {shown}]" if shown else last))
        return self.send("\n".join(lines)).text

    def send(self, program: str) -> ToolResult:
        return self.call(COMPOSE, {"program": program})

    def write_call(self, step: Mapping[str, Any]) -> str:
        arguments = step["arguments"].items()
        written = (f"{name}={self.write_value(value)}" for name, value in arguments)
        return f"{step['tool']}({', '.join(written)})"

    def write_result(self, value: str) -> str:
        return value

    def write_value(self, value: Any) -> str:
        found = REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            return repr(value)
        path = self.adapt(found[2].split(".")[1:])
        keys = "".join(f"[{name}]" if name.isdecimal() else f"[{name!r}]" for name in path)
        return f"a{found[1]}{keys}"

    def adapt(self, path: list[str]) -> list[str]:
        # A function returns the rows of all pages.
        return path[1:] if path[:1] == ["results"] else path


class SearchedProgramWay(ProgramWay, SearchedWay):
    """A search before each step, then one program."""


class CodeModeWay(ProgramWay):
    """FastMCP's code mode: a search before each step, the schemas of all tools, one program."""

    def work(self, task: Mapping[str, Any]) -> str:
        self.names: list[str] = []
        return super().work(task)

    def look(self, query: str, tool: str) -> bool:
        found = self.call("search", {"query": query}).text
        self.names.append(tool)
        return bool(re.search(rf"^- {re.escape(tool)}\b", found, re.MULTILINE))

    def send(self, program: str) -> ToolResult:
        self.call("get_schema", {"tools": list(dict.fromkeys(self.names))})
        try:
            return self.call("execute", {"code": program})
        except Failed as exc:
            # A list without pages names its rows differently: the program handles both names.
            self.texts += [program, str(exc)]
            mended = ROWS.sub(r"(\1.get('results') or \1.get('result'))", program)
            return self.call("execute", {"code": mended})

    def write_call(self, step: Mapping[str, Any]) -> str:
        arguments = step["arguments"].items()
        written = (f"{name!r}: {self.write_value(value)}" for name, value in arguments)
        return f"await call_tool({step['tool']!r}, {{{', '.join(written)}}})"

    def write_result(self, value: str) -> str:
        return f"return {value}"

    def adapt(self, path: list[str]) -> list[str]:
        return path


# --- The ways of both packages ---------------------------------------------------------------

OWN: dict[str, tuple[type[Way], dict[str, Any]]] = {
    "listed": (Way, {}),
    "deferred by the client": (DeferredWay, {}),
    "by search": (SearchedWay, {"TOOL_SEARCH": True}),
    "composed, listed": (ProgramWay, {"COMPOSE": "writes"}),
    "composed, by search": (SearchedProgramWay, {"COMPOSE": "writes", "TOOL_SEARCH": True}),
}
FASTMCP_WAYS: dict[str, tuple[type[Way], bool]] = {
    "FastMCP, listed": (Way, False),
    "FastMCP, deferred by the client": (DeferredWay, False),
    "FastMCP, code mode": (CodeModeWay, True),
}


def do_all(compare: bool) -> dict[str, dict[str, TasksInOneWay]]:
    """Return the results of the tasks of each domain, by way."""
    every: dict[str, dict[str, TasksInOneWay]] = {}
    for project in DOMAINS:
        tasks = project.read("tasks")
        if tasks:
            every[project.name] = dict(do_one(project, tasks, compare))
    return every


def do_one(
    project: Project, tasks: Sequence[Mapping[str, Any]], compare: bool
) -> Iterator[tuple[str, TasksInOneWay]]:
    for name, (way, options) in OWN.items():
        with project.serving(**options):
            yield name, way(Endpoint(project, project.user)).run(tasks)
    with project.serving():
        own = Endpoint(project, project.user)
        for name, (way, code_mode) in FASTMCP_WAYS.items() if compare else ():
            with opening(own, code_mode) as endpoint:
                entries = Entries(project, endpoint.names, [own.names, endpoint.names])
                yield name, way(endpoint).run(entries.tasks)


@contextmanager
def opening(own: Endpoint, code_mode: bool) -> Iterator[Endpoint]:
    # Our own ways do not need FastMCP.
    from benchmarks.agents.other_package.endpoint import FastMCPEndpoint

    with FastMCPEndpoint.opening(own, code_mode) as endpoint:
        yield endpoint


def make_lines(every: Mapping[str, Mapping[str, TasksInOneWay]], tokens: Tokens) -> Iterator[str]:
    """Yield the table: tokens before the first task, and of a task that was done."""
    yield f"Tasks of several steps, written and read; tokens counted by {tokens.encoder}."
    yield ""
    yield f"| | done | {' | '.join(every)} | of a task, all |"
    yield f"|---|--:|{'--:|' * len(every)}--:|"
    for name in next(iter(every.values())):
        handled = [ways[name] for ways in every.values()]
        done = [len(each.texts) for each in handled]
        failed = sum(len(each.failures) for each in handled)
        sums = [sum(tokens.count_all([t for ts in each.texts for t in ts])) for each in handled]
        lists = tokens.count_all([each.shown for each in handled])
        cells = [
            f"{listed} + {total // count if count else '-'}"
            for listed, total, count in zip(lists, sums, done, strict=True)
        ]
        ends = [f"{sum(done)} of {sum(done) + failed}", *cells, sum(sums) // max(sum(done), 1)]
        yield f"| {' | '.join(map(str, [name, *ends]))} |"
    for project, ways in every.items():
        for name, each in ways.items():
            yield from (f"failed, {project}, {name}: {failure}" for failure in each.failures)
