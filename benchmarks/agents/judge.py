"""The figures of all projects, and the gates that compare them with recorded figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.agents.attempts import Attempt, FirstAttempts
from benchmarks.agents.entries import Entries
from benchmarks.agents.faults import MENDED, SILENT, UNMENDED, Faults, Verdict
from benchmarks.agents.other_package.names import Names
from benchmarks.agents.projects import DATA, PROJECTS, Endpoint, Project
from benchmarks.agents.search import Search
from benchmarks.agents.tasks import Reading, Tasks
from benchmarks.agents.tokens import Tokens
from benchmarks.recorded import Record, Tolerance, find_moves

# The members of a definition that clients show to a model.
SHOWN = ("name", "description", "inputSchema")


@dataclass
class Findings:
    """The findings about one project.

    Attributes:
        project: the project.
        package: the package whose list it is.
        page: the result of ``tools/list``.
        entries: the questions, faults and tasks.
        figures: the figures, by name.
        task_tokens: the tokens that each task gave to read, by task.
        places: of each question the text, the right tools, the rank of the best, the top tool.
        attempts: the first attempts.
        left_out: why tools got no attempts, by name.
        verdicts: the verdicts on the faults.
        readings: what the tasks gave to read.
    """

    project: Project
    package: str
    page: dict[str, Any]
    entries: Entries
    figures: dict[str, Any] = field(default_factory=dict)
    task_tokens: dict[str, int] = field(default_factory=dict)
    places: list[tuple[str, list[str], int, str]] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)

    @property
    def shown(self) -> str:
        """The list as a model sees it."""
        tools = self.page["tools"]
        return compact([{name: tool[name] for name in SHOWN if name in tool} for tool in tools])

    @property
    def wire(self) -> str:
        """The list as it is sent."""
        return compact(self.page)

    @property
    def errors(self) -> list[str]:
        """The texts of all errors."""
        return [verdict.error for verdict in self.verdicts if verdict.error]


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class Judge:
    """Scores every project.

    Args:
        attempts: how many first attempts each tool gets.
        every: the sample of the faults and tasks is every so many-th, 1 for all.
    """

    def __init__(self, attempts: int, every: int = 1) -> None:
        self.attempts = attempts
        self.every = every
        self.tokens = Tokens()

    def run(self, projects: Sequence[Project] = PROJECTS, compare: bool = False) -> list[Findings]:
        """Return the findings about each project.

        Args:
            projects: the projects.
            compare: whether FastMCP gets the same questions, faults and tasks.
        """
        all_findings = []
        for project in projects:
            with project.serving(), ExitStack() as stack:
                endpoints = [Endpoint(project, project.user)]
                if compare:
                    from benchmarks.agents.other_package.endpoint import FastMCPEndpoint

                    opening = FastMCPEndpoint.opening(endpoints[0])
                    endpoints.append(stack.enter_context(opening))
                all_names = [endpoint.names for endpoint in endpoints]
                all_findings += [self.observe(project, each, all_names) for each in endpoints]
        # Starting an encoder takes a second, so all texts are counted at once.
        counted = self.tokens.count_each(
            [text for each in all_findings for text in self.get_texts(each)]
        )
        for each in all_findings:
            each.figures = self.make_figures(each, counted)
            each.task_tokens = {
                reading.task["task"]: sum(counted[text] for text in reading.texts)
                for reading in each.readings
            }
        return all_findings

    def observe(self, project: Project, endpoint: Endpoint, all_names: list[Names]) -> Findings:
        """Return the findings about a project, without figures."""
        entries = Entries(project, endpoint.names, all_names)
        findings = Findings(project, endpoint.package, endpoint.page, entries)
        search = Search(endpoint.tools)
        for entry in entries.questions:
            place, top = search.rank(entry["question"], entry["tools"])
            findings.places.append((entry["question"], entry["tools"], place, top))
        attempts = FirstAttempts(project, endpoint, self.attempts)
        findings.attempts, findings.left_out = list(attempts.run()), attempts.left_out
        findings.verdicts = list(Faults(endpoint).run(entries.faults[:: self.every]))
        findings.readings = list(Tasks(endpoint).run(entries.tasks[:: self.every]))
        return findings

    def get_texts(self, findings: Findings) -> list[str]:
        """Return all texts whose tokens are counted."""
        read = [text for reading in findings.readings for text in reading.texts]
        return [findings.shown, findings.wire, *findings.errors, *read]

    def make_figures(self, findings: Findings, tokens: Mapping[str, int]) -> dict[str, Any]:
        return {
            "tools": len(findings.page["tools"]),
            "list_tokens": tokens[findings.shown],
            "list_characters": len(findings.shown),
            "wire_tokens": tokens[findings.wire],
            "wire_characters": len(findings.wire),
            **self.count_places(findings),
            **self.count_attempts(findings),
            **self.count_verdicts(findings, tokens),
            **self.count_readings(findings, tokens),
        }

    def count_places(self, findings: Findings) -> dict[str, Any]:
        places = [place for _, _, place, _ in findings.places]
        return {
            "questions": len(places),
            "right_tool_at_the_top": sum(place == 1 for place in places),
            "right_tool_among_five": sum(place <= 5 for place in places),
        }

    def count_attempts(self, findings: Findings) -> dict[str, Any]:
        accepted = sum(attempt.accepted for attempt in findings.attempts)
        return {"attempts": len(findings.attempts), "attempts_accepted": accepted}

    def count_verdicts(self, findings: Findings, tokens: Mapping[str, int]) -> dict[str, Any]:
        ends = [verdict.end for verdict in findings.verdicts]
        errors = [tokens[error] for error in findings.errors]
        return {
            "faults": len(ends),
            "mended": ends.count(MENDED),
            "not_mended": ends.count(UNMENDED),
            "silently_wrong": ends.count(SILENT),
            "error_tokens_median": int(statistics.median(errors)) if errors else 0,
        }

    def count_readings(self, findings: Findings, tokens: Mapping[str, int]) -> dict[str, Any]:
        read = [text for reading in findings.readings for text in reading.texts]
        return {
            "tasks": len(findings.readings),
            "tasks_failed": sum(bool(reading.failure) for reading in findings.readings),
            "task_tokens": sum(tokens[text] for text in read),
        }


class Gates:
    """The recorded figures: none may be worse. All first attempts have to be accepted.

    Faults and tools are recorded by name, so that a sample can be compared with them too.
    """

    SIZES = ("list_tokens", "list_characters", "wire_tokens", "wire_characters")

    # Request ids alone make errors longer or shorter by up to this many tokens.
    CHANCE = 3

    def __init__(self, path: Path = DATA.parent / "recorded.json") -> None:
        self.record_file = Record(path)

    @property
    def recorded(self) -> Mapping[str, Mapping[str, Any]]:
        return self.record_file.content

    def find_worse(self, findings: Findings, exact: bool) -> list[str]:
        """Return a sentence for each figure that is worse than recorded.

        Args:
            findings: the findings about the project.
            exact: whether tokens were counted by the encoder of the recorded figures.
        """
        project = findings.project.name
        recorded, found = self.recorded[project], self.make_entry(findings)
        names = [name for name in self.SIZES if exact or not name.endswith("tokens")]
        # The median of a sample differs from that of all faults.
        if exact and found["faults"] == recorded["faults"]:
            names.append("error_tokens_median")
        known, today = ({name: each[name] for name in names} for each in (recorded, found))
        moves = find_moves(known, today, {"error_tokens_median": Tolerance(much=self.CHANCE)})
        worse = [f"{project}: {move.sentence}" for move in moves if move.fails]
        for name, meaning in (
            ("silently_wrong", "silently wrong"),
            ("not_mended", "refused and not mended at the first retry"),
        ):
            new = sorted(set(found[name]) - set(recorded[name]))
            worse += [f"{project}: {each} ({meaning})." for each in new]
        # A schema whose own arguments are refused is a fault, whatever was recorded.
        refused = sorted({each.tool for each in findings.attempts if not each.accepted})
        words = "arguments made from its schema are refused"
        return [*worse, *(f"{project}: {each} ({words})." for each in refused)]

    def make_entry(self, findings: Findings) -> dict[str, Any]:
        """Return the figures of a project that are recorded."""
        figures = (*self.SIZES, "faults", "error_tokens_median")
        return {
            **{name: findings.figures[name] for name in figures},
            "silently_wrong": self.name_faults(findings, SILENT),
            "not_mended": self.name_faults(findings, UNMENDED),
        }

    def name_faults(self, findings: Findings, end: str) -> list[str]:
        faults = [each.fault for each in findings.verdicts if each.end == end]
        return sorted(f"{each['tool']}: {each['mistake']}" for each in faults)

    def record(self, findings: Findings) -> None:
        """Write today's figures of a project."""
        self.record_file.write({findings.project.name: self.make_entry(findings)})
