"""What known clients take, as seen in 2026-11; docs/clients.md holds the whole table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from drf_mcp.settings import mcp_settings
from drf_mcp.tools.tool import Tool


@dataclass(frozen=True)
class ClientLimit:
    client: str
    # The tools of all servers together; None for any number.
    tools: int | None = None
    # The characters of a tool's name with the prefix that the client adds.
    name: int = 64
    prefix: str = ""
    # The characters of a description that are kept; None for all.
    description: int | None = None

    def find_excesses(self, tools: Mapping[str, Tool]) -> Iterator[str]:
        if self.tools is not None and len(tools) > self.tools:
            limits = {"limit": self.tools, "count": len(tools)}
            # Translators: these three are said of a client, whose name stands before them.
            yield _("takes %(limit)d tools, and there are %(count)d") % limits
        longest = self.name - len(self.prefix.format(server=mcp_settings.SERVER_NAME))
        long = [name for name in tools if len(name) > longest]
        if long:
            facts = {"longest": longest, "names": ", ".join(long)}
            yield _("takes names of %(longest)d characters, which %(names)s passes") % facts
        kept = self.description
        for name, tool in tools.items():
            if kept is not None and len(tool.description) > kept:
                facts = {"name": name, "kept": kept}
                yield _("cuts the description of %(name)s at %(kept)d characters") % facts


CLIENT_LIMITS = (
    ClientLimit("Windsurf", tools=100),
    ClientLimit("Cursor", tools=80, name=60, prefix="{server}"),
    ClientLimit("VS Code", tools=128, prefix="mcp_{server}_"),
    ClientLimit("OpenAI, Codex", tools=128),
    ClientLimit("Claude Desktop", tools=128),
    ClientLimit("Claude Code", name=128, prefix="mcp__{server}__", description=2048),
)
