"""The hosts of docs/clients.md: how each opens a connection, and what the server then does.

Of the hosts that are programs of ours to run, the first message was recorded. Of the others it was
reported which revision they open with, and that they declare forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.agents import STATELESS

FORMS = {"elicitation": {"form": {}}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}

# What the server does, in the words of the table.
ASKED, TOLD = "asked", "missing arguments"
A_TASK, WAITS = "a task", "waits"
NAMED, NO_PAGES = "named", "none"


@dataclass(frozen=True)
class Host:
    """A host, and what the server does.

    Attributes:
        name: the host.
        version: which was seen, "" where none was reported.
        seen: how and when.
        revision: that of its first message.
        declares: the capabilities, as in that message; None where its program names them.
        forms, tasks, pages: what the server does about them.
    """

    name: str
    version: str
    seen: str
    revision: str
    declares: dict[str, Any] | None
    forms: str
    tasks: str = WAITS
    pages: str = NAMED
    client: dict[str, str] = field(default_factory=lambda: {"name": "tests", "version": "1"})

    @property
    def capabilities(self) -> dict[str, Any]:
        """What is sent: forms and tasks, where the host's program decides."""
        return {**FORMS, **TASKS} if self.declares is None else self.declares

    def write_row(self) -> str:
        """Return the row of the table."""
        declared = "what its program names" if self.declares is None else self.name_declared()
        opening = "" if self.revision == STATELESS else ", by `initialize`"
        cells = (
            self.name,
            self.version,
            self.seen,
            f"{self.revision}{opening}",
            declared,
            self.forms,
            self.tasks,
            self.pages,
        )
        return re.sub(r" +", " ", f"| {' | '.join(cells)} |")

    def name_declared(self) -> str:
        names = [name for name in self.capabilities if name != "extensions"]
        extensions = self.capabilities.get("extensions", {})
        names += [name.removeprefix("io.modelcontextprotocol/") for name in extensions]
        return ", ".join(f"`{name}`" for name in names) or "nothing"


RECORDED, REPORTED = "2026-11, recorded", "2026-11, reported"
PYTHON = {"name": "mcp", "version": "0.1.0"}
INSPECTOR_DECLARES = {
    "roots": {"listChanged": True},
    "extensions": {"io.modelcontextprotocol/tasks": {}, "io.modelcontextprotocol/skills": {}},
}
HOSTS = (
    Host("Claude Code", "2.1.237", REPORTED, STATELESS, FORMS, ASKED),
    Host("VS Code", "1.132", REPORTED, "2025-11-25", FORMS, ASKED),
    Host("Cursor", "", REPORTED, "2025-11-25", FORMS, ASKED),
    Host("Codex, by default", "", REPORTED, "2025-11-25", FORMS, ASKED),
    Host(
        "MCP Inspector, command line",
        "2.12.0",
        RECORDED,
        "2025-11-25",
        INSPECTOR_DECLARES,
        TOLD,
        client={"name": "inspector-cli", "version": "2.12.0"},
    ),
    Host("Python SDK", "2.3.0", RECORDED, STATELESS, None, ASKED, A_TASK, client=PYTHON),
    Host("FastMCP", "4.1.2", RECORDED, STATELESS, {}, TOLD, client=PYTHON),
    Host("TypeScript SDK 1", "1.32.2", RECORDED, "2025-11-25", None, ASKED),
    Host("TypeScript SDK 2", "2.4.0", RECORDED, "2025-11-25", None, ASKED),
    Host(
        'TypeScript SDK 2, `versionNegotiation: {mode: "auto"}`',
        "2.4.0",
        RECORDED,
        STATELESS,
        None,
        ASKED,
        A_TASK,
    ),
    Host("Any other", "", "", STATELESS, None, ASKED, A_TASK),
    Host("Any other", "", "", "2025-11-25", None, ASKED),
    Host("Any other", "", "", "2025-06-18", None, ASKED),
    Host("Any other", "", "", "2025-03-26", None, TOLD, pages=NO_PAGES),
)
HEADING = (
    "| Host | Version | Seen | Opens with | Declares | Forms | Long work | Pages |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def write_table() -> str:
    """Return the table of docs/clients.md."""
    return HEADING + "".join(f"{host.write_row()}\n" for host in HOSTS)
