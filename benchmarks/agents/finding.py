"""What ``tools_search`` finds: the rank of the right tool, and the tokens of the answers."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.agents.projects import DOMAINS, KEPT, PROJECTS, Endpoint, Project
from benchmarks.agents.report import make_row
from benchmarks.agents.tokens import Tokens
from benchmarks.agents.ways import SEARCH, read_hits


@dataclass
class SearchResults:
    """The results of the questions about a subject.

    Attributes:
        kept: whether its questions are kept out of tuning.
        places: of each question the text, the right tools, the rank of the best of them in the
            first page (0 if it is not there), and the tools of that page.
        named: how many have a right tool in the answer, among five or among the siblings.
        mapped: how many more a second search finds, for the noun of the groups in the answer.
        texts: the answers.
    """

    subject: str
    kept: bool
    places: list[tuple[str, list[str], int, list[str]]] = field(default_factory=list)
    named: int = 0
    mapped: int = 0
    texts: list[str] = field(default_factory=list)

    def count(self, most: int) -> int:
        """Return how many questions have a right tool among the first results."""
        return sum(1 <= place <= most for _, _, place, _ in self.places)

    def ask(self, endpoint: Endpoint, question: str, right: list[str]) -> None:
        result = endpoint.send(SEARCH, {"query": question})
        names, siblings = list(read_hits(result)), result.data.get("siblings", ())
        place = next((n for n, name in enumerate(names, 1) if name in right), 0)
        self.places.append((question, right, place, names))
        self.texts.append(result.text)
        if place or not {*right}.isdisjoint(siblings):
            self.named += 1
            return
        # An agent knows the noun of what it wants when it reads the groups.
        groups = result.data.get("groups", ())
        nouns = [noun for noun in groups if right[0].startswith(noun)]
        if nouns:
            found = endpoint.send(SEARCH, {"query": max(nouns, key=len)})
            self.mapped += not {*right}.isdisjoint(read_hits(found))


def search_one(project: Project) -> Iterator[SearchResults]:
    """Ask the questions of a project of an endpoint that lists few tools."""
    with project.serving(TOOL_SEARCH=True):
        endpoint = Endpoint(project, project.user)
        for subject in project.subjects:
            found = SearchResults(subject, subject in KEPT)
            for entry in project.read_all("questions", subject):
                found.ask(endpoint, entry["question"], entry["tools"])
            yield found


def measure(tokens: Tokens, details: bool) -> Iterator[str]:
    """Yield the table, and with ``details`` the questions whose right tool was not first."""
    every = [found for project in (*PROJECTS, *DOMAINS) for found in search_one(project)]
    yield f"Searches of tools_search; tokens counted by {tokens.encoder}."
    yield ""
    yield "| | questions | first | among five | named | by a noun | tokens, median |"
    yield "|---|--:|--:|--:|--:|--:|--:|"
    for found in every:
        yield count(f"{found.subject}, kept" if found.kept else found.subject, [found], tokens)
    for label, kept in (("all that are tuned on", False), ("all that are kept", True)):
        yield count(label, [found for found in every if found.kept is kept], tokens)
    # Those that are kept out of tuning are not shown.
    for found in every if details else ():
        for question, right, place, names in found.places if not found.kept else ():
            if place != 1:
                yield f"{found.subject}: {place or '-'} {question} {right}: {names}"


def count(label: str, chosen: Sequence[SearchResults], tokens: Tokens) -> str:
    """Return the row of some subjects."""
    asked = sum(len(found.places) for found in chosen)
    shares = [sum(found.count(most) for found in chosen) for most in (1, 5)]
    shares.append(sum(found.named for found in chosen))
    shares.append(shares[-1] + sum(found.mapped for found in chosen))
    median = statistics.median(tokens.count_all([text for found in chosen for text in found.texts]))
    cells = (f"{share} ({share / asked:.0%})" for share in shares)
    return make_row(label, str(asked), *cells, f"{median:.0f}")
