"""The hosts of docs/clients.md: how each opens a connection, and what the server does.

For hosts that are programs, the first message was recorded. For the others, reports give the
revision of the first message and whether it declares forms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.agents import STATELESS

FORMS = {"elicitation": {"form": {}}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}

# What the server does, in the words of the table of docs/clients.md.
FORM_SENT, ARGUMENTS_NAMED = "asked", "missing arguments"
TASK_STARTED, CLIENT_WAITS = "a task", "waits"
PAGE_NAMED, PAGE_OMITTED = "named", "none"


@dataclass(frozen=True)
class Host:
    """A row of the table of docs/clients.md.

    Attributes:
        name: the name of the host.
        version: the version of the host, or \"\" if no report gives it.
        seen: when the first message was seen, and whether it was recorded or reported.
        revision: the protocol revision of the first message.
        declares: the capabilities in the first message, or None if a program chooses them.
        forms, tasks, pages: what the server does.
        client: the name and version in the first message.
    """

    name: str
    version: str
    seen: str
    revision: str
    declares: dict[str, Any] | None
    forms: str
    tasks: str = CLIENT_WAITS
    pages: str = PAGE_NAMED
    client: dict[str, str] = field(default_factory=lambda: {"name": "tests", "version": "1"})

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities in the first message: forms and tasks if a program chooses them."""
        return {**FORMS, **TASKS} if self.declares is None else self.declares

    def write_row(self) -> str:
        """Return the row as Markdown."""
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
    Host("Claude Code", "2.1.237", REPORTED, STATELESS, FORMS, FORM_SENT),
    Host("VS Code", "1.132", REPORTED, "2025-11-25", FORMS, FORM_SENT),
    Host("Cursor", "", REPORTED, "2025-11-25", FORMS, FORM_SENT),
    Host("Codex, by default", "", REPORTED, "2025-11-25", FORMS, FORM_SENT),
    Host(
        "MCP Inspector, command line",
        "2.12.0",
        RECORDED,
        "2025-11-25",
        INSPECTOR_DECLARES,
        ARGUMENTS_NAMED,
        client={"name": "inspector-cli", "version": "2.12.0"},
    ),
    Host("Python SDK", "2.3.0", RECORDED, STATELESS, None, FORM_SENT, TASK_STARTED, client=PYTHON),
    Host("FastMCP", "4.1.2", RECORDED, STATELESS, {}, ARGUMENTS_NAMED, client=PYTHON),
    Host("TypeScript SDK 1", "1.32.2", RECORDED, "2025-11-25", None, FORM_SENT),
    Host("TypeScript SDK 2", "2.4.0", RECORDED, "2025-11-25", None, FORM_SENT),
    Host(
        'TypeScript SDK 2, `versionNegotiation: {mode: "auto"}`',
        "2.4.0",
        RECORDED,
        STATELESS,
        None,
        FORM_SENT,
        TASK_STARTED,
    ),
    Host("Any other", "", "", STATELESS, None, FORM_SENT, TASK_STARTED),
    Host("Any other", "", "", "2025-11-25", None, FORM_SENT),
    Host("Any other", "", "", "2025-06-18", None, FORM_SENT),
)
HEADING = (
    "| Host | Version | Seen | Opens with | Declares | Forms | Long work | Pages |\n"
    "|---|---|---|---|---|---|---|---|\n"
)


def write_table() -> str:
    """Return the table of docs/clients.md as Markdown."""
    return HEADING + "".join(f"{host.write_row()}\n" for host in HOSTS)
