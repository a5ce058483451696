"""Scores each project's list: what an agent finds, sends, mends and reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.agents.attempts import Attempt, FirstAttempts
from benchmarks.agents.entries import Entries
from benchmarks.agents.faults import MENDED, Faults, Verdict
from benchmarks.agents.other_package.names import Names
from benchmarks.agents.projects import PROJECTS, Endpoint, Project
from benchmarks.agents.search import Search
from benchmarks.agents.tasks import Reading, Tasks

# The members of a definition that clients show to a model.
SHOWN = ("name", "description", "inputSchema")
# The most characters of our lists, as a model sees them.
MOST_CHARACTERS = {"shop and library": 27_500, "loans": 19_700}


@dataclass(frozen=True)
class Findings:
    """The findings about one project.

    Attributes:
        project: the project.
        package: the package whose list it is.
        page: the result of ``tools/list``.
        places: of each question the text, the right tools, the rank of the best, the top tool.
        attempts: the first attempts.
        without_attempts: why tools got no attempts, by name.
        verdicts: the verdicts on the faults.
        readings: what the tasks gave to read.
        left_out: how many entries were not asked, since a compared list lacks their tools.
    """

    project: Project
    package: str
    page: dict[str, Any]
    places: list[tuple[str, list[str], int, str]]
    attempts: list[Attempt]
    without_attempts: dict[str, str]
    verdicts: list[Verdict]
    readings: list[Reading]
    left_out: int

    @property
    def shown(self) -> str:
        """The list as a model sees it."""
        return compact([show(tool) for tool in self.page["tools"]])

    @property
    def wire(self) -> str:
        """The list as it is sent."""
        return compact(self.page)

    @property
    def done(self) -> set[str]:
        """The tasks that were done."""
        return {reading.task["task"] for reading in self.readings if not reading.failure}

    def find_faults(self) -> Iterator[str]:
        """Yield a sentence for each thing that our list may not do."""
        characters, most = len(self.shown), MOST_CHARACTERS.get(self.project.name)
        if most and characters > most:
            yield f"The list has {characters} characters, more than {most}."
        for verdict in self.verdicts:
            if verdict.end != MENDED:
                yield f"{verdict.end}: {verdict.fault['tool']}: {verdict.fault['mistake']}"
        for tool in sorted({each.tool for each in self.attempts if not each.accepted}):
            yield f"arguments made from its schema are refused: {tool}"
        for reading in self.readings:
            if reading.failure:
                yield f"task failed: {reading.task['task']}: {reading.failure}"

    def describe(self) -> Iterator[str]:
        """Yield a line for each failure, with what was sent and answered."""
        for question, right, place, top in self.places:
            if place > 1:
                yield f"found at {place}: {question} ({right[0]}; at the top: {top})"
        for attempt in self.attempts:
            if not attempt.accepted:
                yield f"attempt refused: {attempt.tool} {attempt.arguments}: {attempt.refusal}"
        for tool, reason in self.without_attempts.items():
            yield f"no attempt: {tool}: {reason}"
        for verdict in self.verdicts:
            if verdict.end != MENDED:
                sent = f"{verdict.fault['tool']} {verdict.fault['arguments']}"
                yield f"{verdict.end}: {sent}: {verdict.error}; {verdict.step}"


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def show(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a definition that a model sees."""
    return {name: tool[name] for name in SHOWN if name in tool}


def judge_all(
    attempts: int, every: int, projects: Sequence[Project] = PROJECTS, compare: bool = False
) -> Iterator[Findings]:
    """Yield the findings about each project.

    Args:
        attempts: how many first attempts each tool gets.
        every: the sample of the faults and tasks is every so many-th, 1 for all.
        projects: the projects.
        compare: whether FastMCP gets the same questions, faults and tasks.
    """
    for project in projects:
        with project.serving(), ExitStack() as stack:
            endpoints = [Endpoint(project, project.user)]
            if compare:
                from benchmarks.agents.other_package.endpoint import FastMCPEndpoint

                opening = FastMCPEndpoint.opening(endpoints[0])
                endpoints.append(stack.enter_context(opening))
            all_names = [endpoint.names for endpoint in endpoints]
            for endpoint in endpoints:
                yield judge(endpoint, all_names, attempts, every)


def judge(endpoint: Endpoint, all_names: Sequence[Names], attempts: int, every: int) -> Findings:
    entries = Entries(endpoint.project, endpoint.names, all_names)
    search = Search(endpoint.tools)
    places = [
        (entry["question"], entry["tools"], *search.rank(entry["question"], entry["tools"]))
        for entry in entries.questions
    ]
    first = FirstAttempts(endpoint.project, endpoint, attempts)
    return Findings(
        endpoint.project,
        endpoint.package,
        endpoint.page,
        places,
        list(first.run()),
        first.left_out,
        list(Faults(endpoint).run(entries.faults[::every])),
        list(Tasks(endpoint).run(entries.tasks[::every])),
        entries.left_out,
    )
