"""What known clients take, as seen in 2026-11; docs/clients.md holds the whole table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from drf_mcp.settings import mcp_settings
from drf_mcp.tools import Tool

# What a token comes to in English and JSON, near enough for a budget.
CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class ClientLimit:
    """What one client takes.

    Attributes:
        client: its name.
        tools: how many tools, those of all servers together; None for any number.
        name: how long a tool's name may be, what the client puts before it included.
        prefix: what that is, ``{server}`` standing for the server's name.
        description: how many characters of a description are kept; None for all.
    """

    client: str
    tools: int | None = None
    name: int = 64
    prefix: str = ""
    description: int | None = None

    def longest_name(self) -> int:
        """Return how long a name of ours may be."""
        return self.name - len(self.prefix.format(server=mcp_settings.SERVER_NAME))


CLIENT_LIMITS = (
    ClientLimit("Windsurf", tools=100),
    ClientLimit("Cursor", tools=80, name=60, prefix="{server}"),
    ClientLimit("VS Code", tools=128, prefix="mcp_{server}_"),
    ClientLimit("OpenAI, Codex", tools=128),
    ClientLimit("Claude Desktop", tools=128),
    ClientLimit("Claude Code", name=128, prefix="mcp__{server}__", description=2048),
)


def limits_passed(tools: Mapping[str, Tool]) -> Iterator[tuple[ClientLimit, str]]:
    """Yield each limit that a list of tools passes, with what passes it."""
    for limit in CLIENT_LIMITS:
        if limit.tools is not None and len(tools) > limit.tools:
            yield limit, f"takes {limit.tools} tools, and there are {len(tools)}"
        longest = limit.longest_name()
        long = [name for name in tools if len(name) > longest]
        if long:
            yield limit, f"takes names of {longest} characters, which {', '.join(long)} passes"
        kept = limit.description
        for name, tool in tools.items():
            if kept is not None and len(tool.description) > kept:
                yield limit, f"cuts the description of {name} at {kept} characters"
