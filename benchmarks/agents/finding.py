"""What ``tools_search`` finds: the rank of the right tool, and the tokens of the answers."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.test import override_settings

from benchmarks.agents.judge import SHOWN
from benchmarks.agents.projects import DOMAINS, KEPT, PROJECTS, Endpoint, Project
from benchmarks.agents.tasks import Reading, Tasks
from benchmarks.agents.tokens import Tokens
from drf_mcp.test import MCPRefused
from drf_mcp.tools import registry

SEARCH = "tools_search"
LISTED, SEARCHED = "listed", "by searches"


@dataclass
class SearchResults:
    """The results of the questions about a subject.

    Attributes:
        kept: whether its questions are kept out of tuning.
        places: of each question the text, the right tools, the rank of the best of them in the
            first page (0 if it is not there), and the tools of that page.
            page (0 if it is not there), and the tools of that page.
        texts: the answers.
        seconds: what the slowest search took.
    """

    subject: str
    kept: bool
    places: list[tuple[str, list[str], int, list[str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, most: int) -> int:
        """Return how many questions have a right tool among the first results."""
        return sum(1 <= place <= most for _, _, place, _ in self.places)


def search_all(projects: Sequence[Project] = (*PROJECTS, *DOMAINS)) -> list[SearchResults]:
    """Ask the questions of each project of an endpoint that lists few tools."""
    return [found for project in projects for found in search_one(project)]


def search_one(project: Project) -> Iterator[SearchResults]:
    with project.serving():
        searching = {**settings.DRF_MCP, "TOOL_SEARCH": True}
        with override_settings(DRF_MCP=searching):
            endpoint = Endpoint(project, project.user)
            endpoint.send(SEARCH, {"query": "anything"})
            for subject in project.subjects:
                found = SearchResults(subject, subject in KEPT)
                entries = project.read_all("questions", subject)
                if missing := [e for e in entries if not {*e["tools"]} & registry.tools().keys()]:
                    raise LookupError(missing)
                for entry in entries:
                    ask(endpoint, entry["question"], entry["tools"], found)
                yield found


def ask(endpoint: Endpoint, question: str, right: list[str], found: SearchResults) -> None:
    start = time.perf_counter()
    result = endpoint.send(SEARCH, {"query": question})
    found.seconds = max(found.seconds, time.perf_counter() - start)
    names = [get_name(hit) for hit in result.data["tools"]]
    place = next((n for n, name in enumerate(names, 1) if name in right), 0)
    found.places.append((question, right, place, names))
    found.texts.append(result.text)


# --- Tasks of several steps ------------------------------------------------------------------


class SearchedTasks(Tasks):
    """Does tasks with a search before each step, as an agent does whose list has few tools."""

    def work(self, task: Mapping[str, Any]) -> Reading:
        texts: list[str] = []
        answers: list[Any] = []
        for step in task["steps"]:
            search = self.endpoint.send(SEARCH, {"query": step["search"]})
            texts.append(search.text)
            found = {get_name(hit): hit for hit in search.data["tools"]}
            if step["tool"] not in found:
                return Reading(task, tuple(texts), f"{step['search']} finds {[*found]}.")
            arguments = self.resolve(step["arguments"], answers)
            sent = {"name": step["tool"], "arguments": arguments}
            result = self.endpoint.call(found[step["tool"]]["run_with"], sent)
            if isinstance(result, MCPRefused) or result.is_error:
                return Reading(task, tuple(texts), getattr(result, "text", str(result)))
            texts.append(result.text)
            answers.append(result.data)
        missing = [answer for answer in task["answer"] if answer not in "".join(texts)]
        return Reading(task, tuple(texts), f"{missing} is missing." if missing else "")


def get_name(hit: Mapping[str, Any]) -> str:
    return str(hit["signature"].partition("(")[0])


@dataclass
class TaskReadings:
    """What the tasks of a project gave to read.

    Attributes:
        project: the project.
        shown: the list as a model sees it, by how the tools are offered.
        readings: what each task gave to read, by how the tools are offered.
    """

    project: str
    shown: dict[str, str] = field(default_factory=dict)
    readings: dict[str, list[Reading]] = field(default_factory=dict)


def do_all(projects: Sequence[Project] = DOMAINS) -> list[TaskReadings]:
    """Do the tasks of each project, with all tools listed and by searches."""
    return [done for project in projects if (done := do_one(project)).readings[LISTED]]


def do_one(project: Project) -> TaskReadings:
    done = TaskReadings(project.name)
    for way, kind in ((LISTED, Tasks), (SEARCHED, SearchedTasks)):
        with project.serving():
            few = {**settings.DRF_MCP, "TOOL_SEARCH": kind is SearchedTasks}
            with override_settings(DRF_MCP=few):
                endpoint = Endpoint(project, project.user)
                tools = endpoint.page["tools"]
                seen = [{key: tool[key] for key in SHOWN if key in tool} for tool in tools]
                done.shown[way] = json.dumps(seen, separators=(",", ":"), ensure_ascii=False)
                tasks = [task for task in project.read("tasks") if "search" in task["steps"][0]]
                done.readings[way] = list(kind(endpoint).run(tasks))
    return done


def compare(every: Sequence[TaskReadings], tokens: Tokens) -> Iterator[str]:
    """Yield a table of the tokens read in the tasks and in the list before them."""
    yield "| Tasks of several steps | done, listed | done by searches | listed | by searches |"
    yield "|---|--:|--:|--:|--:|"
    for done in every:
        counts, sums = [], []
        for way, readings in done.readings.items():
            texts = [text for reading in readings for text in reading.texts]
            listed, *read = tokens.count_all([done.shown[way], *texts])
            counts.append(f"{sum(not reading.failure for reading in readings)} of {len(readings)}")
            sums.append(f"{listed} + {sum(read) // len(readings)} a task")
        yield f"| {' | '.join([done.project, *counts, *sums])} |"
    for done in every:
        for way, readings in done.readings.items():
            for reading in readings:
                if reading.failure:
                    yield f"failed, {way}: {reading.task['task']}: {reading.failure}"


def make_lines(every: Sequence[SearchResults], tokens: Tokens) -> Iterator[str]:
    """Yield the table."""
    yield f"Searches of tools_search; tokens counted by {tokens.encoder}."
    yield ""
    yield "| | questions | first | among five | tokens, median | slowest |"
    yield "|---|--:|--:|--:|--:|--:|"
    for found in every:
        label = f"{found.subject}, kept" if found.kept else found.subject
        yield make_row(label, [found], tokens)
    for label, kept in (("all that are tuned on", False), ("all that are kept", True)):
        if chosen := [found for found in every if found.kept is kept]:
            yield make_row(label, chosen, tokens)


def make_row(label: str, chosen: Sequence[SearchResults], tokens: Tokens) -> str:
    asked = sum(len(found.places) for found in chosen)
    first, five = (sum(found.count(most) for found in chosen) for most in (1, 5))
    texts = [text for found in chosen for text in found.texts]
    median = statistics.median(tokens.count_all(texts))
    slowest = max(found.seconds for found in chosen)
    shares = f"{first} ({first / asked:.0%}) | {five} ({five / asked:.0%})"
    return f"| {label} | {asked} | {shares} | {median:.0f} | {slowest * 1000:.0f} ms |"


def describe_misses(every: Sequence[SearchResults]) -> Iterator[str]:
    """Yield the questions whose right tool was not first, without those kept out of tuning."""
    for found in every:
        for question, right, place, names in found.places if not found.kept else ():
            if place != 1:
                yield f"{found.subject}: {place or '-'} {question} {right}: {names}"
