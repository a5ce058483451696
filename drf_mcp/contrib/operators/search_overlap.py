"""Tools that a search by words confuses, ranked as clients rank them (BM25)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drf_mcp.archive.search import PassageSearch
from drf_mcp.tools.tool import Tool

# Another tool is confused with the tool that is searched for at this share of its score.
NEAR = 0.95
SENTENCE = re.compile(r"[.;:\n]")


@dataclass(frozen=True)
class Overlap:
    # A search for the words of `wanted` finds `found` first, or as well.
    wanted: str
    found: str
    query: str


class ToolTextSearch(PassageSearch):
    # A tool is one passage of any length.
    passage_length = 1_000_000


class OverlapSearch:
    """Searches for each tool by its title and the first sentence of its description."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self.texts = {name: self._write_text(tool) for name, tool in tools.items()}

    def _write_text(self, tool: Tool) -> str:
        # What clients search: names, description, and the arguments with theirs.
        words = [tool.name, tool.title, tool.description]
        for name, schema in tool.input_schema.get("properties", {}).items():
            words += [name, schema.get("description", "") if isinstance(schema, dict) else ""]
        return " ".join(words).replace("_", " ")

    def _write_query(self, tool: Tool) -> str:
        sentence = SENTENCE.split(tool.description, maxsplit=1)[0]
        query = sentence if sentence.startswith(tool.title) else f"{tool.title} {sentence}"
        return query.replace("_", " ")

    def find(self) -> Iterator[Overlap]:
        names, texts = list(self.tools), list(self.texts.values())
        seen: set[frozenset[str]] = set()
        for wanted, tool in self.tools.items():
            query = self._write_query(tool)
            scores = dict(zip(names, ToolTextSearch(query).score(texts), strict=True))
            for found, score in scores.items():
                pair = frozenset((wanted, found))
                if len(pair) == 2 and pair not in seen and score >= NEAR * scores[wanted] > 0:
                    seen.add(pair)
                    yield Overlap(wanted, found, query)
