"""What ``tools_search`` finds: the place of the right tool, and what the answers take to read."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.test import override_settings

from benchmarks.agents.projects import DOMAINS, KEPT, PROJECTS, Endpoint, Project
from benchmarks.agents.tokens import Tokens

SEARCH = "tools_search"


@dataclass
class Found:
    """What was found for the questions of a subject.

    Attributes:
        subject: the part of the data files.
        kept: whether it is kept out of tuning.
        places: question, right tools, place of the best in the first page (0 where it is not
            there), the tools of that page.
        texts: the answers.
        seconds: what the slowest search took.
    """

    subject: str
    kept: bool
    places: list[tuple[str, list[str], int, list[str]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def count(self, most: int) -> int:
        """Return how many right tools are among the first so many."""
        return sum(1 <= place <= most for _, _, place, _ in self.places)


def search_all(projects: Sequence[Project] = (*PROJECTS, *DOMAINS)) -> list[Found]:
    """Ask the questions of each project at an endpoint that lists few tools."""
    return [found for project in projects for found in search_one(project)]


def search_one(project: Project) -> Iterator[Found]:
    with project.serving():
        searching = {**settings.DRF_MCP, "TOOL_SEARCH": True}
        with override_settings(DRF_MCP=searching):
            endpoint = Endpoint(project, project.user)
            endpoint.send(SEARCH, {"query": "anything"})
            for subject in project.subjects:
                found = Found(subject, subject in KEPT)
                for entry in project.read_all("questions", subject):
                    ask(endpoint, entry["question"], entry["tools"], found)
                yield found


def ask(endpoint: Endpoint, question: str, right: list[str], found: Found) -> None:
    start = time.perf_counter()
    result = endpoint.send(SEARCH, {"query": question})
    found.seconds = max(found.seconds, time.perf_counter() - start)
    names = [hit["signature"].partition("(")[0] for hit in result.data["tools"]]
    place = next((n for n, name in enumerate(names, 1) if name in right), 0)
    found.places.append((question, right, place, names))
    found.texts.append(result.text)


def make_lines(every: Sequence[Found], tokens: Tokens) -> Iterator[str]:
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


def make_row(label: str, chosen: Sequence[Found], tokens: Tokens) -> str:
    asked = sum(len(found.places) for found in chosen)
    first, five = (sum(found.count(most) for found in chosen) for most in (1, 5))
    texts = [text for found in chosen for text in found.texts]
    median = statistics.median(tokens.count_all(texts))
    slowest = max(found.seconds for found in chosen)
    shares = f"{first} ({first / asked:.0%}) | {five} ({five / asked:.0%})"
    return f"| {label} | {asked} | {shares} | {median:.0f} | {slowest * 1000:.0f} ms |"


def describe_misses(every: Sequence[Found]) -> Iterator[str]:
    """Yield what was not at the top, but for questions that are kept out of tuning."""
    for found in every:
        for question, right, place, names in found.places if not found.kept else ():
            if place != 1:
                yield f"{found.subject}: {place or '-'} {question} {right}: {names}"
