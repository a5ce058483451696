"""What the definitions of tools cost: tokens, part by part, and the limits of known clients."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from drf_mcp.archive.slices import PassageSearch
from drf_mcp.json_text import encode_plain, to_bytes
from drf_mcp.management.tool_reports import write_definition
from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool
from drf_mcp.truncation.tokens import estimate_tokens

# Parts of a tool that are shown.
MAX_PARTS = 3
DESCRIPTION, OTHERS = "description", "title and hints"
OUTPUT = "outputSchema"


@dataclass(frozen=True)
class Part:
    # English, or the name of an argument.
    name: str
    tokens: int


class ToolCost:
    """The tokens and bytes of one tool's definition, as clients of the current revision get it."""

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    @cached_property
    def text(self) -> str:
        return write_definition(self.tool)

    @cached_property
    def bytes(self) -> int:
        return len(to_bytes(self.text))

    @cached_property
    def tokens(self) -> int:
        return estimate_tokens(self.text)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts of the definition, the most expensive first."""
        definition = json.loads(self.text)
        parts = [Part(DESCRIPTION, self.count(definition.pop("description", "")))]
        for name, schema in definition.pop("inputSchema", {}).get("properties", {}).items():
            parts.append(Part(f"`{name}`", self.count({name: schema})))
        if OUTPUT in definition:
            parts.append(Part(OUTPUT, self.count(definition.pop(OUTPUT))))
        parts.append(Part(OTHERS, self.count(definition)))
        return sorted(parts, key=lambda part: -part.tokens)

    def count(self, value: Any) -> int:
        return estimate_tokens(encode_plain(value))

    @property
    def largest(self) -> list[Part]:
        return self.parts[:MAX_PARTS]

    def as_data(self) -> dict[str, Any]:
        parts = [asdict(part) for part in self.largest]
        return {
            "tool": self.tool.name,
            "bytes": self.bytes,
            "tokens": self.tokens,
            "parts": parts,
        }


def measure_tools(tools: Mapping[str, Tool]) -> list[ToolCost]:
    """Return the costs of tools, the most expensive first."""
    costs = [ToolCost(tool) for tool in tools.values()]
    return sorted(costs, key=lambda cost: (-cost.tokens, cost.tool.name))


@dataclass(frozen=True)
class ClientLimit:
    client: str
    # How many tools of all servers together; None for any number.
    tools: int | None = None
    # How many characters of a tool's name, with the prefix that the client adds.
    name: int = 64
    prefix: str = ""
    # How many characters of a description; None for all.
    description: int | None = None

    def find_excesses(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        if self.tools is not None and len(tools) > self.tools:
            limits = {"limit": self.tools, "count": len(tools)}
            yield "takes {limit} tools, and there are {count}".format(**limits)
        longest = self.name - len(self.prefix.format(server=mcp_settings.SERVER_NAME))
        long = [name for name in tools if len(name) > longest]
        if long:
            facts = {"longest": longest, "names": ", ".join(long)}
            yield "takes names of {longest} characters, which {names} passes".format(**facts)
        kept = self.description
        for name, tool in tools.items():
            if kept is not None and len(tool.description) > kept:
                facts = {"name": name, "kept": kept}
                yield "cuts the description of {name} at {kept} characters".format(**facts)


# When the limits were read; docs/clients.md has the whole table.
SEEN = "2026-11"
CLIENT_LIMITS = (
    ClientLimit("Windsurf", tools=100),
    ClientLimit("Cursor", tools=80, name=60, prefix="{server}"),
    ClientLimit("VS Code", tools=128, prefix="mcp_{server}_"),
    ClientLimit("OpenAI, Codex", tools=128),
    ClientLimit("Claude Desktop", tools=128),
    ClientLimit("Claude Code", name=128, prefix="mcp__{server}__", description=2048),
)


# --- Search --------------------------------------------------------------------------------------

# Another tool is confused with the tool that is searched for at this share of its score.
NEAR = 0.95


class ToolTextSearch(PassageSearch):
    # A tool is one passage of any length.
    passage_length = 1_000_000


def find_overlaps(tools: Mapping[str, Tool]) -> Iterator[dict[str, str]]:
    """Yield the tools ``found`` first, or as well, by a search for the words of those ``wanted``.

    The words of a tool are its title and the first sentence of its description.
    """
    texts, seen = [], set()
    for tool in tools.values():
        # What clients search: names, description, and the arguments with theirs.
        words = [tool.name, tool.title, tool.description]
        for name, schema in tool.input_schema.get("properties", {}).items():
            words += [name, schema.get("description", "") if isinstance(schema, dict) else ""]
        texts.append(" ".join(words).replace("_", " "))
    for wanted, tool in tools.items():
        sentence = re.split(r"[.;:\n]", tool.description, maxsplit=1)[0]
        query = sentence if sentence.startswith(tool.title) else f"{tool.title} {sentence}"
        query = query.replace("_", " ")
        scores = dict(zip(tools, ToolTextSearch(query).score(texts), strict=True))
        for found, score in scores.items():
            pair = frozenset((wanted, found))
            if len(pair) == 2 and pair not in seen and score >= NEAR * scores[wanted] > 0:
                seen.add(pair)
                yield {"wanted": wanted, "found": found, "query": query}
